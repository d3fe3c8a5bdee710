"""How a command ends: the exit status and the one sentence of every failure."""

import io
import os
import re
import sys
import traceback
from collections.abc import Sequence

import typer

from neomodel import __version__
from neomodel.cli.app import command
from neomodel.cli.frame import Refused, say
from neomodel.errors import InvalidStore, NeomodelError, StoreUnavailable

COMPLETION = "_NEOMODEL_COMPLETE"  # what a shell sets that asks which words may follow
BAD_INPUT, BUG, PIPE_CLOSED = 2, 70, 141


def ended(arguments: Sequence[str]) -> int:
    """Run the command that `arguments` ask for; returns the exit status. Who interrupts it is told by the caller."""
    _make_streams_safe()
    if COMPLETION in os.environ:
        command.main(prog_name="neomodel")  # answers the shell, and ends the process
    try:
        status = _invoke(arguments)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich, and nobody else here, answers a closed pipe with SystemExit
        _discard_output()
        return PIPE_CLOSED
    except typer.TyperException as exc:
        return _fail(BAD_INPUT, _usage(exc))
    except InvalidStore as exc:
        return _fail(BAD_INPUT, f"{exc}; --store names another one")
    except StoreUnavailable as exc:
        return _fail(BAD_INPUT, f"{exc}; `neomodel doctor` with the same store looks for the cause")
    except Refused as exc:
        return _fail(exc.status, str(exc))
    except NeomodelError as exc:
        return _fail(BAD_INPUT, str(exc))
    except OSError as exc:
        if exc.filename is None:
            _discard_output()
        place = "the output" if exc.filename is None else repr(os.fsdecode(exc.filename))
        return _fail(BAD_INPUT, f"cannot use {place}: {exc.strerror or exc}; check that it is there and may be used")
    except Exception as exc:  # noqa: BLE001  the outermost frame: what gets here is a bug, and is said to be one
        if os.environ.get("NEOMODEL_DEBUG"):
            traceback.print_exc()
        return _fail(
            BUG,
            f"a bug in neomodel {__version__} ({type(exc).__name__}: {exc}); "
            "set NEOMODEL_DEBUG=1 to see where it happened, and please report it",
        )
    return status


def _invoke(arguments: Sequence[str]) -> int:
    try:
        with command.make_context("neomodel", list(arguments)) as context:
            command.invoke(context)
    except typer.Exit as ended:
        return ended.exit_code
    return 0


def _fail(status: int, sentence: str) -> int:
    say(sentence)
    return status


def _usage(exc: typer.TyperException) -> str:
    """Typer's message as one sentence, with the command whose help explains it."""
    message = exc.format_message().rstrip(".")
    message = re.sub(r"\. (Did you mean .*)", r" (\1)", message)
    message = re.sub(r"(^|: |\()([A-Z])(?=[a-z])", lambda start: start[0].lower(), message)
    context = getattr(exc, "ctx", None)
    return f"{message}; see `{context.command_path if context else 'neomodel'} --help`"


def _make_streams_safe() -> None:
    """No stream is missing, and none fails on a character that the locale lacks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  stays open, like the stream it replaces
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """What is still buffered can't be written: keep the interpreter from trying, and complaining, at its end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
