"""What few objects have beside their rows: changes that wait, values that are not stored, collections that are long."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from neomodel import layout
from neomodel.kinds import EFeature
from neomodel.long_lists import LongList
from neomodel.packed import PackedRow
from neomodel.unstored import UNSET, Place, Unset

if TYPE_CHECKING:
    from neomodel.objects import Element


class Edit:
    """Changes of one object that wait to be written at once, and what has to follow them."""

    def __init__(self, row: PackedRow) -> None:
        self.seen = row
        self.row = row
        self.cells: dict[bytes, bytes | None] = {}
        self.mirroring: list[Callable[[], None]] = []
        """What follows first: the other ends of references, so that children that get stored then have them right."""
        self.following: list[Callable[[], None]] = []
        """What follows then: children's rows, and a move of the object itself."""
        self.bound_for: Place | Unset | None = UNSET
        """Where the object goes after the edit, if it moves."""
        self.children: dict[EFeature, list[Element]] = {}
        """Those that came or went, by the feature that contains them."""

    def stage(self, cells: Mapping[bytes, bytes | None]) -> None:
        self.cells |= cells
        self.row = layout.changed(self.row, cells)


class More:
    """What few objects have beside their rows."""

    __slots__ = ("aside", "edit", "held", "long")

    def __init__(self) -> None:
        self.edit: Edit | None = None
        self.held = False
        """Whether the row stays as it was read, while something is changed that depends on it: see `holding`."""
        self.aside: dict[str, Any] | None = None
        """Values of transient features: they live as long as the Python object."""
        self.long: dict[bytes, tuple[bytes, LongList]] | None = None
        """Long collections, by column, and of which cell each was made."""

    def __bool__(self) -> bool:
        return self.edit is not None or self.held or self.aside is not None or self.long is not None
