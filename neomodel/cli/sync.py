"""The command that brings what external systems tell into ELSA, and shows how that goes."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from metamodels import elsa
from metamodels.elsa.formats import FORMATS
from metamodels.elsa.intake import LEASE, Intake
from metamodels.elsa.messages import LARGEST
from metamodels.elsa.metrics import Figures, Meter, lines, prometheus
from neomodel.cli.elsa import Name
from neomodel.cli.frame import Refused, StoreUrl, say, visible
from neomodel.cli.grid import print_grid
from neomodel.cli.queues import queue
from neomodel.errors import SyncFailed
from neomodel.repository import connect
from neomodel.stores.clock import wall
from neomodel.xmi import output

Form = Annotated[
    str, typer.Option("--format", metavar="FORMAT", help=f"How messages are written: {' or '.join(FORMATS)}.")
]
Largest = Annotated[int, typer.Option("--largest", metavar="BYTES", help="Larger messages become dead letters.")]
Lease = Annotated[float, typer.Option("--lease", metavar="SECONDS", help="How long others wait if this one dies.")]
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds between attempts
_LOOK = 1.0  # seconds between looks at how it goes
_LINE = 10.0  # seconds between lines where there is no terminal


def sync(
    system: Annotated[str, typer.Option("--system", metavar="SYSTEM", help="The system's name.", show_default=False)],
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="DIR|kafka://HOST:PORT/TOPIC",
            help="The queue: a folder of JSON Lines files, or a topic.",
            show_default=False,
        ),
    ],
    once: Annotated[bool, typer.Option("--once", help="End when what is there by now is done.")] = False,
    form: Form = "plain",
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="DIR",
            help="How far it is; else a hidden folder in the queue, of a topic in the one where you are.",
            show_default=False,
        ),
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", metavar="N", help="Messages in a second, at most.", show_default=False)
    ] = None,
    largest: Largest = LARGEST,
    metrics: Annotated[
        Path | None,
        typer.Option("--metrics", metavar="FILE", help="Keep figures there, for Prometheus.", show_default=False),
    ] = None,
    lease: Lease = LEASE,
    name: Name = "elsa",
    store: StoreUrl = "",
) -> None:
    """Bring the messages of a queue into a system, each once; go on where it ended the last time.

    The queue is a folder, or a topic of Kafka. A file is in a folder when its name ends in
    .jsonl, .ndjson or .json: write it under another name and rename it when it is complete.
    Each line is a message:
    {"key": …, "event": …, "operation": "insert" or "delete", "value": …}, and "sequence" or
    "id" if it may come twice or in another order; or a change event of Debezium. What can't
    be read becomes a dead letter, see `neomodel elsa dead-letters`.
    """
    check_format(form)
    if largest < 1 or (rate is not None and not rate > 0):
        raise Refused("--largest and --rate are numbers above 0")
    if metrics is not None:
        output.check(metrics)
    named = queue(source)
    import spark
    from spark.synchronizing import Target

    with connect(store) as repository:
        opened = elsa.open(repository, name)
        intake = Intake(opened.system(system), lease=lease)
        session = spark.session(f"neomodel elsa sync {system}")
        session.sparkContext.setLogLevel("OFF")
        spark.register(session)
        folder = (checkpoint or named.checkpoint(f".sync-{system}-{opened.mark}")).absolute()
        target = Target(store, system, name, form, largest, lease)
        frame = named.frame(session, folder / "queue", None if rate is None else max(1, round(rate)))
        running = _Running(opened, system, intake, folder / "queue", metrics)
        running.run(lambda: _started(frame, target, folder, once, rate, running), once=once)
    print_grid(["", ""], lines(running.last))


def check_format(form: str) -> None:
    if form not in FORMATS:
        raise Refused(f"--format {form} is none; take one of {', '.join(FORMATS)}")


def _started(frame: Any, target: Any, folder: Path, once: bool, rate: float | None, running: "_Running") -> Any:
    from spark.synchronizing import synchronize

    return synchronize(frame, target, folder, once=once, rate=rate, told=running.meter.add, waiting=running.waiting)


class _Running:
    """A synchronization as who started it sees it: figures, and what is done when it fails."""

    def __init__(self, store: elsa.ElsaStore, system: str, intake: Intake, log: Path, metrics: Path | None) -> None:
        self.meter = Meter(system)
        self._store = store
        self._intake = intake
        self._log = log
        self._metrics = metrics
        self._state = "starting"
        self._waits = ""
        self._dead = -1
        self._letters = 0
        self.last = self._figures()

    def waiting(self, sentence: str) -> None:
        """What a round waits for."""
        self._waits = sentence

    def run(self, start: Callable[[], Any], *, once: bool) -> None:
        """Until it is done; with `once` until it fails, else it is tried again."""
        pause = _FIRST_PAUSE
        with _shown() as show:
            while True:
                began = time.monotonic()
                try:
                    query = start()
                    self._follow(query, show)
                except SyncFailed as exc:
                    if once:
                        raise
                    if time.monotonic() - began > _LONGEST_PAUSE:  # it had gone well for a while
                        pause = _FIRST_PAUSE
                    self._state = f"failed, trying again in {pause:.0f} s: {exc.reason}"
                    self._tell(show)
                    time.sleep(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE)
                else:
                    self._state = "done"
                    self._tell(show)
                    return

    def _follow(self, query: Any, show: Callable[[Figures], None]) -> None:
        from spark.synchronizing import wait

        try:
            while not wait(query, _LOOK):
                self._state = "running"
                self._tell(show)
        finally:
            query.stop()

    def _tell(self, show: Callable[[Figures], None]) -> None:
        self.last = self._figures()
        if self._metrics is not None:
            with output.opened(self._metrics) as stream:
                stream.write(prometheus(self.last).encode())
        show(self.last)

    def _figures(self) -> Figures:
        from spark.queues import read_state

        found = read_state(self._log)
        state, self._waits = self._waits or found.get("down") or self._state, ""
        seen = self.meter.figures("", lag=None, unit="", waiting=0, behind=0).dead
        if seen != self._dead:
            self._dead, self._letters = seen, sum(1 for _ in self._intake.dead_letters.find())
        behind = max(0.0, (wall() - self._store.stable()) / 1e6)
        return self.meter.figures(
            state, lag=found.get("left"), unit=found.get("unit", ""), waiting=self._letters, behind=behind
        )


@contextmanager
def _shown() -> Iterator[Callable[[Figures], None]]:
    """Figures as a table on a terminal, renewed in place; elsewhere as a line on stderr, now and then."""
    if not sys.stderr.isatty():
        last = [time.monotonic()]

        def line(figures: Figures) -> None:
            if time.monotonic() - last[0] >= _LINE:
                last[0] = time.monotonic()
                say(", ".join(f"{what} {much}" for what, much in lines(figures)))

        yield line
        return
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

    with Live(console=Console(stderr=True), transient=True) as live:

        def table(figures: Figures) -> None:
            grid = Table(box=None, show_header=False)
            for what, much in lines(figures):
                grid.add_row(what, Text(visible(much)))  # it may quote anything
            live.update(grid)

        yield table
