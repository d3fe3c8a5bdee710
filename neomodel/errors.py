"""Every failure has a remedy; the class says which.

Each error is also the builtin a caller would catch, pickles (an executor sends it to a driver), and is one
sentence that holds all its fields: what was attempted, on what, what was found, what to do.
"""

import difflib
from collections.abc import Iterable
from typing import Any, ClassVar

import attrs

_error = attrs.define(eq=False, slots=False)


def one_line(text: str) -> str:
    """A text that may quote anything, as one line: what is not printable is escaped."""
    return text if text.isprintable() else "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


class NeomodelError(Exception):
    """Any failure of this library. Subclasses say by name what to do about it."""

    sentence: ClassVar[str]

    def __str__(self) -> str:
        try:
            return one_line(self.sentence.format_map(vars(self)))
        except ValueError:  # somewhere in it is a number of more digits than Python makes text of
            fields = {name: field if isinstance(field, str) else _TooLong(field) for name, field in vars(self).items()}
            return one_line(self.sentence.format_map(fields))


class _TooLong:
    """What is said in place of a value that can't be shown."""

    def __init__(self, value: object) -> None:
        self._kind = type(value).__name__

    def __repr__(self) -> str:
        return f"<{self._kind}, too long to be shown>"


@_error
class InvalidStore(NeomodelError, ValueError):
    """The store's URL means nothing, or points at something that is no store: fix the URL."""

    sentence = "cannot open store {url!r}: {reason}"
    url: str
    reason: str


@_error
class InvalidValue(NeomodelError, ValueError, TypeError):
    """An argument that can't be stored: fix the call. Nothing was changed."""

    sentence = "{what} is {found!r}, expected {expected}"
    what: str
    found: Any
    expected: str


@_error
class InvalidCondition(NeomodelError, ValueError):
    """A condition that is not of the language of conditions, or of other types: fix the condition."""

    sentence = "the condition {text!r} is refused: {reason}"
    text: str
    reason: str


@_error
class InvalidModel(NeomodelError, ValueError):
    """A metamodel that makes no sense: fix the declaration. Nothing was changed."""

    sentence = "{where} can't be right: {reason}; fix the declaration"
    where: str
    reason: str


@_error
class NotWritable(NeomodelError, ValueError):
    """Something that a file of that format has no place for: change it, or ask for it to be left out. There is no file
    then, or the one that was there before."""

    sentence = "{what} can't be written as {form}: {reason}; {remedy}"
    what: str
    form: str
    reason: str
    remedy: str


@_error
class InvalidFile(NeomodelError, ValueError):
    """A file that can't be read as what it should be: fix the file. `where` is its name, and the line."""

    sentence = "{where}: {reason}"
    where: str
    reason: str


@_error
class IncompatibleMetamodel(NeomodelError, ValueError):
    """A changed package under which existing models would lose something: keep what it breaks, or take a new ns_uri."""

    sentence = (
        "package {ns_uri!r} can't replace the one registered in {store}: {breaks}; "
        "keep what existing models need, or register it under another ns_uri"
    )
    ns_uri: str
    store: str
    breaks: str


@_error
class MetamodelNotFound(NeomodelError, KeyError):
    """No package of that ns_uri is registered, or was at that time: fix the ns_uri, or register it."""

    sentence = "there is no metamodel {ns_uri!r} in {store}; {near}; fix the ns_uri or register it"
    ns_uri: str
    store: str
    near: str


@_error
class FeatureNotFound(NeomodelError, AttributeError):
    """A class has no such feature, a package no such class: fix the name."""

    sentence = "{where} has no {missing!r}{hint}"
    where: str
    missing: str
    hint: str


@_error
class ObjectNotFound(NeomodelError, KeyError):
    """An object that is not there, or not any more: fix the reference."""

    sentence = "object {where} can't be read: {reason}; {remedy}"
    where: str
    reason: str
    remedy: str


@_error
class Conflict(NeomodelError):
    """Somebody else has changed the object since it was read. Nothing was written: read it again, redo the change."""

    sentence = (
        "{where} was changed by somebody else: version {expected} was read, {found} is there; "
        "nothing was written, read it again and redo the change (nm.redo does that)"
    )
    where: str
    expected: str
    found: str


@_error
class ModelNotFound(NeomodelError, KeyError):
    """The model is not there, or not any more: fix the name, or create it."""

    sentence = "there is no model {model!r} in {store}{hint}"
    model: str
    store: str
    hint: str


@_error
class ModelExists(NeomodelError, ValueError):
    """The name is taken: open the model that is there, or drop it first."""

    sentence = "model {model!r} already exists in {store}; drop it first or take another name"
    model: str
    store: str


@_error
class UnfinishedImport(NeomodelError, RuntimeError):
    """A model whose import goes on, or was cut short: wait for it, import it again, or drop it."""

    sentence = "model {model!r} of {store} is an unfinished import, by {owner} since {since}; {remedy}"
    model: str
    store: str
    owner: str
    since: str
    remedy: str


@_error
class JobEnded(NeomodelError, RuntimeError):
    """A job that writes no more, since it was undone or came to its end: write anew."""

    sentence = "job {token} on model {model!r} of {store} {state}; nothing more is written in it, start another one"
    token: str
    model: str
    store: str
    state: str


