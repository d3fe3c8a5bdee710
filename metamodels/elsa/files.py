"""Histories in files: CSV with a line of titles, or JSON Lines, an object each; the columns are those of `load`."""

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import neomodel as nm
from metamodels.elsa.messages import time_of

COLUMNS = ("key", "event", "ingest", "operation", "value")


class History:
    """The rows of a file, for `ExternalSystem.load`, one at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._line = 0

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        with self._path.open(encoding="utf-8", newline="") as stream:
            records = self._csv(stream) if self._path.suffix.lower() == ".csv" else self._json_lines(stream)
            for record in records:
                yield self._row(record)

    @contextmanager
    def told(self) -> Iterator[None]:
        """Around what is done with the rows: says in which line something is wrong."""
        try:
            yield
        except UnicodeDecodeError as exc:
            raise nm.InvalidFile(str(self._path), f"it is not UTF-8: {exc.reason} at byte {exc.start}") from exc
        except nm.InvalidValue as exc:
            raise nm.InvalidFile(
                f"{self._path}, line {self._line}" if self._line else str(self._path), str(exc)
            ) from exc

    def _csv(self, stream: IO[str]) -> Iterator[dict[str, Any]]:
        reader = csv.DictReader(stream)
        for record in self._read(reader):
            self._line = reader.line_num
            if None in record or None in record.values():
                raise nm.InvalidFile(f"{self._path}, line {self._line}", f"expected {len(COLUMNS)} columns")
            yield {**record, "value": None if record["operation"] == "delete" else record["value"]}

    def _read(self, reader: "csv.DictReader[str]") -> Iterator[dict[str, Any]]:
        try:
            self._check(reader.fieldnames)
            yield from reader
        except csv.Error as exc:
            place = f"{self._path}, line {reader.line_num + 1}"
            raise nm.InvalidFile(place, f"it can't be read: {exc}; write it as JSON Lines") from exc

    def _check(self, titles: Sequence[str] | None) -> None:
        if sorted(titles or ()) != sorted(COLUMNS):
            raise nm.InvalidFile(f"{self._path}, line 1", f"the columns are {titles}, expected {COLUMNS}")

    def _json_lines(self, stream: IO[str]) -> Iterator[dict[str, Any]]:
        for self._line, text in enumerate(stream, 1):
            if not text.strip():
                continue
            try:
                record = json.loads(text)
            except (ValueError, RecursionError) as exc:
                raise nm.InvalidFile(f"{self._path}, line {self._line}", f"it is no JSON: {exc}") from exc
            if not isinstance(record, dict) or not set(record) <= set(COLUMNS):
                raise nm.InvalidFile(
                    f"{self._path}, line {self._line}", f"expected an object with {', '.join(COLUMNS)}"
                )
            yield record

    def _row(self, record: dict[str, Any]) -> tuple[Any, ...]:
        key, event, ingest, operation, value = (record.get(name) for name in COLUMNS)
        return key, time_of(event), time_of(ingest), operation, value
