"""What every test run does: register the marks of our own, and say at the end which stores ran."""

from collections import Counter

import pytest

from tests.stores.kinds import KINDS


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(capability): skipped for stores that do not declare the capability")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """``stores that ran: memory 63, lmdb 63``: contract tests passed, and what else became of them."""
    counts = {
        outcome: _contract_tests(terminalreporter, outcome) for outcome in ("passed", "skipped", "failed", "error")
    }
    ran = [name for name in KINDS if any(count[name] for count in counts.values())]
    if ran:
        terminalreporter.write_sep("=", "stores")
        terminalreporter.write_line("stores that ran: " + ", ".join(_one_store(name, counts) for name in ran))
        absent = [name for name in KINDS if name not in ran]
        if absent:
            terminalreporter.write_line("stores that did not run: " + ", ".join(absent))


def _contract_tests(terminalreporter: pytest.TerminalReporter, outcome: str) -> Counter[str]:
    reports = terminalreporter.getreports(outcome)
    return Counter(name for report in reports for what, name in report.user_properties if what == "contract")


def _one_store(name: str, counts: dict[str, Counter[str]]) -> str:
    others = [f"{count[name]} {outcome}" for outcome, count in counts.items() if outcome != "passed" and count[name]]
    return f"{name} {counts['passed'][name]}" + (f" ({', '.join(others)})" if others else "")
