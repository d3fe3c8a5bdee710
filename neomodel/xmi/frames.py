"""What is known while files are read: of all of them together, and of each object whose element has not ended."""

from collections.abc import Callable
from typing import Any

import attrs

from neomodel import ids, trees
from neomodel.checks import same
from neomodel.stores import Cells
from neomodel.xmi.earlier import Earlier, waiting_cell
from neomodel.xmi.links import Files
from neomodel.xmi.notices import Notices
from neomodel.xmi.row_writing import RowWriting
from neomodel.xmi.shapes import Shape, Shapes, Slot
from neomodel.xmi.shards import Shards
from neomodel.xmi.spool import Spool
from neomodel.xmi.targets import Targets


@attrs.define
class Work:
    """What is made of all files of an import."""

    model: str
    shapes: Shapes
    writing: RowWriting
    notices: Notices
    files: Files
    lenient: bool
    earlier: Earlier | None = None
    """What is in the model already, if the files are added to one."""
    roots_before: int = 0
    """How many roots the model has already."""
    targets: Targets = attrs.field(factory=Targets)
    rows: Spool = attrs.field(factory=Spool)
    """Rows that are not complete: an id, the number of its class, its path, the numbers of its file and line, the
    cells, and the links: of each the number of its slot, and the texts that name what it leads to."""
    roots: Spool = attrs.field(factory=Spool)
    """Those of roots, complete or not."""
    elements: int = 0
    links: int = 0
    reserved: dict[str, str] = attrs.field(factory=dict)
    """Ids of roots that were not read yet, but are contained in an object of another file, by their texts."""
    adopted: dict[str, tuple[str, int, int, str]] = attrs.field(factory=dict)
    """Roots that are contained in an object of another file, by their ids: the id of that one, the numbers of its class
    and slot, and where that is said."""
    tops: dict[str, str] = attrs.field(factory=dict)
    """Of roots that come to lie in another object, adopted or taken, the root in which that one is."""
    absent: set[str] = attrs.field(factory=set)
    """References to what lies in objects of these files, and is in a file that is not given."""
    kept: list[dict[str, str]] = attrs.field(factory=list)
    """What was kept of the files that belongs to no object."""
    shards: Shards = attrs.field(init=False)

    taken: dict[str, tuple[str, str]] = attrs.field(factory=dict)
    """Roots that were in the model, by their ids, and where they lie from now on: a container and a feature."""
    outward: list[tuple[str, str, str]] = attrs.field(factory=list)
    """Links to objects that were in the model, whose other ends are there: an id, the feature, the other id."""

    @shards.default
    def _shards(self) -> Shards:
        return Shards(self.model, self.roots_before)

    def earlier_root(self, oid: str) -> bool:
        """Whether an object that was in the model is a root there."""
        return self.earlier is not None and self.earlier.is_root(oid)

    def wait(self, oid: str) -> None:
        """Note that the row of that id refers to a file that is not read."""
        self.writing.put(ids.ROOT, {waiting_cell(oid): b"1"})

    def close(self) -> None:
        """Let go of temporary files, and of the thread that writes."""
        self.writing.close()
        if self.earlier is not None:
            self.earlier.close()
        self.targets.close()
        self.rows.close()
        self.roots.close()


class Frame:
    """An object whose element has not ended."""

    __slots__ = ("cells", "children", "id", "kept", "line", "links", "oid", "path", "shape", "shard", "values")

    def __init__(self, shape: Shape, oid: str, path: str, line: int, cells: dict[bytes, bytes | None]) -> None:
        self.shape = shape
        self.oid = oid
        self.shard = oid[:4] if not shape.key else ids.shard_of(oid)
        self.path = path
        self.id = ""
        """The text that names it by its id."""
        self.line = line
        self.cells = cells
        self.links: list[tuple[int, list[str]]] = []
        self.children: dict[Slot, Any] = {}
        self.values: dict[Slot, Collected] | None = None
        self.kept: list[dict[str, str]] | None = None

    def collect(self, slot: Slot, raw: Any, writing: RowWriting, twice: Callable[[str], None]) -> None:
        """Put a value at the end of a many-valued attribute."""
        if self.values is None:
            self.values = {}
        held = self.values.get(slot)
        if held is None:
            held = self.values[slot] = Collected(slot, self.oid, writing)
        held.add(raw, twice)

    def note(self, at: int) -> None:
        """Note which ends of links it names, so as to find those whose other end nobody does. Texts begin with as many
        characters that tell the file."""
        slots = self.shape.slots
        for number, texts in self.links:
            pair, side = slots[number].pair, slots[number].side
            if pair is None:
                continue
            for text in texts:
                own = self.path if text[at : at + 1] == "/" else self.id
                pair.sums[side] += hash((own, text) if side == 0 else (text, own))
                if pair.features[0] is pair.features[1]:
                    pair.sums[1] += hash((text, own))

    def keep(self, what: dict[str, str]) -> None:
        """Keep what the metamodel has no place for."""
        self.kept = [*(self.kept or ()), what]


class Collected:
    """The values of a many-valued attribute, however many they are."""

    def __init__(self, slot: Slot, oid: str, writing: RowWriting) -> None:
        self._slot = slot
        self._oid = oid
        self._writing = writing
        self._held: Any = []
        self._seen: set[Any] | None = set() if slot.unique else None

    def add(self, raw: Any, twice: Callable[[str], None]) -> None:
        feature = self._slot.feature
        if self._seen is not None:
            if (known := same(feature, raw)) in self._seen:
                twice(f"{feature} has the value {raw!r} already, and holds none twice; the second one is left out")
                return
            self._seen.add(known)
        if len(self._held) == trees.LIMITS.inline and type(self._held) is list:
            self._held = self._writing.growing(self._oid, feature, self._held)
        self._held.append(raw)

    def cells(self) -> Cells:
        held = self._held
        if type(held) is list:
            return self._writing.held(self._oid, self._slot.feature, held)
        return {self._slot.column: held.root()}
