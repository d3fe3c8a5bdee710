"""A store with the metamodels and models in it."""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakValueDictionary

from neomodel import ids, layout
from neomodel.batches import Batch, Batches, batch
from neomodel.catalogue import Catalogue
from neomodel.declare import DECLARED
from neomodel.errors import (
    InvalidValue,
    ModelExists,
    ModelNotFound,
    NeomodelError,
    NotStable,
    TableExists,
    TableNotFound,
    near,
)
from neomodel.kinds import EClass
from neomodel.metamodel import ECORE, Class, Package
from neomodel.model import Model
from neomodel.objects import build
from neomodel.packages import EPackage, ecore, link
from neomodel.registry import Registry
from neomodel.stores import Store, open_store
from neomodel.stores.checks import check_name
from neomodel.stores.wrappers import Caching
from neomodel.times import STABLE, Time, micros, told
from neomodel.unfinished import TABLE as IMPORTS
from neomodel.unfinished import Unfinished
from neomodel.vintages import Vintage, kind_in

if TYPE_CHECKING:
    from neomodel.xmi.importing import Import
    from neomodel.xmi.notices import Notice

CACHE = 64 * 2**20


def connect(url: str, *, create: bool = True, cache_bytes: int = CACHE) -> "Repository":
    """The repository in the store at `url`: ``lmdb:FOLDER``, ``memory:``, ``hbase://HOST:PORT...``.

    Rows of snapshots are kept in memory for ever, but those of all snapshots together in not more than `cache_bytes`.
    """
    return Repository(open_store(url, create=create), cache_bytes=cache_bytes)


