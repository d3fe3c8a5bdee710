"""The row that holds the roots of a model, seen as an object that contains them."""

from typing import TYPE_CHECKING, Any

from neomodel import ids, layout
from neomodel.kinds import EClass
from neomodel.long_cells import is_long, tokens_in
from neomodel.metamodel import ANYTHING, MANY, Class, Package, Reference
from neomodel.objects import build
from neomodel.packages import ecore, link
from neomodel.packed import PackedRow, pack
from neomodel.states import Stored
from neomodel.stores import Row

if TYPE_CHECKING:
    from neomodel.model import Model

_ROOT_PACKAGE = link(
    Package(
        "neomodel",
        "neomodel",
        classifiers=[
            Class(
                layout.ROOT_CLASS,
                features=[Reference(layout.ROOT_CONTENTS, ANYTHING, containment=True, upper=MANY)],
            )
        ],
    ),
    lambda _: ecore(),
    build,
)
ROOT_KIND: EClass = _ROOT_PACKAGE.classifiers[layout.ROOT_CLASS]  # type: ignore[assignment]
ROOTS = ROOT_KIND.features[layout.ROOT_CONTENTS]
ROOTS.known_as = "model.roots"
_EMPTY = pack({})


class RootState(Stored):
    """The row that holds the roots. It is there from the start; the first write to it makes it."""

    __slots__ = ()

    @property
    def kind(self) -> EClass:
        return ROOT_KIND

    @property
    def place(self) -> None:
        return None

    def take(self, row: PackedRow | None, epoch: int) -> None:
        super().take(row or _EMPTY, epoch)

    def swap_row(self, seen: PackedRow, cells: Any) -> None:
        whole = ROOTS.column not in seen or not is_long(cells.get(ROOTS.column) or b"")
        tops = map(self.model.live.get, tokens_in(ROOTS, cells) if whole else ())
        top = next((top for top in tops if top is not None), None)
        if layout.NSURI not in seen and top is not None:
            cells = {**cells, **layout.typed(top._neo.kind.ePackage.nsURI, layout.ROOT_CLASS)}
        super().swap_row(seen, cells)


def as_read(model: "Model", oid: str, row: Row) -> Stored:
    """What a row says, as it was read: it is not read again."""
    state = (RootState if oid == ids.ROOT else Stored).alone(model, oid)
    state.take(pack(row), model.epoch())
    state.having_more().held = True
    return state
