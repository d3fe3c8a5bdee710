"""How a file has features of its objects, where that is not as EMF has them by default: by other names, as elements or
as text. A model remembers that for each feature, and its files are written so again."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from neomodel.kinds import EFeature

if TYPE_CHECKING:
    from neomodel.xmi.shapes import Slot

ELEMENT, TEXT = "element", "text"
"""The forms that a single value may have, beside that of an attribute: an element, or the text of its object's own."""


def spelled(slots: "Iterable[Slot]") -> Iterator[dict[str, str]]:
    """What is kept of these features, once each."""
    seen = set()
    for slot in slots:
        if (slot.form or slot.spelled) and slot.feature not in seen:
            seen.add(slot.feature)
            form = slot.form if not slot.many and slot.group is None else ""
            if form or slot.spelled:
                yield {"feature": _key(slot.feature), "form": form, "name": slot.spelled}


class Spellings:
    """How a model's features are written."""

    def __init__(self, kept: Iterable[dict[str, str]] = ()) -> None:
        self._kept = {entry["feature"]: entry for entry in kept}

    def name(self, feature: EFeature) -> str:
        """The name that stands for it."""
        return self._of(feature).get("name") or feature.name

    def form(self, feature: EFeature) -> str:
        """What its value comes in, if not in an attribute."""
        return self._of(feature).get("form", "")

    def _of(self, feature: EFeature) -> dict[str, str]:
        return self._kept.get(_key(feature), {}) if self._kept else {}


def _key(feature: EFeature) -> str:
    return f"{feature.eContainingClass.type_name}/{feature.name}"
