"""A store with the metamodels and models in it."""

from pathlib import Path
from types import TracebackType
from typing import Any, Self
from weakref import WeakValueDictionary

from neomodel import ids, layout
from neomodel.declare import DECLARED
from neomodel.errors import InvalidValue, ModelExists, ModelNotFound, TableExists, TableNotFound, near
from neomodel.kinds import EClass
from neomodel.metamodel import Package
from neomodel.model import Model
from neomodel.objects import build
from neomodel.packages import EPackage, link
from neomodel.registry import Registry
from neomodel.stores import Store, open_store
from neomodel.times import Time, micros

STABLE = "stable"


def connect(url: str, *, create: bool = True) -> "Repository":
    """The repository in the store at `url`: ``lmdb:FOLDER``, ``memory:``, ``hbase://HOST:PORT...``."""
    return Repository(open_store(url, create=create))


class Repository:
    """Models and metamodels behind one URL. A context manager."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.registry = Registry(store)
        self._packages: dict[str, EPackage] = {}
        self._open: WeakValueDictionary[tuple[str, int | None], Model] = WeakValueDictionary()

    def __repr__(self) -> str:
        return f"<repository {self.store.url}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files and connections. Everything is stored without it."""
        self.store.close()

    # metamodels

    def register(self, *packages: Any) -> Any:
        """Keep metamodels in the store, and return them ready for use, one or all.

        Each is a package declared in Python or a `metamodel.Package`. What is stored already stays as it is if it is
        the same; a change that existing objects survive is taken, another raises `IncompatibleMetamodel`.
        """
        values = [_value(package) for package in packages]
        self.registry.register(*values)
        for given, value in zip(packages, values, strict=True):
            self._use(given if isinstance(given, EPackage) else self._linked(value))
        found = [self._packages[value.ns_uri] for value in values]
        return found[0] if len(found) == 1 else found

    def metamodel(self, ns_uri: str) -> EPackage:
        """The package of that namespace. Read from the store when first asked for; `MetamodelNotFound` if not there."""
        found = self._packages.get(ns_uri)
        if found is None:
            value = self.registry.load(ns_uri)
            declared = DECLARED.get(value.ns_uri)
            same = declared is not None and declared.value == value
            self._use(declared if same and declared is not None else self._linked(value))
            found = self._packages[ns_uri]
        return found

    def metamodels(self) -> list[str]:
        """The namespaces of the metamodels there are."""
        return self.registry.names()

    def packages(self) -> list[EPackage]:
        """The packages that are in use here, sub-packages included. Costs nothing."""
        return list(self._packages.values())

    def kind(self, ns_uri: str, name: str) -> EClass:
        """The class of that name, or `InvalidValue`."""
        found = self.metamodel(ns_uri).classifiers.get(name)
        if not isinstance(found, EClass):
            raise InvalidValue(f"a class of {ns_uri}", name, "one that its metamodel has; register a newer version")
        return found

    def _linked(self, value: Package) -> EPackage:
        return link(value, self.metamodel, build)

    def _use(self, package: EPackage) -> None:
        if self._packages.get(package.nsURI) not in (None, package):
            for model in self._open.values():
                model.forget_classes()
        self._packages |= {part.nsURI: part for part in package.with_subpackages()}

    # models

    def create(self, name: str) -> Model:
        """A new model, empty; `ModelExists` if there is one of that name."""
        _check_name(name)
        try:
            self.store.table(name).create(layout.FAMILIES, splits=ids.splits(self.store.breadth))
        except TableExists as exc:
            raise ModelExists(name, self.store.url) from exc
        return self._model(name, None)

    def open(self, name: str, *, as_of: Time | str | None = None) -> Model:
        """The model of that name, as it is, or as it was at a time (an aware datetime or microseconds since the epoch);
        ``"stable"`` is the latest time that nobody can write under any more. `ModelNotFound` if there is none, `Purged`
        if what was then is no longer known."""
        at = self._time(name, as_of)
        if at is not None:
            self.store.table(name).get(ids.ROOT.encode(), at=at, columns=layout.TYPE)  # refuses what was purged
        found = self._open.get((name, at))
        return found if found is not None else self._model(name, at)

    def opened(self, name: str, at: int | None) -> Model:
        """As `open`, but a model that is open already is not looked for again."""
        found = self._open.get((name, at))
        return found if found is not None else self.open(name, as_of=at)

    def models(self) -> list[str]:
        """The names of the models there are."""
        return [name for name in self.store.tables() if not name.startswith("_")]

    def drop(self, name: str) -> None:
        """Remove a model and all its history; `ModelNotFound` if there is none."""
        _check_name(name)
        try:
            self.store.table(name).drop()
        except TableNotFound as exc:
            raise self._no_model(name) from exc
        for key in [key for key in self._open if key[0] == name]:
            del self._open[key]

    def _model(self, name: str, at: int | None) -> Model:
        model = self._open[name, at] = Model(self, name, at)
        return model

    def _time(self, name: str, as_of: Time | str | None) -> int | None:
        _check_name(name)
        try:
            now = self.store.table(name).now()
        except TableNotFound as exc:
            raise self._no_model(name) from exc
        if as_of == STABLE:
            return now - self.store.settling
        return None if as_of is None else micros("as_of, if not 'stable',", as_of)

    def _no_model(self, name: str) -> ModelNotFound:
        return ModelNotFound(name, self.store.url, near(name, self.models()))


def _check_name(name: str) -> None:
    if not isinstance(name, str) or name.startswith("_"):
        raise InvalidValue("a model's name", name, "letters, digits and _ . -, not starting with _")


def _value(package: Any) -> Package:
    if isinstance(package, Package):
        return package
    if isinstance(package, EPackage):
        return package.value
    if isinstance(package, str | Path):
        raise InvalidValue("a metamodel", str(package), "a package; reading .ecore files is still to come")
    raise InvalidValue("a metamodel", package, "a package declared in Python, or a neomodel.metamodel.Package")


_restored: dict[str, Repository] = {}


def restored(url: str, name: str, oid: str, at: int | None) -> Any:
    """The object that was pickled. Opens its store once for each process."""
    repository = _restored.get(url)
    if repository is None:
        repository = _restored[url] = connect(url, create=False)
    return repository.open(name, as_of=at)[oid]