class Repository:
    """Models and metamodels behind one URL. A context manager."""

    def __init__(self, store: Store, *, cache_bytes: int = CACHE) -> None:
        self.store = store
        self.registry = Registry(store)
        self.catalogue = Catalogue(store)
        self.batches = Batches(store)
        self.imports = Unfinished(store, self.batches)
        self.batch: Batch | None = None
        """The batch that is being written in; `batches.batch` sets it."""
        self.snapshots = Caching(store, limit_bytes=cache_bytes)
        """The store for who reads what never changes."""
        self._packages: dict[str, EPackage] = {}
        self._vintages: WeakValueDictionary[int, Vintage] = WeakValueDictionary()
        self._open: WeakValueDictionary[tuple[str, int | None, bool], Model] = WeakValueDictionary()

    def __repr__(self) -> str:
        return f"<repository {self.store.url}>"

    def __reduce__(self) -> Any:
        raise InvalidValue(
            "what to pickle or copy", repr(self), "its URL, to connect to where it is needed; or objects"
        )

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

    def register(
        self, *packages: Any, strict: bool = False, on_notice: "Callable[[Notice], object] | None" = None
    ) -> Any:
        """Keep metamodels in the store, and return them ready for use, one or all.

        Each is a package declared in Python, a `metamodel.Package`, or the path of an `.ecore` file. What is stored
        already stays as it is if it is the same; a change that existing objects survive is taken, another raises
        `IncompatibleMetamodel`.

        Files may refer to one another and to what is registered; one that makes no sense raises `InvalidFile`, and so
        does any oddity if `strict`. Otherwise each oddity is told to `on_notice`, or else logged as a warning. Of a
        file with several packages those are returned that have classes.
        """
        values = [_value(package) for package in packages if not isinstance(package, str | PathLike)]
        paths = [package for package in packages if isinstance(package, str | PathLike)]
        read = self._read(paths, values, strict, on_notice or _logged) if paths else []
        self.registry.register(*values, *read)
        given = iter(package for package in packages if not isinstance(package, str | PathLike))
        for value, package in [*zip(values, given, strict=True), *((value, None) for value in read)]:
            self._use(package if isinstance(package, EPackage) else self._linked(value))
        shown = [value for value in read if _has_classes(value)] or read
        found = [self.metamodel(value.ns_uri) for value in (*values, *shown)]
        return found[0] if len(found) == 1 else found

    def _read(
        self,
        paths: "list[str | PathLike[str]]",
        values: list[Package],
        strict: bool,
        said: "Callable[[Notice], object]",
    ) -> list[Package]:
        """The packages of files, which may refer to others that are given or registered. One scan."""
        from neomodel.xmi.ecore_reading import read_ecore

        read, notices = read_ecore(*paths, strict=strict, registered=[*self.registry.find(), *values])
        for notice in notices:
            said(notice)
        return read

    def metamodel(self, ns_uri: str) -> EPackage:
        """The package of that namespace. Read from the store when first asked for; `MetamodelNotFound` if not there."""
        found = self._packages.get(ns_uri)
        if found is None and ns_uri == ECORE:
            found = self._packages[ns_uri] = ecore()
        elif found is None:
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
        return kind_in(self.metamodel(ns_uri), name)

    def vintage(self, at: int) -> Vintage:
        """The metamodels as they were at a time: the same object while anybody has it, so that classes are the same."""
        found = self._vintages.get(at)
        if found is None:
            found = self._vintages[at] = Vintage(self, at)
        return found

    def _linked(self, value: Package) -> EPackage:
        return link(value, self.metamodel, build)

    def _use(self, package: EPackage) -> None:
        if self._packages.get(package.nsURI) not in (None, package):
            for model in list(self._open.values()):
                if model.as_of is None:
                    model.forget_classes()
        self._packages |= {part.nsURI: part for part in package.with_subpackages() if part.nsURI != ECORE}

    # models

    def create(self, name: str, *, splits: Iterable[bytes] | None = None) -> Model:
        """A new model, empty; `ModelExists` if there is one of that name. `splits` are the row keys at which it is cut
        into regions to begin with, where there are such; if not given, those that cut random ids evenly."""
        _check_name(name)
        self._create_table(name, splits)
        self.catalogue.enter(name)
        return self._model(name, None)

    @contextmanager
    def importing(self, name: str, *, splits: Iterable[bytes] | None = None) -> Iterator[Model]:
        """A new model that is filled in the block: there when it ends, and not before. If the block fails nothing is
        left of it. What an importer that died has left under that name is removed first. `splits` as in `create`."""
        _check_name(name)
        with batch(self) as opened:
            there = name in self.store.tables()
            if there and name not in self.imports.names():
                raise ModelExists(name, self.store.url)
            self.imports.begin(name, opened)
            if there:
                self.catalogue.strike(name)
                self.store.table(name).drop()
            try:
                self._create_table(name, splits)
                yield Model(self, name, None)
                self.catalogue.enter(name)
            except BaseException:
                with suppress(NeomodelError):  # then it stays marked
                    self.drop(name)
                raise
            self.imports.end(name)

    def import_xmi(
        self,
        *paths: str | Path,
        model: str,
        metamodel: Iterable[Any] = (),
        strict: bool = False,
        lenient: bool = False,
        add: bool = False,
        progress: Callable[[int, float], None] | None = None,
    ) -> "Import":
        """Read files of XMI into a new model, in memory that does not grow with them; they may refer to one another.

        `metamodel` has .ecore files or packages; what is registered already need not be given. What is odd is told in
        the answer, or refused if `strict`. What the metamodel has no place for is refused, or kept aside if `lenient`.
        `progress` is called now and then with the number of elements, and the share of the files, that were read. If
        it fails, nothing is left of the model; what `metamodel` has stays registered. With `add` the model is one that
        is there: references that waited for the files are resolved, and if it fails, it is left as it was. A file that
        is given twice is refused; one that was read into the model before is told.
        """
        from neomodel.xmi.importing import import_xmi

        return import_xmi(
            self, paths, model, metamodel=metamodel, strict=strict, lenient=lenient, add=add, progress=progress
        )

    def import_json(self, path: str | Path, *, model: str, metamodel: Iterable[Any] = ()) -> "Import":
        """Read a file of JSON in the dialect of PyEcore's JsonResource into a new model, all of it in memory at first.

        What makes no sense raises `InvalidFile`, and nothing is left of the model.
        """
        from neomodel.xmi.json_reading import import_json

        return import_json(self, path, model, metamodel=metamodel)

    def check_free(self, name: str) -> None:
        """Raise `InvalidValue` if no model can have that name, `ModelExists` if one has it. Two reads."""
        _check_name(name)
        if name in self.models():
            raise ModelExists(name, self.store.url)

    def _create_table(self, name: str, splits: Iterable[bytes] | None = None) -> None:
        cuts = ids.splits(self.store.breadth) if splits is None else splits
        try:
            self.store.table(name).create(layout.FAMILIES, splits=cuts)
        except TableExists as exc:
            self.imports.check(name)
            raise ModelExists(name, self.store.url) from exc

    def open(self, name: str, *, as_of: "Time | str | None" = None, unstable: bool = False) -> Model:
        """The model of that name, as it is, or as it was at a time (an aware datetime or microseconds since the epoch);
        ``"stable"`` is the latest time that nobody can write under any more. `ModelNotFound` if there is none.

        A later time than that raises `NotStable` unless it is asked for as `unstable`: then what is read may be
        incomplete, and may be something else the next time. A time before the model was created raises
        `ModelNotFound`, one before what was purged `Purged`; as of "stable" a new model may be empty still. As of a
        time, five reads.
        """
        at = None
        if as_of is None:
            self._now(name)
            self.imports.check(name)
            unstable = False
        else:
            at, unstable = self._moment(name, as_of, unstable=unstable)
        found = self._open.get((name, at, unstable))
        return found if found is not None else self._model(name, at, unstable=unstable)

    def opened(self, name: str, like: Model) -> Model:
        """The model of that name, as of the time of another one. One that is open already is not looked for again."""
        return self.reopened(name, like.as_of, unstable=like.unstable)

    def reopened(self, name: str, as_of: int | None, *, unstable: bool) -> Model:
        """As `open`, for who was told of the model by somebody that has it: if it is open here, no read."""
        found = self._open.get((name, as_of, unstable))
        return found if found is not None else self.open(name, as_of=as_of, unstable=unstable)

    def apart(self, like: Model, store: Store, kind: type[Model] = Model) -> Model:
        """The same model, with objects of its own, read through a wrapper of the store; and so are all that it leads
        to. Metamodels are shared. No read."""
        repository = Repository(store)
        repository.batches = self.batches
        repository._packages = self._packages
        repository._vintages = self._vintages
        made = kind(repository, like.name, like.as_of, unstable=like.unstable)
        repository._open[like.name, like.as_of, like.unstable] = made
        return made

    def stable(self, name: str) -> int:
        """The latest time that nobody can write under any more, for who reads that model. Two reads."""
        return self.batches.stable(self._now(name))

    def models(self) -> list[str]:
        """The names of the models there are; those whose import is unfinished are none yet. Two reads."""
        tables = self.store.tables()
        unfinished = self.imports.names() if IMPORTS in tables else []
        return [name for name in tables if not name.startswith("_") and name not in unfinished]

    def drop(self, name: str) -> None:
        """Remove a model and all its history, or what an import has left; `ModelNotFound` if there is neither."""
        _check_name(name)
        try:
            self.snapshots.table(name).drop()  # what is kept of it is forgotten
        except TableNotFound as exc:
            if name not in self.imports.names():
                raise self._no_model(name) from exc
        self.catalogue.strike(name)
        self.imports.end(name)
        for key in [key for key in self._open if key[0] == name]:
            del self._open[key]

    def _model(self, name: str, at: int | None, *, unstable: bool = False) -> Model:
        model = self._open[name, at, unstable] = Model(self, name, at, unstable=unstable)
        return model

    def _now(self, name: str) -> int:
        """The time by the table of a model; `ModelNotFound` if there is none."""
        _check_name(name)
        try:
            return self.store.table(name).now()
        except TableNotFound as exc:
            raise self._no_model(name) from exc

    def _moment(self, name: str, as_of: "Time | str", *, unstable: bool) -> tuple[int, bool]:
        """The time to read a model as of, and whether that is not stable; refused if it makes no sense."""
        stable = self.stable(name)
        self.imports.check(name)
        at = stable if as_of == STABLE else micros("as_of, if not 'stable',", as_of)
        if at > stable and not unstable:
            raise NotStable(f"model {name!r} of {self.store.url}", told(at), told(stable))
        created = self.catalogue.created(name)
        if created is not None and at < created and as_of != STABLE:  # which has nothing of it yet
            hint = f" as of {told(at)}: it was created later, at {told(created)}; ask for a later time"
            raise ModelNotFound(name, self.store.url, hint)
        self.store.table(name).get(ids.ROOT.encode(), at=at, columns=layout.TYPE)  # or it was purged
        return at, at > stable

    def _no_model(self, name: str) -> ModelNotFound:
        return ModelNotFound(name, self.store.url, near(name, self.models()))


def _check_name(name: str) -> None:
    """Refuse what no table can be called, and what only our own are, before anything is put on record under it."""
    if isinstance(name, str) and not name.startswith("_"):
        with suppress(InvalidValue):
            check_name(name)
            return
    raise InvalidValue(
        "a model's name", name, "up to 200 letters of ASCII, digits and _ . -, not starting with _ . or -"
    )


def _value(package: Any) -> Package:
    if isinstance(package, Package):
        return package
    if isinstance(package, EPackage):
        return package.value
    expected = "a package declared in Python, a neomodel.metamodel.Package, or the path of an .ecore file"
    raise InvalidValue("a metamodel", package, expected)


def _has_classes(package: Package) -> bool:
    return any(isinstance(found, Class) for part in package.with_subpackages() for found in part.classifiers)


def _logged(notice: "Notice") -> None:
    logging.getLogger(__name__).warning("%s", notice)
