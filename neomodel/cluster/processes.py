"""Start a JVM of the cluster and stop it again, by its process id, and never another process that has got that id.

Each start gives the process a mark of its own, which shows in its command line; `run/NAME.pid` holds the id and the
mark. A process is ours if the id's command line has the mark: a file left over from before a crash or a restart of the
machine can't lead to a stranger.
"""

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import attrs

TAIL = 8_000


@attrs.frozen
class Running:
    """A process as it was started. It may have ended since."""

    pid: int
    mark: str

    @property
    def alive(self) -> bool:
        reap(self.pid)
        return self.mark in command_line(self.pid)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; nothing happens if the process has ended."""
        if self.alive:
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                return

    def ended_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.alive:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True


def spawn(folder: Path, name: str, command: Sequence[str]) -> Running:
    """Start a process that outlives this one, its output in `logs/NAME.log` (the last start's in `NAME.log.1`)."""
    log = log_of(folder, name)
    if log.exists():
        log.replace(f"{log}.1")
    mark = f"-Dneomodel.process={name}.{secrets.token_hex(8)}"
    output = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    pid = os.posix_spawn(
        command[0],
        [command[0], mark, *command[1:]],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), output, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,  # an interrupt typed into this terminal is not meant for it
    )
    fresh = folder / "run" / f"{name}.new"
    fresh.write_text(f"{pid} {mark}\n")
    fresh.replace(folder / "run" / f"{name}.pid")
    process = Running(pid, mark)
    deadline = time.monotonic() + 5
    while not process.alive and time.monotonic() < deadline:  # for a moment a new process has no command line yet
        time.sleep(0.01)
    return process


def find(folder: Path, name: str) -> Running | None:
    """The process that was last started under this name, dead or alive; None if there is none on record."""
    try:
        pid, mark = (folder / "run" / f"{name}.pid").read_text().split()
        return Running(int(pid), mark)
    except (FileNotFoundError, ValueError):
        return None


def running(folder: Path, name: str) -> Running | None:
    """The process of this name if it is alive."""
    process = find(folder, name)
    return process if process and process.alive else None


def forget(folder: Path, name: str) -> None:
    (folder / "run" / f"{name}.pid").unlink(missing_ok=True)


def log_of(folder: Path, name: str) -> Path:
    return folder / "logs" / f"{name}.log"


def last_words(folder: Path, name: str) -> str:
    """Why a process ended: the launcher's own verdict, else its last line."""
    try:
        with log_of(folder, name).open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL))
            lines = stream.read().decode(errors="replace").splitlines()
    except FileNotFoundError:
        lines = []
    verdicts = [line.removeprefix("FAILED ") for line in lines if line.startswith("FAILED ")]
    return (verdicts or [line for line in lines if line.strip()] or ["it left no word"])[-1].strip()[:500]


def command_line(pid: int) -> str:
    """The command line of a process; empty if there is none, or if it is dead and only waits to be collected."""
    if os.path.isdir("/proc/self"):
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            return ""
    return subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True).stdout


def reap(pid: int) -> None:
    """Collect a dead child of ours; of another's children this knows nothing."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return
