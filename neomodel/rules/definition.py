"""Transformations as values: rules in Python, with their names, versions and sources.

A rule is a function whose first parameter is annotated with the class of its source, and each further one with the
class of an object it makes. Its body assigns the features of these::

    persons = Transformation("Families2Persons")

    @persons.rule(when=lambda member: not is_female(member))
    def male(member: "Families.Member", person: "Persons.Male"):
        person.fullName = f"{member.firstName} {family_name(member)}"

Nothing here runs a rule: see `applying`.
"""

import hashlib
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal

import attrs

from neomodel import bytecode
from neomodel.errors import InvalidValue
from neomodel.kinds import EClass
from neomodel.rules import current

Mode = Literal["matched", "lazy", "unique", "grouped", "repair"]


@attrs.frozen(eq=False)
class Output:
    """Something that a rule makes: by which name its body has it, and of which class."""

    name: str
    kind: str


@attrs.frozen(eq=False)
class Rule:
    """A rule. Lazy ones are called by bodies of others, as functions of a source; those match by themselves."""

    name: str
    function: Callable[..., Any]
    source: str
    outputs: tuple[Output, ...]
    mode: Mode = "matched"
    guard: Callable[[Any], Any] | None = None
    key: Callable[[Any], Any] | None = None
    parent: "Rule | None" = None
    abstract: bool = False

    def __call__(self, source: Any) -> Any:
        """In the body of another rule: what this one makes of a source, the first of it if it is several."""
        if self.mode not in ("lazy", "unique"):
            raise InvalidValue(
                f"a rule to call, {self.name},", self.mode, "a lazy one; trace() leads to what others make"
            )
        return current.application(f"rule {self.name}").call(self, source)

    @property
    def lineage(self) -> "tuple[Rule, ...]":
        """The rules it extends, the first one first, and itself."""
        return (*(self.parent.lineage if self.parent else ()), self)

    @property
    def made(self) -> tuple[Output, ...]:
        """Its outputs, and those of the rules it extends; of one name, its own."""
        found = {output.name: output for rule in self.lineage for output in rule.outputs}
        return tuple(found.values())


class Helper:
    """A function of an object, whose answers a run remembers. Outside of runs, the function itself."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.name = function.__name__
        self.function = function
        self.__doc__ = function.__doc__

    def __call__(self, element: Any) -> Any:
        running = current.running()
        return self.function(element) if running is None else running.helped(self, element)


class Constant:
    """A function of the source model, asked once in a run; called without arguments in rules."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.name = function.__name__
        self.function = function
        self.__doc__ = function.__doc__

    def __call__(self) -> Any:
        return current.application(f"constant {self.name}").constant(self.name)


