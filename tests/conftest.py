"""What every test run does: register the marks of our own, and say at the end what was measured and what ran."""

import gc
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests.cli_fixture import city, refused, repository, run  # noqa: F401  fixtures
from tests.cluster_fixture import hbase, hbase3, hbase_tls, pytest_unconfigure  # noqa: F401  from here all share one of each
from tests.stores.kinds import KINDS
from tests.workers import pytest_collection_modifyitems, pytest_xdist_make_scheduler  # noqa: F401  hooks
from tests.xmi.ecore_files import read_ecores  # noqa: F401  a fixture

# Seconds belong to benchmarks: a test must not fail because the machine is busy.
_BUSY = settings(settings.get_profile("default"), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("short forms", _BUSY, derandomize=True, database=None)
settings.register_profile("long forms", _BUSY, derandomize=False)

OUTCOMES = ("passed", "skipped", "failed", "error")


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell starts what runs in the background that way
        signal.signal(signal.SIGINT, signal.default_int_handler)  # or no process of ours could be interrupted
    _choose_examples(soak=config.option.markexpr == "soak")
    os.environ["SPARK_CONF_DIR"] = str(Path(__file__).parent / "spark_conf")
    config.addinivalue_line("markers", "needs(capability): skipped for stores that do not declare the capability")


def _choose_examples(*, soak: bool) -> None:
    """Long forms look for what is new; short ones have the same examples each time, whatever else runs beside them."""
    settings.load_profile("long forms" if soak else "short forms")
    if not soak:
        assert hasattr(providers, "_get_local_constants")  # would take constants from whichever modules are loaded
        providers._get_local_constants = lambda: providers._local_constants


def pytest_collection_finish() -> None:
    """What is there before the first test stays to the end: a collection of garbage need not look at all of it again,
    which takes a tenth of a second each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def figures(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Call it with what was measured, in words, to have it shown at the end of the run."""
    return lambda text: record_property("figures", text)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was measured, then ``stores that ran: memory 63, lmdb 63``: contract tests passed, and what else."""
    measured = [text for outcome in OUTCOMES for text in _noted(terminalreporter, outcome, "figures")]
    counts = {outcome: Counter(_noted(terminalreporter, outcome, "contract")) for outcome in OUTCOMES}
    ran = [name for name in KINDS if any(count[name] for count in counts.values())]
    if measured:
        terminalreporter.write_sep("=", "figures")
    for text in measured:
        terminalreporter.write_line(text)
    if ran:
        terminalreporter.write_sep("=", "stores")
        terminalreporter.write_line("stores that ran: " + ", ".join(_one_store(name, counts) for name in ran))
        absent = [name for name in KINDS if name not in ran]
        if absent:
            terminalreporter.write_line("stores that did not run: " + ", ".join(absent))


def _noted(terminalreporter: pytest.TerminalReporter, outcome: str, what: str) -> Iterator[str]:
    for report in terminalreporter.getreports(outcome):
        noted = getattr(report, "user_properties", ())  # what failed to be collected has none
        yield from (str(value) for name, value in noted if name == what)


def _one_store(name: str, counts: dict[str, Counter[str]]) -> str:
    others = [f"{count[name]} {outcome}" for outcome, count in counts.items() if outcome != "passed" and count[name]]
    return f"{name} {counts['passed'][name]}" + (f" ({', '.join(others)})" if others else "")
