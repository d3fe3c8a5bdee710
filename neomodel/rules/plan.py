"""A transformation bound to the metamodels of a repository: which rules may match what, and which ids results have."""

from collections.abc import Callable, Iterable
from functools import cached_property
from hashlib import blake2b
from typing import Any

import attrs

from neomodel import ids
from neomodel.errors import FeatureNotFound, InvalidValue
from neomodel.kinds import EClass
from neomodel.metamodel import ANYTHING, TypeName
from neomodel.rules.circles import nesting
from neomodel.rules.definition import Rule, Transformation

_LENGTH = 19  # characters of an id after its shard


@attrs.frozen(eq=False)
class BoundRule:
    """A rule with its classes: of the source, and of each output by name."""

    rule: Rule
    number: int
    source: EClass
    outputs: dict[str, EClass]
    name: str = attrs.field(init=False)
    lineage: tuple[Rule, ...] = attrs.field(init=False)
    guards: tuple[Callable[[Any], Any], ...] = attrs.field(init=False)
    """Of all its lineage; each is asked for every object of the class."""
    places: dict[str, str] = attrs.field(init=False)
    """Of each output: which one it is."""
    bodies: tuple[tuple[Callable[..., Any], tuple[int, ...]], ...] = attrs.field(init=False)
    """Of all its lineage: what is called, and with which outputs."""

    @name.default
    def _name(self) -> str:
        return self.rule.name

    @lineage.default
    def _lineage(self) -> tuple[Rule, ...]:
        return self.rule.lineage

    @guards.default
    def _guards(self) -> tuple[Callable[[Any], Any], ...]:
        return tuple(one.guard for one in self.lineage if one.guard is not None)

    @bodies.default
    def _bodies(self) -> tuple[tuple[Callable[..., Any], tuple[int, ...]], ...]:
        names = [*self.outputs]
        return tuple((one.function, tuple(names.index(output.name) for output in one.outputs)) for one in self.lineage)

    @places.default
    def _places(self) -> dict[str, str]:
        return {name: f"{number:02}" for number, name in enumerate(self.outputs)}

    def takes(self, kind: EClass) -> bool:
        """Whether objects of a class may be sources."""
        return self.source.type_name == ANYTHING or self.source.type_name in kind.names

    def order(self, source: str, output: str) -> str:
        """What results are sorted by, where nobody says in which order they come: by rule, source and output."""
        return f"{self.number:03}/{source}/{self.places[output]}"


class Plan:
    """The rules of a transformation, ready to be applied."""

    def __init__(
        self, transformation: Transformation, source: Callable[[str], EClass], target: Callable[[str], EClass]
    ) -> None:
        """`source` and `target` give the class of a name, in the metamodels of the models; or raise."""
        self.transformation = transformation
        self.rules: dict[str, BoundRule] = {}
        for number, rule in enumerate(transformation.rules.values()):
            try:
                kinds = {output.name: target(output.kind) for output in rule.made}
                self.rules[rule.name] = BoundRule(rule, number, source(rule.source), kinds)
            except FeatureNotFound as exc:
                what = f"a class of rule {rule.name} of {transformation.name}"
                hint = (
                    exc.hint or "; register its metamodel first: `neomodel register FILE.ecore`, or repo.register(...)"
                )
                raise InvalidValue(what, exc.missing, f"one that is registered{hint}") from exc
        for bound in self.rules.values():
            _check(bound, self.rules)
        self._candidates: dict[EClass, tuple[BoundRule, ...]] = {}
        self._prefixes: dict[tuple[str, str], bytes] = {}

    @cached_property
    def matching(self) -> tuple[BoundRule, ...]:
        """Those that match by themselves: each before those it extends, else in the order of their declaration."""
        found = [one for one in self.rules.values() if one.rule.mode in ("matched", "grouped")]
        return tuple(sorted(found, key=lambda one: -len(one.rule.lineage)))

    @cached_property
    def nesting(self) -> frozenset[TypeName]:
        """The classes of results that could come to lie in themselves."""
        return nesting(kind for one in self.rules.values() for kind in one.outputs.values())

    def candidates(self, kind: EClass) -> tuple[BoundRule, ...]:
        """Those of `matching` that may match objects of a class."""
        found = self._candidates.get(kind)
        if found is None:
            possible = (one for one in self.matching if one.takes(kind))
            found = self._candidates[kind] = tuple(one for one in possible if not one.rule.abstract)
        return found

    def repairs(self, kind: EClass) -> tuple[BoundRule, ...]:
        """Those that repair objects of a class."""
        return tuple(one for one in self.rules.values() if one.rule.mode == "repair" and one.takes(kind))

    def oid(self, rule: str, output: str, source: str, *, shard: str | None = None) -> str:
        """The id of what a rule makes of a source: in the source's shard, so that both lie alike, and else a hash.
        The same whenever it is asked for, and by whom."""
        prefix = self._prefixes.get((rule, output))
        if prefix is None:
            names = (self.transformation.name, rule, output)
            prefix = self._prefixes[rule, output] = b"\0".join(name.encode() for name in (*names, ""))
        own = blake2b(prefix + source.encode(), digest_size=10).hexdigest()[:_LENGTH]
        return (shard or ids.shard_of(source) or ids.spread(source, 0)) + own

    def results(self, source: str) -> Iterable[tuple[BoundRule, str, str]]:
        """All that rules could have made of a source: rule, output and id."""
        for bound in self.rules.values():
            if bound.rule.mode in ("matched", "unique") and not bound.rule.abstract:
                yield from ((bound, output, self.oid(bound.name, output, source)) for output in bound.outputs)


def _check(bound: BoundRule, rules: dict[str, BoundRule]) -> None:
    """Refuse a rule that can't be applied."""
    for name, kind in bound.outputs.items():
        what = f"the class of output {name} of rule {bound.name}"
        if kind.abstract and not bound.rule.abstract:
            raise InvalidValue(what, str(kind), "one that is not abstract")
        if kind.key:
            raise InvalidValue(what, str(kind), "one without a natural key: results have ids that follow from sources")
    parent = bound.rule.parent
    if parent is None:
        return
    if rules[parent.name].source.type_name not in (ANYTHING, *bound.source.names):
        what = f"the source of rule {bound.name}"
        raise InvalidValue(what, str(bound.source), f"{rules[parent.name].source} as of {parent.name}, or a subclass")
    if parent.mode != bound.rule.mode:
        raise InvalidValue(f"rule {bound.name}, which extends {parent.name},", bound.rule.mode, parent.mode)
