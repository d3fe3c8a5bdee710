"""Files of XMI into a model, in memory that does not grow with them.

Each file is read once. Rows are made straight from it, without objects, and written as soon as they are complete;
those that refer to something wait on disk until all is read. Until the last one is written the model is unfinished:
nobody can open it, and if the import fails, nothing of it is left.
"""

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from neomodel import ids, layout
from neomodel.batches import batch
from neomodel.errors import InvalidFile, InvalidValue, NeomodelError, OutcomeUnknown, StoreUnavailable
from neomodel.long_cells import MANY
from neomodel.model import Model
from neomodel.packages import EPackage
from neomodel.roots import ROOTS
from neomodel.stores import VERSION, successor
from neomodel.xmi.adding import Adding, take_back
from neomodel.xmi.completing import Amend, Completing
from neomodel.xmi.earlier import Earlier, file_cells
from neomodel.xmi.frames import Work
from neomodel.xmi.links import Files
from neomodel.xmi.notices import Notice, Notices
from neomodel.xmi.opposite_ends import OppositeEnds
from neomodel.xmi.reading import Reading
from neomodel.xmi.row_writing import RowWriting
from neomodel.xmi.shapes import Shapes
from neomodel.xmi.source import Source, check_files
from neomodel.xmi.spellings import spelled
from neomodel.xmi.spool import Spool

if TYPE_CHECKING:
    from neomodel.repository import Repository

_NOTICES = 1000

Progress = Callable[[int, float], None]
"""Is told how many elements were read so far, and how much of the work is done: from 0 to 1."""


@attrs.frozen
class Import:
    """What an import did."""

    model: str
    elements: int
    references: int
    seconds: float
    notices: tuple[Notice, ...]


def import_xmi(
    repository: "Repository",
    paths: Iterable[str | Path],
    name: str,
    *,
    metamodel: Iterable[Any] = (),
    strict: bool = False,
    lenient: bool = False,
    add: bool = False,
    progress: Progress | None = None,
) -> Import:
    """As `Repository.import_xmi` says."""
    began = time.perf_counter()
    sources = [Source(path) for path in paths]
    if not sources:
        raise InvalidValue("what to import", [], "one file or more")
    check_files(source.path for source in sources)
    if add:
        repository.open(name)
    else:
        repository.check_free(name)
    notices = _SomeNotices(strict=strict)
    packages = _registered(repository, metamodel, notices)
    with _added_to(repository, name) if add else repository.importing(name) as model, _room():
        one = _Importing(model, sources, packages, notices, lenient=lenient, add=add, progress=progress)
        with closing(one):
            one.run()
    return Import(name, one.work.elements, one.work.links, time.perf_counter() - began, notices.told())


@contextmanager
def _added_to(repository: "Repository", name: str) -> Iterator[Model]:
    """A model that is there."""
    with batch(repository):
        yield repository.open(name)


@contextmanager
def _room() -> Iterator[None]:
    """Tell in our terms what goes wrong with temporary files."""
    try:
        yield
    except (OSError, sqlite3.Error) as exc:
        if isinstance(exc, NeomodelError):
            raise
        where = f"temporary files in {tempfile.gettempdir()}"
        raise StoreUnavailable("an import", where, f"{exc}; set TMPDIR to where there is room") from exc


def _registered(repository: "Repository", metamodel: Iterable[Any], notices: Notices) -> list[EPackage]:
    """The packages that were given, registered; or those that are there."""
    given = list(metamodel)
    if not given:
        return [repository.metamodel(ns_uri) for ns_uri in repository.metamodels()]
    registered = repository.register(*given, strict=notices.strict, on_notice=notices.found.append)
    return registered if isinstance(registered, list) else [registered]


class _SomeNotices(Notices):
    """Collects not more notices than somebody will read."""

    def __init__(self, *, strict: bool) -> None:
        super().__init__(strict=strict)
        self._more = 0

    def add(self, file: str, line: int, text: str) -> None:
        if len(self.found) < _NOTICES:
            super().add(file, line, text)
        else:
            self._more += 1

    def told(self) -> tuple[Notice, ...]:
        """Those that were collected, and how many there were besides."""
        last = self.found[-1] if self._more else None
        more = [Notice(last.file, last.line, f"there were {self._more:,} more notices")] if last else []
        return (*self.found, *more)