@_error
class SyncFailed(NeomodelError, RuntimeError):
    """A synchronization that has ended before its time: mend what it says, and start it again, which goes on there."""

    sentence = "{what} has ended: {reason}; start it again when that is mended, it goes on from where it was"
    what: str
    reason: str


@_error
class RuleFailed(NeomodelError, RuntimeError):
    """A rule of a transformation can't be applied to an object: mend the rule, or the object. `part` is the feature of
    an output that was being assigned, or another part of the rule."""

    sentence = "rule {rule} failed on {element} at {part}: {reason}"
    rule: str
    element: str
    part: str
    reason: str


@_error
class RunTaken(NeomodelError, RuntimeError):
    """Somebody else computes this run: wait for it, or start another one."""

    sentence = "{run} is being computed by {owner}, whose claim holds until {until}; wait for it, or start another run"
    run: str
    owner: str
    until: str


@_error
class StepFailed(NeomodelError, RuntimeError):
    """A step of a process can't be done: mend the step, or what it is given, and resume the run."""

    sentence = "step {step!r} of process {process!r} failed: {reason}"
    process: str
    step: str
    reason: str


@_error
class TableNotFound(NeomodelError, KeyError):
    """The table is not there, or not any more: fix the name, or create it."""

    sentence = "there is no table {table!r} in {store}; create it first, or see which there are with tables()"
    table: str
    store: str


@_error
class TableExists(NeomodelError, ValueError):
    """The name is taken: use the table that is there, or drop it first."""

    sentence = "table {table!r} already exists in {store}; open it, drop it first or take another name"
    table: str
    store: str


@_error
class ReadOnly(NeomodelError, PermissionError):
    """A write on something opened for reading: open it for writing."""

    sentence = "{operation} on {where} is refused: it was opened read-only"
    operation: str
    where: str


@_error
class Purged(NeomodelError, ValueError):
    """A read of a time whose history was purged: read at the horizon or later."""

    sentence = "{where} can't be read as of {at}: its history before {horizon} was purged; ask for a later time"
    where: str
    at: int
    horizon: int

    def __str__(self) -> str:
        from neomodel.times import told  # which raises errors itself

        return one_line(self.sentence.format(where=self.where, at=told(self.at), horizon=told(self.horizon)))


@_error
class NotStable(NeomodelError, ValueError):
    """A read of a time under which somebody may still write: wait, read as of "stable", or say that it may change."""

    sentence = (
        "{where} can't be read as of {at}: others may still write under that time, "
        "it is stable up to {stable}; {remedy}"
    )
    where: str
    at: str
    stable: str
    remedy: str = "wait, read as of 'stable', or in Python with unstable=True as it may still change"


@_error
class BatchExpired(NeomodelError, TimeoutError):
    """A batch whose lease ran out: others don't wait for it any more. Open another one, and go on there."""

    sentence = (
        "the batch of {owner} since {since} has expired: it was not renewed for {lease} seconds, and others may have "
        "read what it had written so far as stable; nothing more is written in it, open another one and go on there"
    )
    owner: str
    since: str
    lease: float


@_error
class StoreUnavailable(NeomodelError, ConnectionError):
    """The store did not take the operation. Nothing of it was written; mend the cause or back off, and retry."""

    sentence = "{operation} on {where} failed and wrote nothing: {reason}"
    operation: str
    where: str
    reason: str


@_error
class StoreClosed(StoreUnavailable):
    """The store was closed, by whoever opened it. Nothing was read or written; open it again."""

    sentence = "{operation} {where} is refused: {reason}"


@_error
class OutcomeUnknown(NeomodelError, TimeoutError):
    """A write left and no answer came. It may have been written: read before deciding."""

    sentence = "{operation} on {where} got no answer ({reason}); it may have been written, read before deciding"
    operation: str
    where: str
    reason: str


@_error
class CorruptRow(NeomodelError):
    """What is stored of an object can't be what was written. Stop: a person must look."""

    sentence = "{feature} of object {where} holds {found!r}, which is not {expected}; a person must look at its row"
    where: str
    feature: str
    found: bytes
    expected: str


@_error
class CorruptStore(NeomodelError):
    """What is stored can't be what was written. Stop: a person must look, and restore a copy."""

    sentence = "{where} is damaged: {reason}; stop using it and restore a copy"
    where: str
    reason: str


@_error
class DamagedBackup(NeomodelError, ValueError):
    """A backup that is not what was written, as a file is missing, or is another: nothing is taken from it."""

    sentence = "{where} is damaged: {reason}; {remedy}"
    where: str
    reason: str
    remedy: str


@_error
class ClusterFailed(NeomodelError, RuntimeError):
    """The local HBase, or Java for it or for Spark, can't be started, stopped or used: mend the cause and try again."""

    sentence = "cannot {attempt} {where}: {reason}; {remedy}"
    attempt: str
    where: str
    reason: str
    remedy: str


_CLOSE = 0.65
"""How alike names are of which one is told for the other. By 0.6, which is usual, price is near articles."""


def was_closed(url: str) -> StoreClosed:
    """What is raised for all that is asked of a store that was closed, and of its tables."""
    return StoreClosed("using", url, "it was closed; open it again (nm.connect, or open_store for its tables)")


def near(name: str, names: Iterable[str]) -> str:
    """What to say after "there is no such name": the nearest one there is, if any comes near."""
    found = difflib.get_close_matches(name, list(names), 1, _CLOSE)
    return f"; did you mean {found[0]!r}?" if found else ""
