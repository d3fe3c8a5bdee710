"""Rules being applied: which match, what they make, where references between results lead.

One `Applying` does so for a part of the source model, in one thread. Whatever rules read is noted by `reads`, so that
it is known what an application depends on.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator
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
from neomodel.rules.current import applied_by
from neomodel.rules.definition import Helper, Rule
from neomodel.rules.drafts import Draft, Target
from neomodel.rules.plan import BoundRule, Plan
from neomodel.rules.reads import Reads
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
    reads: dict[str, set[str]] = attrs.field(factory=dict)


@attrs.define(eq=False)
class _Caller:
    """Who calls lazy rules, so that what they make has ids that follow from it: the rule that matched, or the unique
    lazy one that is at work and whose results are the same whoever called that."""

    rule: str
    source: str
    shared: bool = False
    calls: int = 0


class Applying:
    """Applies the rules of a plan to objects of a model."""

    def __init__(self, plan: Plan, reads: Reads, constants: dict[str, Any]) -> None:
        self._plan = plan
        self._reads = reads
        self._constants = constants
        self._answers: dict[tuple[str, str], tuple[Any, dict[str, set[str]]]] = {}
        self._application: Application | None = None
        self._caller = _Caller("", "")
        self._uniques: dict[str, Any] = {}

    # matching

    def matches(self, element: Element) -> tuple[BoundRule, ...]:
        """The rules that match an object; of those that extend one another, the last."""
        state = element._neo
        candidates = self._plan.candidates(state.kind)
        if not candidates or (len(candidates) == 1 and not candidates[0].guards):
            return candidates
        return self._remembered(("", state.oid), lambda: self._matched(element, candidates))  # type: ignore[no-any-return]

    def _matched(self, element: Element, candidates: tuple[BoundRule, ...]) -> tuple[BoundRule, ...]:
        found: list[BoundRule] = []
        with applied_by(self):
            for bound in candidates:
                if found and any(bound.rule in one.lineage for one in found):
                    continue
                with Failing(bound, element, "its guard"):
                    for guard in bound.guards:
                        if not guard(element):
                            break
                    else:
                        found.append(bound)
        return tuple(found if len(found) < 2 else sorted(found, key=lambda one: one.number))

    def key(self, bound: BoundRule, element: Element) -> str:
        """The key under which a grouped rule has an object."""
        assert bound.rule.key is not None
        with Failing(bound, element, "its key"), applied_by(self):
            key = bound.rule.key(element)
        if not isinstance(key, str):
            raise RuleFailed(bound.name, _told(element), "its key", f"it is {key!r}, expected text")
        return key

    # applying

    def apply(self, bound: BoundRule, element: Any, source: str) -> Application:
        """What a rule makes of an object, or a grouped one of several; `source` is the id, or the key."""
        application = self._application = Application(bound, source)
        self._caller = _Caller(bound.name, source)
        self._uniques = {}
        with self._reads.into(application.reads):
            try:
                self._fill(bound, element, source, lambda output: self._plan.oid(bound.name, output, source))
            finally:
                self._application = None
        return application

    def _fill(self, bound: BoundRule, element: Any, source: str, oid: Any) -> list[Draft]:
        application = self._application
        assert application is not None
        made = {name: Draft(oid(name), kind, bound.order(source, name)) for name, kind in bound.outputs.items()}
        application.drafts += made.values()
        application.origins += ((bound, name, source) for name in made)
        with Failing(bound, element), applied_by(self):
            for rule in bound.lineage:
                rule.function(element, *[made[output.name] for output in rule.outputs])
        return list(made.values())

    # what bodies call

    def trace(self, element: Any, output: str | None, rule: str | None, default: Any) -> Any:
        """The result that a rule makes of an object."""
        if element is None:
            return None
        if not isinstance(element, Element) or not isinstance(element._neo, Stored):
            raise InvalidValue("what to trace", element, "an object of the source model")
        found = [
            (bound, output or next(iter(bound.outputs)))
            for bound in self.matches(element)
            if (rule is None or bound.name == rule) and (output is None or output in bound.outputs)
        ]
        if len(found) == 1:
            bound, name = found[0]
            if bound.rule.mode == "grouped":
                return Target(self.group_oid(bound, name, self.key(bound, element)), bound.outputs[name])
            return Target(self._plan.oid(bound.name, name, element._neo.oid), bound.outputs[name])
        if not found and default is not _MISSING:
            return default
        asked = f"output {output} of {rule or 'a rule'}" if output else f"rule {rule}" if rule else "a rule"
        rules = ", ".join(bound.name for bound, _ in found)
        reason = f"several match: {rules}; name rule=" if found else "none matches it, or has that; give default="
        raise InvalidValue(f"the trace of {_told(element)} to {asked}", reason, "one")

    def group_oid(self, bound: BoundRule, output: str, key: str) -> str:
        """The id of what a grouped rule makes of a key."""
        return self._plan.oid(bound.name, output, f"={key}")

    def call(self, rule: Rule, element: Any) -> Any:
        """What a lazy rule makes of an object, for the application that is at work."""
        application, bound = self._application, self._plan.rules[rule.name]
        if application is None:
            raise InvalidValue(f"where rule {rule.name} is called,", "a guard or a key", "the body of a rule")
        oid = _identified(element, rule)
        if rule.mode == "unique":
            known = self._uniques.get(f"{rule.name}\0{oid}")
            if known is not None:
                return known
            made = [Target(self._plan.oid(rule.name, name, oid), kind) for name, kind in bound.outputs.items()]
            self._uniques[f"{rule.name}\0{oid}"] = made[0]  # before its body, which may lead here again
            caller, self._caller = self._caller, _Caller(rule.name, oid, shared=True)
            self._fill(bound, element, oid, lambda output: self._plan.oid(rule.name, output, oid))
            self._caller = caller
            application.shared.update(one._oid for one in made)
            return made[0]
        caller = self._caller
        caller.calls += 1
        at = f"{oid}\0{caller.rule}\0{caller.source}\0{caller.calls}"
        shard = self._plan.oid(rule.name, "", caller.source)[:4]
        drafts = self._fill(bound, element, oid, lambda output: self._plan.oid(rule.name, output, at, shard=shard))
        if caller.shared:
            application.shared.update(draft._oid for draft in drafts)
        return drafts[0]

    def helped(self, helper: Helper, element: Any) -> Any:
        """What a helper answers for an object."""
        oid = _identified(element, helper)
        return self._remembered((helper.name, oid), lambda: helper.function(element))

    def constant(self, name: str) -> Any:
        self._reads.note(f"!{name}", "")
        return self._constants[name]

    # how

    def _remembered(self, key: tuple[str, str], ask: Any) -> Any:
        """An answer, and that what it was made of has been read for whoever asks."""
        known = self._answers.get(key)
        if known is None:
            noted: dict[str, set[str]] = {}
            with self._reads.into(noted):
                answer = ask()
            if len(self._answers) >= _REMEMBERED:
                self._answers.clear()
            known = self._answers[key] = answer, noted
        self._reads.add(known[1])
        return known[0]


class Failing:
    """Tells of what goes wrong in the block with the rule, the source and the feature."""

    __slots__ = ("_bound", "_element", "_part")

    def __init__(self, bound: BoundRule, element: Any, part: str | None = None) -> None:
        self._bound, self._element, self._part = bound, element, part

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or not isinstance(error, Exception) or isinstance(error, RuleFailed):
            return
        if isinstance(error, Conflict | StoreUnavailable | OutcomeUnknown | BatchExpired):
            return  # of the store, not of the rule
        part = self._part or next(_assigned(self._bound.rule, error), "its body")
        reason = str(error) if isinstance(error, NeomodelError) else f"{type(error).__name__}: {error}"
        raise RuleFailed(self._bound.name, _told(self._element), part, reason) from error


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


def _identified(element: Any, asked: Any) -> str:
    if not isinstance(element, Element) or not isinstance(element._neo, Stored):
        raise InvalidValue(f"the argument of {asked.name}", element, "an object of the source model")
    return element._neo.oid


def _told(element: Any) -> str:
    if isinstance(element, list):
        return f"{len(element)} objects, the first {_told(element[0])}"
    return f"{element._neo.kind} {element._neo.where()}"


def trace(element: Any, output: str | None = None, *, rule: str | None = None, default: Any = _MISSING) -> Any:
    """In a rule: the result that is made of an object of the source model, whoever makes it and when; None of None.

    If several rules match it, `rule` says which is meant; of a rule with several outputs the first is taken, or the one
    that `output` names. If no rule matches, that is an error, unless there is a `default`.
    """
    from neomodel.rules.current import application

    return application("trace()").trace(element, output, rule, default)