class _Importing:
    def __init__(
        self,
        model: Model,
        sources: list[Source],
        packages: Iterable[EPackage],
        notices: Notices,
        *,
        lenient: bool,
        add: bool,
        progress: Progress | None,
    ) -> None:
        self._model = model
        self._sources = sources
        self._progress = progress
        self._written = Spool() if add else None
        self._began = model.table.now() if add else 0
        shapes = Shapes(model.repository.metamodel, packages)
        self.work = Work(
            model.name,
            shapes,
            RowWriting(model, self._tell, self._written),
            notices,
            Files(source.path for source in sources),
            lenient,
            Earlier(model, shapes) if add else None,
            len(model.roots) if add else 0,
        )
        self._completing = Completing(self.work, sources)
        self._adding = Adding(model, self.work, self._completing) if add else None

    def close(self) -> None:
        self.work.close()
        if self._written is not None:
            self._written.close()

    def run(self) -> None:
        """Read and write all of it; if that fails, take out again what came into a model that was there."""
        try:
            self._run()
            if self._adding is not None:
                self._adding.settle()
        except BaseException as exc:
            self.work.writing.close()
            if self._adding is not None and self._written is not None:
                self._take_back(self._adding, self._written, exc)
            raise

    def _take_back(self, adding: Adding, written: Spool, failed: BaseException) -> None:
        try:
            adding.unsettle()
            take_back(self._model, written, self._roots() if adding.listing else iter(()), self._began)
        except NeomodelError as exc:
            name = self._model.name
            left = (
                f"what was added may be left in part; `neomodel check {name} --repair` takes out what nobody can find"
            )
            reason = f"{failed}; taking it out again failed, too: {exc}; {left}, `neomodel show {name}` has the rest"
            raise OutcomeUnknown("adding files", f"model {name!r}", reason) from failed

    def _run(self) -> None:
        completing = self._completing
        self._tell_earlier()
        for number, source in enumerate(self._sources):
            source.parse(Reading(self.work, source, number), self._tell)
        self.work.kept += spelled(slot for shape in self.work.shapes.all for slot in shape.slots)
        if self._adding is not None:
            self._adding.prepare()
        if all(pair.even for pair in self.work.shapes.pairs):
            self._write(completing, None)
            return
        with closing(OppositeEnds(self.work)) as ends:
            ends.find(completing)
            self._write(completing, ends.amend)

    def _tell_earlier(self) -> None:
        """Tell which of the files were read into the model before."""
        earlier = self.work.earlier
        for source, path in zip(self._sources, self.work.files.paths, strict=True):
            if earlier is not None and earlier.has(path):
                text = "this file was read into the model before: what it has may be there twice"
                self.work.notices.add(source.file, 1, text)

    def _write(self, completing: Completing, amend: Amend | None) -> None:
        """Write what was put aside: first what lies in other objects, then the roots."""
        work = self.work
        self._check_adopted()
        self._check_cycles()
        for record in work.rows:
            work.writing.put(record[0], completing.completed(record, amend))
        self._write_root_row()
        for record in work.roots:
            place = work.adopted.get(record[0])
            if place is not None:
                feature = work.shapes.all[place[1]].slots[place[2]].name
                record[5].update(layout.placed(place[0], feature))
            work.writing.put(record[0], completing.completed(record, amend))
        work.writing.flush()
        for oid, container, feature, where in completing.late:
            try:
                self._move(oid, container, feature)
            except InvalidValue as exc:
                raise InvalidFile(where, f"this object can't lie where it says that it does: {exc}") from exc

    def _write_root_row(self) -> None:
        """What the model knows of its roots, and of the files that they are from."""
        work = self.work
        for number, path in enumerate(work.files.paths):
            numbered = ((_number(record[2]), record[0]) for record in work.roots if record[3] == number)
            told = file_cells(path, numbered)
            while page := dict(islice(told, MANY)):
                work.writing.put(ids.ROOT, page)
        if self._adding is not None:
            work.writing.flush()
            self._adding.list_roots(self._roots())
            return
        cells: dict[bytes, Any] = {VERSION: successor(None)}
        first = next(iter(work.roots), None)
        if first is not None:
            cells |= layout.typed(work.shapes.all[first[1]].kind.ePackage.nsURI, layout.ROOT_CLASS)
            cells |= work.writing.held(ids.ROOT, ROOTS, self._roots())
        if work.kept:
            cells[layout.ASIDE] = layout.aside(work.kept)
        if len(cells) > 1:
            work.writing.put(ids.ROOT, cells)

    def _roots(self) -> Iterator[str]:
        """The ids of those objects that nothing contains."""
        return (record[0] for record in self.work.roots if record[0] not in self.work.adopted)

    def _check_adopted(self) -> None:
        """Objects of other files that are contained in some of these have to be there, and be roots."""
        work = self.work
        for text, oid in work.reserved.items():
            fault = "another object contains already" if work.targets.find(text) else "is not there"
            raise InvalidFile(work.adopted[oid][3], f"it contains {work.files.fragment(text)!r}, which {fault}")
        if not work.adopted:
            return
        missing = dict(work.adopted)
        for record in work.roots:
            place = missing.pop(record[0], None)
            if place is not None:
                slot = work.shapes.all[place[1]].slots[place[2]]
                kind = work.shapes.all[record[1]].kind
                if not slot.takes(kind):
                    reason = f"{slot.feature} holds objects of {slot.feature.eType}, and this is one of {kind}"
                    raise InvalidFile(place[3], reason)
        for place in missing.values():
            raise InvalidFile(place[3], "it contains an object that another one contains already")

    def _check_cycles(self) -> None:
        """What lies in an object of another file can't contain that one."""
        tops = self.work.tops
        sound: set[str] = set()
        for oid in tops:
            way: dict[str, None] = {}
            at = oid
            while at in tops and at not in sound:
                if at in way:
                    where = next(self.work.adopted[one][3] for one in way if one in self.work.adopted)
                    raise InvalidFile(where, "it contains an object that contains it, too")
                way[at] = None
                at = tops[at]
            sound.update(way)

    def _move(self, oid: str, container: str, feature: str) -> None:
        """Put a root into the container that it names itself."""
        holder = self._model[container]
        if holder.eClass.features[feature].many:
            holder.eGet(feature).append(self._model[oid])
        else:
            holder.eSet(feature, self._model[oid])

    def _tell(self) -> None:
        """How far it is: reading is half of the work, writing the other; some rows are written at the end only."""
        if self._progress is not None:
            size = sum(source.size for source in self._sources) or 1
            read = min(1.0, sum(source.position for source in self._sources) / size)
            written = min(1.0, self.work.writing.rows / (self.work.elements or 1))
            self._progress(self.work.elements, read * (1 + written) / 2)


def _number(path: str) -> int:
    """The number of a root in its file, by its path."""
    return int(path.rpartition("/")[2] or 0)
