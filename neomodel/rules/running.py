"""Transformations run: what all engines do, and the one that runs in this process."""

import time
from collections.abc import Callable, Iterable
from typing import Any

import attrs

from neomodel.class_names import class_named, classes_in, classes_of
from neomodel.errors import InvalidValue
from neomodel.garbage import undisturbed
from neomodel.model import Model
from neomodel.objects import Element
from neomodel.repository import Repository
from neomodel.rules.circles import circles, stored
from neomodel.rules.definition import Transformation
from neomodel.rules.folding import Contribution, is_maker
from neomodel.rules.part import Carried, Member, Message, Part, Said, Tally
from neomodel.rules.plan import Plan
from neomodel.rules.reads import WatchedModel
from neomodel.rules.runs import Run, Runs, Token, summed
from neomodel.rules.settling import Gathered, Settling, list_roots
from neomodel.stores.clock import wall
from neomodel.times import STABLE


@attrs.define
class Outcome:
    """What an engine has done."""

    tallies: list[Tally]
    settled: int = 0
    roots: int = 0
    shared: int = 0
    """Results that several parts may have made, each counted once."""


Engine = Callable[["Task"], Outcome]

_ALL = 10_000  # failures that anybody will look at


@attrs.frozen(eq=False)
class Task:
    """A run that is under way: what an engine is given."""

    plan: Plan
    source: Model
    """As of the time of the run."""
    target: Model
    token: Token
    constants: dict[str, Any]
    patience: int
    """How many failures are told of, of each part; 0: the first one is raised."""
    recording: bool
    progress: Callable[[int, float], Any] | None = None

    def part(self, source: WatchedModel | None = None) -> Part:
        """What applies the rules to a part of the source, read by a model of its own."""
        own = source or self.source.repository.apart(self.source, self.source.repository.store, WatchedModel)
        assert isinstance(own, WatchedModel)
        version = self.token.row_version
        return Part(
            self.plan,
            own,
            self.target,
            self.constants,
            version,
            patience=self.patience,
            recording=self.recording,
        )


def transform(
    transformation: Transformation,
    source: Model,
    target: str,
    *,
    token: str | None = None,
    on_error: str = "raise",
    incremental: bool = True,
    progress: Callable[[int, float], Any] | None = None,
    engine: Engine | None = None,
) -> Run:
    """Make a new model of another one by the rules of a transformation; returns what was done.

    The source is read as of its time, or the latest stable one. The model is there when all of it is, and else nothing
    of it. With the `token` of a run the same rows are made again. The first rule that fails ends the run with
    `RuleFailed`; with ``on_error="collect"`` all are applied, the answer tells of all failures, and if there are any
    there is no model. `incremental`: it is written down what each application of a rule read, so that a later run can
    be done again for what has changed. `progress` is called now and then with the number of objects that were looked
    at, and the share of the source's regions that are done.
    """
    if on_error not in ("raise", "collect"):
        raise InvalidValue("on_error", on_error, "'raise' or 'collect'")
    snapshot = _snapshot(transformation, source, token)
    repository = source.repository
    assert snapshot.as_of is not None
    plan = bound(transformation, snapshot, repository)
    told = Token(transformation.name, transformation.version, source.name, snapshot.as_of)
    runs = Runs(repository.store)
    runs.register(transformation)
    constants = carried_constants(transformation, snapshot)
    began, watch = wall(), time.monotonic()
    failed: list[str] = []
    try:
        with repository.importing(target) as model:
            task = Task(
                plan, snapshot, model, told, constants, _ALL if on_error == "collect" else 0, incremental, progress
            )
            with undisturbed():
                outcome = (engine or in_process)(task)
            figures = summed(outcome.tallies)
            figures["results"] += outcome.shared
            failed = figures["failures"]
            run = Run(
                token=str(told),
                target=target,
                engine="local" if engine is None else getattr(engine, "name", "other"),
                began=began,
                seconds=time.monotonic() - watch,
                roots=outcome.roots,
                settled=outcome.settled,
                recording=incremental,
                constants={name: repr(value) for name, value in constants.items()},
                **figures,
            )
            _end(failed)
    except _FailuresError:
        return run
    runs.add(run)
    return run


