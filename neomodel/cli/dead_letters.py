"""The command that looks after messages that could not be applied."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from metamodels import elsa
from metamodels.elsa.dead_letters import DeadLetter
from metamodels.elsa.formats import FORMATS
from metamodels.elsa.intake import Intake
from metamodels.elsa.messages import LARGEST, Message, Reader
from neomodel.cli.elsa import Name, System
from neomodel.cli.frame import AsJson, Refused, StoreUrl, say
from neomodel.cli.grid import print_grid
from neomodel.cli.progress import counter
from neomodel.cli.sync import Form, Largest, check_format
from neomodel.repository import connect
from neomodel.times import told
from neomodel.xmi import output


def dead_letters(
    system: System,
    everything: Annotated[bool, typer.Option("--all", help="Those too that were replayed or dismissed.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write them there, with messages, as JSON Lines.")
    ] = None,
    replay: Annotated[bool, typer.Option("--replay", help="Try those that wait again, in their places.")] = False,
    corrected: Annotated[
        Path | None,
        typer.Option("--with", metavar="FILE", help="Replay these: a file of --out, corrected.", show_default=False),
    ] = None,
    dismiss: Annotated[bool, typer.Option("--dismiss", help="Say that those that wait need not be replayed.")] = False,
    form: Form = "plain",
    largest: Largest = LARGEST,
    name: Name = "elsa",
    store: StoreUrl = "",
    as_json: AsJson = False,
) -> None:
    """List messages that could not be applied, with reasons; replay them when that is mended.

    A message that is replayed keeps the place it had in the queue, so later ones stay
    later. Those that still can't be applied stay, with the new reason. To correct
    messages, write them to a file with --out, mend "message" there, and replay --with it.
    """
    if sum((replay or corrected is not None, dismiss, out is not None)) > 1:
        raise Refused("--out, --replay and --dismiss are three things; do one after the other")
    check_format(form)
    with connect(store, create=False) as repository:
        found = elsa.open(repository, name, create=False).system(system)
        found.rows()  # or it is not there
        intake = Intake(found)
        if replay or corrected is not None:
            _replayed(intake, Reader(found.writable(), FORMATS[form], largest), corrected)
        elif dismiss:
            letters = list(intake.dead_letters.find())
            intake.dead_letters.end(letters, "dismissed")
            print(f"{len(letters):,} dead letters of {system} dismissed")
        elif out is not None:
            _written(intake, out, everything)
        else:
            _listed(intake.dead_letters.find(ended=everything), as_json)


def _replayed(intake: Intake, reader: Reader, corrected: Path | None) -> None:
    given = None if corrected is None else _read(corrected)
    with counter("replaying") as advance:
        done, left = intake.replay(reader, given, advance)
    print(f"{done:,} dead letters applied, {left:,} still can't be")
    if left:
        raise typer.Exit(1)


def _read(path: Path) -> dict[tuple[str, str], bytes]:
    found = {}
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                one = json.loads(line)
                message = bytes.fromhex(one["hex"]) if "hex" in one else one["message"].encode()
                found[one["queue"], one["place"]] = message
            except (ValueError, KeyError, TypeError, AttributeError) as exc:
                expected = "expected an object with queue, place and message, as --out writes it"
                raise Refused(f"{path}, line {number}: {expected}") from exc
    return found


def _written(intake: Intake, out: Path, everything: bool) -> None:
    output.check(out)
    count = 0
    with output.opened(out) as stream:
        for page in intake.dead_letters.messages(intake.dead_letters.find(ended=everything)):
            for letter, message in page:
                stream.write(json.dumps(_plain(letter) | _shown_message(message)).encode() + b"\n")
            count += len(page)
    print(f"{count:,} dead letters written to {out}")


def _shown_message(message: Message) -> dict[str, str]:
    try:
        return {"message": (message.value or b"").decode()}
    except UnicodeDecodeError:
        return {"hex": (message.value or b"").hex()}


def _plain(letter: DeadLetter) -> dict[str, Any]:
    return {
        "queue": letter.queue,
        "place": letter.place,
        "reason": letter.reason,
        "seen": letter.seen,
        "size": letter.size,
        "ended": letter.ended,
    }


def _listed(letters: Iterator[DeadLetter], as_json: bool) -> None:
    if as_json:
        print(json.dumps([_plain(letter) for letter in letters]))
        return
    rows = [[*_cells(letter)] for letter in letters]
    if not rows:
        say("there are no dead letters")
    else:
        print_grid(["queue", "place", "seen", "bytes", "state", "reason"], rows, numbers=["bytes"])


def _cells(letter: DeadLetter) -> Iterator[str]:
    yield from (letter.queue, letter.place, told(letter.seen))
    yield "" if letter.size is None else f"{letter.size:,}"
    yield from (letter.ended or "waits", letter.reason)
