"""Manual actions in files: CSV with a line of titles, or JSON, a list of objects; the columns are those of `add`.

The operation is a name, its value a column of its own. The key of a row is a text, or a list of texts as JSON has it.
In CSV all values are text, which is read as what the column to correct has; what is empty is left out.
"""

import csv
import io
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import neomodel as nm
from metamodels.anna.operations import Operation
from neomodel.times import parsed

COLUMNS = ("id", "run", "step", "row", "column", "operation", "value", "precondition", "who", "why", "event")
_NEEDED = ("step", "row", "column", "operation", "why")


def told(path: Path, run: str) -> list[dict[str, Any]]:
    """What a file tells, for `Actions.add_many`; `run` is that of all that name none. `InvalidFile`, with the place, if
    anything is wrong."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as exc:
        raise nm.InvalidFile(str(path), f"it is not UTF-8: {exc.reason} at byte {exc.start}") from exc
    records = _csv(path, text) if path.suffix.lower() == ".csv" else _json(path, text)
    return [_told(place, record, run) for place, record in records]


def _csv(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text), strict=True)
    try:
        titles = reader.fieldnames or ()
        for title in titles:
            if titles.count(title) > 1:
                raise nm.InvalidFile(f"{path}, line 1", f"there is more than one column {title!r}")
        for record in reader:
            place = f"{path}, line {reader.line_num}"
            if None in record or None in record.values():
                raise nm.InvalidFile(place, f"expected {len(reader.fieldnames or ())} columns")
            there = {name: value for name, value in record.items() if value != ""}
            if there.get("row", "").startswith("["):
                there["row"] = _list(place, there["row"])
            yield place, there
    except csv.Error as exc:
        raise nm.InvalidFile(f"{path}, line {reader.line_num}", f"it is no CSV: {exc}") from exc


def _list(place: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise nm.InvalidFile(place, f"row begins with [ and is no JSON: {exc}") from exc


def _json(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        records = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as exc:
        raise nm.InvalidFile(str(path), f"it is no JSON: {exc}") from exc
    if not isinstance(records, list):
        raise nm.InvalidFile(str(path), "expected a list of objects")
    for number, record in enumerate(records, 1):
        place = f"{path}, action {number}"
        if not isinstance(record, dict):
            raise nm.InvalidFile(place, f"expected an object with {', '.join(COLUMNS)}")
        yield place, {name: value for name, value in record.items() if value is not None}


def _told(place: str, record: dict[str, Any], run: str) -> dict[str, Any]:
    unknown = [name for name in record if name not in COLUMNS]
    missing = [name for name in _NEEDED if name not in record]
    if unknown or missing:
        said = f"there is no column {unknown[0]!r}" if unknown else f"{missing[0]} is missing"
        raise nm.InvalidFile(place, f"{said}; the columns are {', '.join(COLUMNS)}")
    plain = {name: value for name, value in record.items() if name not in ("operation", "value")}
    try:
        if isinstance(plain.get("event"), str):
            plain["event"] = parsed(plain["event"])
        return {"run": run, **plain, "operation": Operation(record["operation"], record.get("value"))}
    except nm.InvalidValue as exc:
        raise nm.InvalidFile(place, str(exc)) from exc
