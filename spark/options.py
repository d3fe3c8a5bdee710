"""What a job is asked for: the options of `ModelSource`, checked before anything is done."""

import os
from collections.abc import Collection, Mapping

import attrs

from neomodel.errors import InvalidValue, near
from neomodel.times import STABLE, Time, parsed

ROWS, VERTICES, EDGES = "objects", "vertices", "edges"
CREATION = "creation"

_READING = {"store", "model", "type", "as_of", "unstable", "columns", "view", "exact"}
_WRITING = {"store", "model", "type", "job"}
_STREAMING = {"store", "model", "type", "columns", "since", "exact", "span", "ordered"}
_OF_STREAMS = {"since", "span", "ordered"}
_LONGEST = 10**9  # seconds
_FLAGS = {"true": True, "false": False}


@attrs.frozen
class Options:
    """Those that say what is read, written or followed. Unknown ones are refused, so a typing error is no silence."""

    store: str
    model: str
    given: dict[str, str]

    @classmethod
    def reading(cls, options: Mapping[str, str]) -> "Options":
        return cls._checked(options, _READING)

    @classmethod
    def writing(cls, options: Mapping[str, str]) -> "Options":
        return cls._checked(options, _WRITING)

    @classmethod
    def streaming(cls, options: Mapping[str, str]) -> "Options":
        return cls._checked(options, _STREAMING)

    @staticmethod
    def stream(options: Mapping[str, str]) -> bool:
        """Whether these are the options of a stream: Spark asks for the schema before it tells what is to be read."""
        return any(name.lower() in _OF_STREAMS for name in options)

    @classmethod
    def _checked(cls, options: Mapping[str, str], known: Collection[str]) -> "Options":
        given = named(options, known, ("store", "model"), "neomodel")
        return cls(absolute(given["store"]), given["model"], given)

    @property
    def type(self) -> str | None:
        """The name of a class; without one, all objects are meant."""
        return self.given.get("type")

    @property
    def as_of(self) -> "Time | str":
        return parsed(self.given.get("as_of", STABLE))

    @property
    def columns(self) -> list[str] | None:
        """The columns that are wanted, all if None."""
        found = self.given.get("columns")
        return None if found is None else [name.strip() for name in found.split(",") if name.strip()]

    @property
    def since(self) -> "Time | str":
        """The time after which changes come, `STABLE`, or `CREATION` for all there were."""
        found = self.given.get("since", CREATION)
        return found if found == CREATION else parsed(found)

    @property
    def span(self) -> int | None:
        """Microseconds that a micro-batch takes in at most."""
        found = self.given.get("span")
        if found is None:
            return None
        try:
            seconds = float(found)
        except ValueError:
            seconds = 0
        if not 1e-6 <= seconds <= _LONGEST:
            raise InvalidValue("option span", found, f"a number of seconds, up to {_LONGEST}")
        return round(seconds * 1e6)

    @property
    def view(self) -> str:
        return self.one_of("view", (ROWS, VERTICES, EDGES))

    def flag(self, name: str, *, default: bool = False) -> bool:
        return flag(self.given, name, default=default)

    def without(self, *names: str, why: str) -> None:
        """Refuse options that make no sense beside another one."""
        for name in names:
            if name in self.given:
                raise InvalidValue(f"option {name}", self.given[name], why)

    def one_of(self, name: str, allowed: tuple[str, ...]) -> str:
        """The value of an option; the first one allowed if it is not given."""
        found = self.given.get(name, allowed[0])
        if found not in allowed:
            raise InvalidValue(f"option {name}", found, f"one of {', '.join(allowed)}")
        return found


_NEEDED = {
    "store": "the URL of a store, such as lmdb:neomodel.db",
    "model": "the name of a model; `neomodel models` lists those there are",
    "system": "the name of a system; `neomodel elsa stats` lists those there are",
}


def named(options: Mapping[str, str], known: Collection[str], needed: Collection[str], form: str) -> dict[str, str]:
    """The options, by names in small letters; `InvalidValue` for one that is unknown, and for one that is missing."""
    given = {name.lower(): value for name, value in options.items()}
    for name in given:
        if name not in known:
            expected = f"one of {', '.join(sorted(known))}{near(name, known)}"
            raise InvalidValue(f"an option of format {form}", name, expected)
    for name in needed:
        if not given.get(name):
            raise InvalidValue(f"option {name}", given.get(name), _NEEDED[name])
    return given


def flag(given: Mapping[str, str], name: str, *, default: bool = False) -> bool:
    """What an option says that is true or false."""
    found = given.get(name)
    if found is None:
        return default
    if found.lower() not in _FLAGS:
        raise InvalidValue(f"option {name}", found, "true or false")
    return _FLAGS[found.lower()]


def check_positive(given: Mapping[str, str], *names: str, kind: type[int] | type[float] = int) -> None:
    """That these options are numbers above 0, where they are given."""
    for name in names:
        try:
            good = not given.get(name) or kind(given[name]) > 0
        except ValueError:
            good = False
        if not good:
            raise InvalidValue(f"option {name}", given[name], "a number above 0")


def absolute(url: str) -> str:
    """The URL as it means the same in every process of a job: executors work in folders of their own."""
    scheme, colon, rest = url.partition(":")
    return f"{scheme}{colon}{os.path.abspath(rest)}" if scheme == "lmdb" and rest else url
