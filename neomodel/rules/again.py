"""A run done again for what has changed in its source since: the result is that of a whole run.

Which applications are concerned follows from what changed and from what each has read. These are done again; what they
said before is taken out of the rows they said it of, and what they say now is put in: see `folding`. All writes are put
down in a journal first, so that a run that was cut short is finished by the next one.
"""

import time

import attrs

from neomodel.batches import batch
from neomodel.errors import InvalidValue
from neomodel.model import Model
from neomodel.rules.definition import Transformation
from neomodel.rules.journal import Entry, Journal
from neomodel.rules.plan import Plan
from neomodel.rules.reworking import Reworking
from neomodel.rules.root_list import relist
from neomodel.rules.running import bound
from neomodel.rules.runs import Run, Runs, Token, runs
from neomodel.rules.settling import order_of
from neomodel.stores.clock import wall
from neomodel.times import STABLE


def retransform(transformation: Transformation, source: Model, target: str) -> Run:
    """Bring what a run has made up to date with its source, as it is now or as of its time; returns what was done.

    Only what depends on changed objects is done again; `Run.applications` tells how much that was. The transformation
    must be the one that made the target, and that run has to have been made for it (``incremental=True``). Who reads
    the target as of "stable" sees all of it or nothing; if it is cut short, the next one completes it. If somebody else
    has brought it up to date meanwhile that is a `Conflict`, and nothing is written.
    """
    began, watch = wall(), time.monotonic()
    repository = source.repository
    model = repository.open(target)
    _former(transformation, source, model)  # or it is refused
    with batch(repository):
        after = source if source.as_of is not None else repository.open(source.name, as_of=STABLE)
        assert after.as_of is not None
        plan = bound(transformation, after, repository)
        journal = Journal(model)
        while (since := journal.entry()).about is not None:  # the last one was cut short
            _finished(journal, since, model, plan)
        token = _former(transformation, source, model)
        last = runs(model)[-1]
        if after.as_of < token.at:
            raise InvalidValue("the time of the source", after.as_of, f"{token.at}, the time of the last run, or later")
        now = attrs.evolve(token, at=after.as_of)
        work = Reworking(plan, repository.open(source.name, as_of=token.at), after, model, now, last)
        mutations = list(work.mutations())
        run = attrs.evolve(
            last,
            token=str(now),
            engine="local",
            began=began,
            seconds=time.monotonic() - watch,
            elements=work.changed,
            results=work.results,
            settled=0,
            applications=work.applications,
            parts=[],
            constants=work.constants,
        )
        journal.put(since, {"run": attrs.asdict(run), "come": work.come, "gone": work.gone}, mutations)
        return _finished(journal, journal.entry(), model, plan) or run


def _former(transformation: Transformation, source: Model, target: Model) -> Token:
    """The token of the run that is to be done again; refused if that can't be."""
    last = next(iter(runs(target)[::-1]), None)
    if last is None or not last.recording:
        raise InvalidValue(
            "a model to bring up to date", target.name, "one that transform() made, with incremental=True"
        )
    token = Token.parse(last.token)
    if (token.transformation, token.version, token.source) != (
        transformation.name,
        transformation.version,
        source.name,
    ):
        found = f"version {transformation.version} of {transformation.name}, on model {source.name}"
        expected = f"what made it: version {token.version} of {token.transformation}, on model {token.source}"
        raise InvalidValue(f"the transformation for {target.name}", found, f"{expected}; or make it anew")
    return token


def _finished(journal: Journal, entry: Entry, target: Model, plan: Plan) -> Run | None:
    """Do what was put down; the run that was, unless somebody else has done it all."""
    about = entry.about
    if about is None or not journal.replay(entry):
        return None
    target.outdated()
    come = [(order, oid) for order, oid in about["come"]]
    roots = relist(target, come, about["gone"], lambda oid: order_of(plan, target, oid))
    run = attrs.evolve(Run(**about["run"]), roots=roots)
    Runs(target.repository.store).add(run)
    journal.erase(entry)
    return run
