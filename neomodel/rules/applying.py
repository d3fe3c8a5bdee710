"""Rules being applied: which match, what they make, where references between results lead.

One `Applying` does so for a part of the source model, in one thread. Whatever rules read is noted by `reads`, so that
it is known what an application depends on.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import attrs

from neomodel.errors import (
    BatchExpired,
    Conflict,
    InvalidValue,
    NeomodelError,
    OutcomeUnknown,
    RuleFailed,
    StoreUnavailable,
)
from neomodel.objects import Element
from neomodel.rules.current import application, applied_by
from neomodel.rules.definition import Helper, Rule
from neomodel.rules.drafts import Draft, Target
from neomodel.rules.origins import group
from neomodel.rules.plan import BoundRule, Plan
from neomodel.rules.reads import Noted, Reads
from neomodel.states import Stored

_REMEMBERED = 200_000  # answers of guards and helpers
_MISSING = object()


@attrs.define(eq=False)
class Application:
    """A rule applied to a source: what it made, those of lazy rules included, and what it read."""

    bound: BoundRule
    source: str
    drafts: list[Draft] = attrs.field(factory=list)
    origins: list[tuple[BoundRule, str, str]] = attrs.field(factory=list)
    """Of each draft: the rule that made it, the name it has there, and the source of that."""
    shared: set[str] = attrs.field(factory=set)
    """The ids of those that other applications make as well: results of unique lazy rules, and what these call."""
    reads: Noted = attrs.field(factory=set)


@attrs.define(eq=False)
class _Caller:
    """Who calls lazy rules, so that what they make has ids that follow from it: the rule that matched, or the unique
    lazy one that is at work and whose results are the same whoever called that."""

    rule: str
    source: str
    shared: bool = False
    calls: int = 0


@attrs.define(eq=False)
class _Matched:
    """The rules that match an object, and what was read to find that out."""

    rules: tuple[BoundRule, ...]
    noted: Noted
    target: Target | None = None
    """What `trace` leads to that names no rule and no output, once that was asked for."""


class Applying:
    """Applies the rules of a plan to objects of a model."""

    def __init__(self, plan: Plan, reads: Reads, constants: dict[str, Any]) -> None:
        self._plan = plan
        self._reads = reads
        self._constants = constants
        self._answers: dict[tuple[Helper, Stored], tuple[Any, Noted]] = {}
        """Of helpers, each with what was read for it."""
        self._matches: dict[Stored, _Matched] = {}
        self._targets: dict[tuple[BoundRule, str, Stored], Target] = {}
        self._application: Application | None = None
        self._caller = _Caller("", "")
        self._uniques: dict[str, Any] = {}

    # matching

    def matches(self, element: Element) -> tuple[BoundRule, ...]:
        """The rules that match an object; of those that extend one another, the last."""
        return self._matching(element).rules

    def _matching(self, element: Element) -> _Matched:
        """What matches an object. It is found out once; whoever asks has read what was read for that."""
        found = self._matches.get(element._neo)
        if found is None:
            if len(self._matches) >= _REMEMBERED:
                self._matches.clear()
            found = self._matches[element._neo] = _Matched(*self._watching(self._matched, element))
        self._reads.noted |= found.noted
        return found

    def _matched(self, element: Element) -> tuple[BoundRule, ...]:
        found: list[BoundRule] = []
        told: dict[int, Any] = {}  # by the ids of guards: rules that extend the same one share its guard
        for bound in self._plan.candidates(element._neo.kind):
            if found and any(bound.rule in one.lineage for one in found):
                continue
            try:
                for guard in bound.guards:
                    if id(guard) not in told:
                        told[id(guard)] = guard(element)
                    if not told[id(guard)]:
                        break
                else:
                    found.append(bound)
            except Exception as error:
                tell_of(error, bound, element, "its guard")
                raise
        return tuple(found if len(found) < 2 else sorted(found, key=lambda one: one.number))

    def key(self, bound: BoundRule, element: Element) -> str:
        """The key under which a grouped rule has an object."""
        assert bound.rule.key is not None
        try:
            key = bound.rule.key(element)
        except Exception as error:
            tell_of(error, bound, element, "its key")
            raise
        if not isinstance(key, str) or "\0" in key:  # which parts what is told of results
            raise RuleFailed(bound.name, _told(element), "its key", f"it is {key!r}, expected text without NUL")
        return key

    # applying

    def apply(self, bound: BoundRule, element: Any, source: str) -> Application:
        """What a rule makes of an object, or a grouped one of several; `source` is the id, or the key."""
        application = self._application = Application(bound, source)
        self._caller = _Caller(bound.name, source)
        self._uniques = {}
        if bound.rule.mode == "grouped":
            oids = [self._plan.oid(bound.name, output, source) for output in bound.outputs]
        else:
            oids = [self._target(bound, output, element._neo)._oid for output in bound.outputs]
        reads = self._reads
        before, reads.noted = reads.noted, application.reads
        try:
            with applied_by(self):
                self._fill(bound, element, source, oids)
        finally:
            reads.noted = before
            self._application = None
        return application

    def _fill(self, bound: BoundRule, element: Any, source: str, oids: list[str]) -> list[Draft]:
        """Have a rule fill its outputs, which have these ids."""
        application = self._application
        assert application is not None
        made = [Draft(oid, kind) for oid, kind in zip(oids, bound.outputs.values(), strict=True)]
        application.drafts += made
        application.origins += [(bound, name, source) for name in bound.outputs]
        try:
            for function, places in bound.bodies:
                function(element, *[made[place] for place in places])
        except Exception as error:
            tell_of(error, bound, element)
            raise
        return made

    # what bodies call

    def trace(self, element: Any, output: str | None, rule: str | None, default: Any) -> Any:
        """The result that a rule makes of an object."""
        if element is None:
            return None
        if not isinstance(element, Element) or not isinstance(element._neo, Stored):
            raise InvalidValue("what to trace", element, "an object of the source model")
        known = self._matching(element)
        found, plain = known.rules, rule is None and output is None
        if plain and known.target is not None:
            return known.target
        if not plain:
            found = tuple(
                bound
                for bound in found
                if (rule is None or bound.name == rule) and (output is None or output in bound.outputs)
            )
        if len(found) == 1:
            bound = found[0]
            name = output or next(iter(bound.outputs))
            if bound.rule.mode == "grouped":
                oid = self._plan.oid(bound.name, name, group(self.key(bound, element)))
                return Target(oid, bound.outputs[name])
            target = self._target(bound, name, element._neo)
            if plain:
                known.target = target
            return target
        if not found and default is not _MISSING:
            return default
        asked = f"output {output} of {rule or 'a rule'}" if output else f"rule {rule}" if rule else "a rule"
        rules = ", ".join(bound.name for bound in found)
        reason = f"several match: {rules}; name rule=" if found else "none matches it, or has that; give default="
        raise InvalidValue(f"the trace of {_told(element)} to {asked}", reason, "one")

    def _target(self, bound: BoundRule, output: str, source: Stored) -> Target:
        """What a rule makes of one object."""
        found = self._targets.get((bound, output, source))
        if found is None:
            if len(self._targets) >= _REMEMBERED:
                self._targets.clear()
            found = Target(self._plan.oid(bound.name, output, source.oid), bound.outputs[output])
            self._targets[bound, output, source] = found
        return found

    def call(self, rule: Rule, element: Any) -> Any:
        """What a lazy rule makes of an object, for the application that is at work."""
        application, bound = self._application, self._plan.rules[rule.name]
        if application is None:
            raise InvalidValue(f"where rule {rule.name} is called,", "a guard or a key", "the body of a rule")
        oid = _stored(element, rule).oid
        if rule.mode == "unique":
            known = self._uniques.get(f"{rule.name}\0{oid}")
            if known is not None:
                return known
            made = [Target(self._plan.oid(rule.name, name, oid), kind) for name, kind in bound.outputs.items()]
            self._uniques[f"{rule.name}\0{oid}"] = made[0]  # before its body, which may lead here again
            caller, self._caller = self._caller, _Caller(rule.name, oid, shared=True)
            try:
                self._fill(bound, element, oid, [one._oid for one in made])
            finally:
                self._caller = caller
            application.shared.update(one._oid for one in made)
            return made[0]
        caller = self._caller
        caller.calls += 1
        at = f"{oid}\0{caller.rule}\0{caller.source}\0{caller.calls}"
        shard = self._plan.oid(rule.name, "", caller.source)[:4]
        oids = [self._plan.oid(rule.name, output, at, shard=shard) for output in bound.outputs]
        drafts = self._fill(bound, element, oid, oids)
        if caller.shared:
            application.shared.update(draft._oid for draft in drafts)
        return drafts[0]

    def helped(self, helper: Helper, element: Any) -> Any:
        """What a helper answers for an object."""
        state: Any = getattr(element, "_neo", None)
        answer, noted = self._answers.get((helper, state)) or self._asked(helper, element)
        self._reads.noted |= noted
        return answer

    def constant(self, name: str) -> Any:
        self._reads.noted.add((_constant(name), ""))
        return self._constants[name]

    # how

    def _asked(self, helper: Helper, element: Any) -> tuple[Any, Noted]:
        """What a helper answers for an object, and what was read for that, which whoever asks has then read too. It is
        asked once."""
        state = _stored(element, helper)
        if len(self._answers) >= _REMEMBERED:
            self._answers.clear()
        known = self._answers[helper, state] = self._watching(helper.function, element)
        return known

    def _watching(self, ask: Callable[[Any], Any], element: Any) -> tuple[Any, Noted]:
        """What is answered for an object, and what was read for that."""
        reads = self._reads
        noted: Noted = set()
        before, reads.noted = reads.noted, noted
        try:
            answer = ask(element)
        finally:
            reads.noted = before
        return answer, noted


@attrs.frozen
class _ConstantRead:
    """A constant, as what was read."""

    oid: str

    def lies_in(self, container: bytes) -> bool:  # noqa: ARG002  it lies nowhere
        return False


@cache
def _constant(name: str) -> _ConstantRead:
    return _ConstantRead(f"!{name}")


def tell_of(error: Exception, bound: BoundRule, element: Any, part: str | None = None) -> None:
    """Raise `RuleFailed` with the rule, the source and the feature of what went wrong in a rule, unless it tells all
    that, or is of the store."""
    if isinstance(error, RuleFailed | Conflict | StoreUnavailable | OutcomeUnknown | BatchExpired):
        return
    part = part or next(_assigned(bound.rule, error), "its body")
    reason = str(error) if isinstance(error, NeomodelError) else f"{type(error).__name__}: {error}"
    raise RuleFailed(bound.name, _told(element), part, reason) from error


def _assigned(rule: Rule, error: Exception) -> Iterator[str]:
    """The feature of an output that was being assigned when a body failed, if its text tells."""
    trace = error.__traceback__
    while trace is not None:
        for one in rule.lineage:
            if trace.tb_frame.f_code is one.function.__code__:
                yield from (
                    name for first, last, name in _assignments(one.function) if first <= trace.tb_lineno <= last
                )
        trace = trace.tb_next


@cache
def _assignments(function: Any) -> list[tuple[int, int, str]]:
    """First and last line of each assignment to a feature in a function, and what is assigned."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return []
    return [
        (node.lineno + first - 1, (node.end_lineno or node.lineno) + first - 1, f"{target.value.id}.{target.attr}")
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AugAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
    ]


def _stored(element: Any, asked: Helper | Rule) -> Stored:
    """The state of what a helper, or a lazy rule, is asked about."""
    if not isinstance(element, Element) or not isinstance(element._neo, Stored):
        raise InvalidValue(f"the argument of {asked.name}", element, "an object of the source model")
    return element._neo


def _told(element: Any) -> str:
    if isinstance(element, list):
        return f"{len(element)} objects, the first {_told(element[0])}"
    return f"{element._neo.kind} {element._neo.where()}"


def trace(element: Any, output: str | None = None, *, rule: str | None = None, default: Any = _MISSING) -> Any:
    """In a rule: the result that is made of an object of the source model, whoever makes it and when; None of None.

    If several rules match it, `rule` says which is meant; of a rule with several outputs the first is taken, or the one
    that `output` names. If no rule matches, that is an error, unless there is a `default`.
    """
    return application("trace()").trace(element, output, rule, default)