class _FailuresError(Exception):
    """Rules failed, and all failures were wanted."""


def _end(failures: list[str]) -> None:
    """Let no model come of rules that failed."""
    if failures:
        raise _FailuresError


def bound(transformation: Transformation, source: Model, repository: Repository) -> Plan:
    """The rules with their classes: of sources as they were at the time of the source, of results as they are."""
    url = repository.store.url
    at = source.as_of
    before = classes_of(source.metamodels.metamodel(one) for one in repository.registry.names(at=at))
    now = classes_in(repository)
    return Plan(transformation, lambda name: class_named(before, name, url), lambda name: class_named(now, name, url))


def in_process(task: Task) -> Outcome:
    """The engine that does one part after another in this process."""
    gathered: dict[str, list[Said]] = {}
    groups: dict[tuple[str, str], list[str]] = {}

    def gather(messages: Iterable[Message]) -> None:
        for one in messages:
            if isinstance(one, Member):
                groups.setdefault((one.rule, one.key), []).append(one.source)
            else:
                gathered.setdefault(one.target, []).append(one)

    tallies: list[Tally] = []
    regions = task.source.table.regions()
    seen = 0

    def look(more: int) -> None:
        nonlocal seen
        seen += more
        if task.progress is not None:
            task.progress(seen, len(tallies) / len(regions))

    for region in regions:
        part = task.part()
        part.tally.start = region.start.decode(errors="backslashreplace")
        part.tally.stop = None if region.stop is None else region.stop.decode(errors="backslashreplace")
        gather(part.apply(region.start, region.stop, progress=look))
        tallies.append(part.tally)
        look(0)
    if groups:
        part = task.part()
        gather(part.apply_groups((rule, key, oids) for (rule, key), oids in sorted(groups.items())))
        tallies.append(part.tally)
    if any(tally.failures for tally in tallies):
        return Outcome(tallies)
    settled, shared = counted(gathered)
    settling = Settling(task.plan, task.target)
    roots = sorted(settling.settle(in_order(gathered)), key=lambda one: (one.order, one.target))
    failures = settling.failures or circles(settling.nested, stored(task.target))
    if failures and not task.patience:
        raise failures[0]
    if failures:
        tallies[-1].failures += failures
        return Outcome(tallies)
    return Outcome(tallies, settled, list_roots(task.target, roots, task.token.row_version), shared)


def counted(gathered: dict[str, list[Said]]) -> tuple[int, int]:
    """How many results others contributed to, and how many others may have made too."""
    settled = sum(any(isinstance(one, Contribution) for one in said) for said in gathered.values())
    return settled, sum(any(is_maker(one) for one in said) for said in gathered.values())


def in_order(gathered: dict[str, list[Said]]) -> list[Gathered]:
    """What is said of results, as they lie in the store."""
    return sorted(gathered.items(), key=lambda item: item[0])


def _snapshot(transformation: Transformation, source: Model, token: str | None) -> Model:
    """The state of the source that a run is about."""
    if not isinstance(source, Model):
        raise InvalidValue("the source of a transformation", source, "a model")
    if token is None:
        return source if source.as_of is not None else source.repository.open(source.name, as_of=STABLE)
    told = Token.parse(token)
    found = (told.transformation, told.version, told.source)
    if found != (transformation.name, transformation.version, source.name):
        expected = f"one of version {transformation.version} of {transformation.name} on model {source.name}"
        raise InvalidValue("the token of a run", token, expected)
    return source.repository.open(source.name, as_of=told.at)


def carried_constants(transformation: Transformation, source: Model) -> dict[str, Any]:
    """The constants of a transformation, as they go to every part."""
    found = {name: one.function(source) for name, one in transformation.constants.items()}
    return {name: Carried(value._neo.oid) if isinstance(value, Element) else value for name, value in found.items()}


__all__ = ["Engine", "Outcome", "Task", "bound", "counted", "in_order", "in_process", "transform"]