class Transformation:
    """Rules under one name. Its version is what its author calls it, or else follows from the text of the rules."""

    def __init__(self, name: str, *, version: str | None = None) -> None:
        if not isinstance(name, str) or not name.isprintable() or not name:
            raise InvalidValue("the name of a transformation", name, "text")
        self.name = name
        self.rules: dict[str, Rule] = {}
        self.helpers: dict[str, Helper] = {}
        self.constants: dict[str, Constant] = {}
        self._version = version

    def __repr__(self) -> str:
        return f"<transformation {self.name} {self.version}>"

    @property
    def version(self) -> str:
        return self._version or self.digest[:12]

    @property
    def digest(self) -> str:
        """A hash of all that decides what the transformation does, as far as its own text tells."""
        return hashlib.sha256("\0".join(self._texts()).encode()).hexdigest()

    def _texts(self) -> Iterator[str]:
        for rule in self.rules.values():
            yield f"{rule.name} {rule.mode} {rule.source} {rule.abstract} {rule.parent.name if rule.parent else ''}"
            yield from (f"{output.name} {output.kind}" for output in rule.outputs)
            yield from (_text(function) for function in (rule.function, rule.guard, rule.key) if function)
        yield from (_text(helper.function) for helper in self.helpers.values())
        yield from (_text(constant.function) for constant in self.constants.values())

    # declaring

    def rule(
        self,
        function: Callable[..., Any] | None = None,
        *,
        when: Callable[[Any], Any] | None = None,
        key: Callable[[Any], Any] | None = None,
        extends: Rule | None = None,
        abstract: bool = False,
    ) -> Any:
        """A rule that is applied to each object of its source class for which `when` holds.

        With `key`, a function of the source, those with equal keys are one source: the body gets them as a list, in the
        order of their ids. A rule that `extends` another is applied in its place where it matches; the body of the
        other comes first, on the outputs that have the same names. An `abstract` one is there to be extended.
        """
        mode: Mode = "matched" if key is None else "grouped"
        return self._declared(function, mode=mode, guard=when, key=key, parent=extends, abstract=abstract)

    def lazy(
        self, function: Callable[..., Any] | None = None, *, unique: bool = False, extends: Rule | None = None
    ) -> Any:
        """A rule that other rules call: each call makes something new, of a `unique` one the same for each source."""
        return self._declared(function, mode="unique" if unique else "lazy", parent=extends)

    def repair(self, function: Callable[..., Any] | None = None, *, when: Callable[[Any], Any] | None = None) -> Any:
        """A rule that changes the objects it matches, and others as it likes, in place. It has no outputs; once it was
        applied, `when` should hold no more: then it does no harm if it is tried again. See `neomodel.repair`."""
        return self._declared(function, mode="repair", guard=when, parent=None)

    def helper(self, function: Callable[[Any], Any]) -> Helper:
        """A function of an object that rules use; it is asked once for each object, or seldom more."""
        made = self.helpers[self._new(function, self.helpers)] = Helper(function)
        return made

    def constant(self, function: Callable[[Any], Any]) -> Constant:
        """A function of the source model that is asked once for each run, before all rules. It answers with an object
        of the model, or with a value."""
        made = self.constants[self._new(function, self.constants)] = Constant(function)
        return made

    def _new(self, function: Callable[..., Any], others: dict[str, Any]) -> str:
        """The name of a function, which nothing else of its kind has."""
        if function.__name__ in others:
            raise InvalidValue(f"what {self.name} declares", function.__name__, "a name that no other of its kind has")
        return function.__name__

    def _declared(self, function: Callable[..., Any] | None, **options: Any) -> Any:
        if function is None:
            return lambda given: self._declared(given, **options)
        name = self._new(function, self.rules)
        parent = options["parent"]
        if parent is not None and self.rules.get(parent.name) is not parent:
            raise InvalidValue(f"what rule {name} extends", parent, f"a rule of {self.name}")
        source, *outputs = _parameters(function)
        rule = Rule(name, function, source[1], tuple(Output(*one) for one in outputs), **options)
        if rule.mode == "repair" and rule.made:
            raise InvalidValue(f"the parameters of rule {name}", rule.made[0].name, "the source alone")
        if not rule.made and not rule.abstract and rule.mode != "repair":
            raise InvalidValue(f"the parameters of rule {name}", source[0], "the source, and at least one output")
        self.rules[name] = rule
        return rule


def _parameters(function: Callable[..., Any]) -> list[tuple[str, str]]:
    """Names and classes of a rule's parameters."""
    found = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.annotation is inspect.Parameter.empty:
            what = f"parameter {parameter.name} of rule {function.__name__}"
            raise InvalidValue(what, "not annotated", 'the class of an object, such as "java.Package"')
        found.append((parameter.name, _class_name(function, parameter.annotation)))
    if not found:
        raise InvalidValue(f"the parameters of rule {function.__name__}", "none", "the source, and what is made of it")
    return found


def _class_name(function: Callable[..., Any], annotation: Any) -> str:
    """The name of a class, given as itself, or by its name in Python or in the metamodel."""
    if isinstance(annotation, str):
        found: Any = getattr(function, "__globals__", {}).get(annotation.split(".")[0])
        for part in annotation.split(".")[1:]:
            found = getattr(found, part, None)
        annotation = found if isinstance(_kind(found), EClass) else annotation
    if isinstance(annotation, str):
        return annotation
    kind = _kind(annotation)
    if not isinstance(kind, EClass):
        raise InvalidValue(
            f"an annotation of rule {function.__name__}", annotation, "a class of a metamodel, or its name"
        )
    return f"{kind.ePackage.nsURI}#{kind.name}"


def _kind(annotation: Any) -> Any:
    return annotation if isinstance(annotation, EClass) else getattr(annotation, "eClass", None)


def _text(function: Callable[..., Any]) -> str:
    """The text of a function, or of a helper's; of one that has none, what Python made of it, but for where in memory:
    it has to be the same in every process."""
    if isinstance(function, Helper):
        function = function.function
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        made = repr(function) if code is None else bytecode.told(code)
        return re.sub(r" at 0x[0-9a-fA-F]+", "", made)
