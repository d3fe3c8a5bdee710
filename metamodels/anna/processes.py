"""Processes: what a data product is made of, as a value: sources, and steps in the order of what they need.

    report = anna.Process("income report")
    report.system("payroll", schema="name string, income long")

    @report.step(key="id", schema="id string, income long", checks=[anna.between("income", 1000)])
    def boss(payroll): ...

A step is a function of frames. Its parameters say which, by name: sources of the process, or steps that come before. It
is no part of this module what a frame is; `spark/pipeline.py` runs processes.
"""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from metamodels.anna.code import fingerprint
from metamodels.anna.quality import Refers, Rule
from neomodel.errors import InvalidModel, InvalidValue, near

if TYPE_CHECKING:
    import networkx as nx

_NAME = re.compile(r"[^\x00-\x1f\x7f/]{1,80}")

Function = Callable[..., Any]


@attrs.frozen
class System:
    """A source: a system of ELSA as of the token of a run. With a `schema`, values are taken apart as JSON objects."""

    system: str
    schema: str | None = None


@attrs.frozen
class ModelSource:
    """A source: the objects of a class of a model, as of the ingest time that the token of a run has for its name."""

    model: str
    type: str | None = None
    columns: tuple[str, ...] | None = None


Source = System | ModelSource


@attrs.frozen(eq=False)
class Step:
    """A step: its function, and what it promises about the rows that it gives."""

    name: str
    function: Function
    key: tuple[str, ...]
    schema: str
    inputs: tuple[str, ...]
    checks: tuple[Rule, ...] = ()
    origin: dict[str, dict[str, str]] = attrs.field(factory=dict)
    """For inputs whose columns have other names: by which columns of this step's rows theirs are found."""

    @cached_property
    def code(self) -> str:
        """A hash of all that decides what it gives, as far as its text tells."""
        declared = json.dumps([self.key, " ".join(self.schema.split()), self.inputs])
        return fingerprint(self.function, declared, *(check.text() for check in self.checks))


class Process:
    """A data transformation process: declared once, run as often as needed. Its name is its identity."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name != name.strip() or name in (".", ".."):
            expected = "1 to 80 characters, without / and control characters, and what a folder can be called"
            raise InvalidValue("the name of a process", name, expected)
        self.name = name
        self.sources: dict[str, Source] = {}
        self._steps: dict[str, Step] = {}

    def __repr__(self) -> str:
        return f"<process {self.name!r}: {', '.join(self._steps)}>"

    # declaring

    def system(self, system: str, *, schema: str | None = None, name: str | None = None) -> None:
        """Steps may ask for an ELSA system by its name, or by another one: columns `key`, `event`, `ingest`, `kind`,
        `value`, `data`; with a `schema`, `key` and what the schema says of JSON objects."""
        self._add(name or system, System(system, schema))

    def model(
        self,
        model: str,
        *,
        type: str | None = None,  # noqa: A002  as the format's option
        columns: Iterable[str] | None = None,
        name: str | None = None,
    ) -> None:
        """Steps may ask for the objects of a class of a model, as `spark.read.format("neomodel")` gives them."""
        self._add(name or model, ModelSource(model, type, None if columns is None else tuple(columns)))

    def step(
        self,
        *,
        key: str | Sequence[str],
        schema: str,
        checks: Sequence[Rule] = (),
        origin: dict[str, dict[str, str]] | None = None,
        name: str | None = None,
    ) -> Callable[[Function], Function]:
        """Declare a function a step. Its parameters are the names of its inputs. What it returns has the columns of
        `schema`, in SQL's words, and no two rows with the same `key`."""

        def declared(function: Function) -> Function:
            called = name or function.__name__
            keys = (key,) if isinstance(key, str) else tuple(key)
            inputs = tuple(inspect.signature(function).parameters)
            self._put(Step(called, function, keys, schema, inputs, tuple(checks), origin or {}))
            return function

        return declared

    # asking

    @property
    def steps(self) -> list[Step]:
        """Steps, each after those that it needs, and else as declared."""
        import networkx as nx  # which commands that don't run anything need not load

        return [self._steps[name] for name in nx.lexicographical_topological_sort(self.graph, self._place)]

    @property
    def graph(self) -> "nx.DiGraph[str]":
        """Steps, with an edge from each one to those that need its rows."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self._steps)
        graph.add_edges_from((i, s.name) for s in self._steps.values() for i in s.inputs if i in self._steps)
        return graph

    def get(self, name: str) -> Step:
        """The step of that name, or `InvalidValue`."""
        if name not in self._steps:
            raise InvalidValue(f"a step of process {self.name!r}", name, f"one that it has{near(name, self._steps)}")
        return self._steps[name]

    def __contains__(self, name: str) -> bool:
        return name in self._steps

    # how

    def _place(self, name: str) -> int:
        return list(self._steps).index(name)

    def _add(self, name: str, source: Source) -> None:
        self._free(name)
        self.sources[name] = source

    def _free(self, name: str) -> None:
        if not name.isidentifier():
            raise InvalidValue(f"a name in process {self.name!r}", name, "one that a parameter of a step can have")
        if name in self.sources or name in self._steps:
            raise InvalidModel(f"process {self.name!r}", f"it has two inputs or steps of the name {name!r}")

    def _put(self, step: Step) -> None:
        self._free(step.name)
        where = f"step {step.name!r} of process {self.name!r}"
        for name in step.inputs:
            if name not in self.sources and name not in self._steps:
                known = [*self.sources, *self._steps]
                raise InvalidModel(
                    where, f"it asks for {name!r}, which is no source and no step before it{near(name, known)}"
                )
        if not step.key:
            raise InvalidModel(where, "it has no key, by which rows are told apart")
        for check in step.checks:
            if not isinstance(check, Rule):
                raise InvalidValue(f"a check of {where}", check, "a rule, such as anna.not_null('income')")
            if isinstance(check, Refers) and check.table not in step.inputs:
                raise InvalidModel(
                    where, f"check {check.name!r} refers to {check.table!r}, which is none of its inputs"
                )
        names = [check.name for check in step.checks]
        for name in names:
            if names.count(name) > 1:
                raise InvalidModel(where, f"it has two checks of the name {name!r}")
        self._steps[step.name] = step
