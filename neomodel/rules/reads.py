"""What rules read: a model whose objects note each feature that is asked of them."""

from typing import TYPE_CHECKING, Any

from neomodel.kinds import EClass, EFeature
from neomodel.model import Model
from neomodel.states import Stored

if TYPE_CHECKING:
    from neomodel.repository import Repository

PLACE = "/"
"""Noted in place of a feature: where an object lies."""
CLASS = ""
"""Noted in place of a feature: that there is an object, and of which class."""
EXISTENCE = frozenset({CLASS})


class Reads:
    """Where it is noted what is read: names of features, by the ids of objects."""

    def __init__(self) -> None:
        self._noted: dict[str, set[str]] = {}

    def note(self, oid: str, name: str) -> None:
        found = self._noted.get(oid)
        if found is None:
            self._noted[oid] = {name}
        else:
            found.add(name)

    def add(self, noted: dict[str, set[str]]) -> None:
        """Note what was read before, and is used again."""
        for oid, names in noted.items():
            found = self._noted.get(oid)
            if found is None:
                self._noted[oid] = set(names)
            else:
                found |= names

    def taken(self) -> dict[str, set[str]]:
        """What was noted since this was asked for last."""
        noted, self._noted = self._noted, {}
        return noted

    def into(self, noted: dict[str, set[str]]) -> "_Into":
        """Note what is read in the block here."""
        return _Into(self, noted)


class _Into:
    """A block in which reads are noted elsewhere."""

    __slots__ = ("_before", "_noted", "_reads")

    def __init__(self, reads: Reads, noted: dict[str, set[str]]) -> None:
        self._reads, self._noted = reads, noted

    def __enter__(self) -> None:
        self._before, self._reads._noted = self._reads._noted, self._noted

    def __exit__(self, *error: object) -> None:
        self._reads._noted = self._before


class Watched(Stored):
    """The state of an object of such a model."""

    __slots__ = ()
    model: "WatchedModel"

    @property
    def kind(self) -> EClass:
        self.model.reads.note(self.oid, CLASS)
        return super().kind

    def raw(self, feature: EFeature) -> Any:
        self.model.reads.note(self.oid, feature.name)
        return super().raw(feature)

    @property
    def place(self) -> Any:
        self.model.reads.note(self.oid, PLACE)
        return super().place

    @property
    def container(self) -> Any:
        self.model.reads.note(self.oid, PLACE)
        return super().container


class WatchedModel(Model):
    """A model as of a time that notes what is read of its objects."""

    state = Watched

    def __init__(self, repository: "Repository", name: str, as_of: int | None, *, unstable: bool = False) -> None:
        self.reads = Reads()
        super().__init__(repository, name, as_of, unstable=unstable)
