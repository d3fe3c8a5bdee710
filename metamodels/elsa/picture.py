"""The history of one record as a picture: event time against ingest time, the versions as areas, a query as a point."""

import json
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

import attrs

import neomodel as nm
from metamodels.elsa.areas import Area, areas
from metamodels.elsa.values import described
from metamodels.elsa.versions import DELETE, Version
from neomodel.times import instant

_WIDTH, _HEIGHT = 940, 660
_LEFT, _RIGHT, _TOP, _BOTTOM = 180, 900, 124, 520
_COLOURS = ("#8ecae6", "#ffd166", "#a7d8a0", "#f4a6a0", "#c3b1e1", "#f6c8e0", "#b8e0d2", "#ffcf9c")
_GREY, _INK, _ASKED = "#e3e3e3", "#222222", "#c1121f"
_LETTER, _BOLD = 7.0, 8.2  # pixels of a letter, about
_SMALLEST = 0.035  # of an axis: where two times lie nearer, all are drawn at equal distances
_YEAR_1971 = 31_536_000_000_000


def picture(title: str, versions: Sequence[Version], query: tuple[int, int] | None = None) -> str:
    """An SVG document. `query` has an event and an ingest time; what it is answered with is told below."""
    asked = [] if query is None else [query]
    across = _Axis.of([*(one.event for one in versions), *(event for event, _ in asked)], _LEFT, _RIGHT)
    up = _Axis.of([*(one.ingest for one in versions), *(ingest for _, ingest in asked)], _BOTTOM, _TOP)
    found = areas(versions)
    colours = _coloured(versions)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="13" fill="{_INK}">',
        '<defs><pattern id="deleted" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="8" height="8" fill="{_GREY}"/><rect width="2" height="8" fill="#bbbbbb"/></pattern></defs>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_LEFT, 34, title, size=20, weight="bold"),
        _text(_LEFT, 58, "Each colour is one version of the record: the answer for all questions in its area."),
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_RIGHT - _LEFT}" height="{_BOTTOM - _TOP}" fill="#fafafa"/>',
        *(_area(area, across, up, colours) for area in found),
        *_labels(found, across, up, [up.at(ingest) for _, ingest in asked]),
        *(_dot(one, across, up) for one in versions),
        *_axes(across, up),
        *(_asked(query, found, across, up) if query else ()),
        *_legend(query is not None),
        "</svg>",
    ]
    return "\n".join(parts)


@attrs.frozen
class _Axis:
    """Where times lie between two ends, which are pixels: to scale, or in equal steps."""

    times: list[int]
    places: list[float]
    start: float
    stop: float
    to_scale: bool

    @classmethod
    def of(cls, given: Iterable[int], start: float, stop: float) -> "_Axis":
        times = sorted(set(given))
        span = times[-1] - times[0] if times else 0
        gaps = [later - sooner for sooner, later in pairwise(times)]
        to_scale = bool(gaps) and min(gaps) >= span * _SMALLEST
        shares = [(time - times[0]) / span if to_scale else at / max(1, len(gaps)) for at, time in enumerate(times)]
        return cls(times, [start + (stop - start) * (0.08 + 0.77 * share) for share in shares], start, stop, to_scale)

    def at(self, time: int | None) -> float:
        return self.stop if time is None else self.places[self.times.index(time)]


def _coloured(versions: Sequence[Version]) -> dict[Version, str]:
    inserts = [one for one in versions if one.operation != DELETE]
    colours = {id(one): _COLOURS[number % len(_COLOURS)] for number, one in enumerate(inserts)}
    return {_known(one): colours.get(id(one), "url(#deleted)") for one in versions}


def _known(version: Version) -> Version:
    """What a version is told from others by: values may not be hashable."""
    return attrs.evolve(version, value=None)


def _area(area: Area, across: _Axis, up: _Axis, colours: dict[Version, str]) -> str:
    left, right, bottom, top = across.at(area.left), across.at(area.right), up.at(area.bottom), up.at(area.top)
    tip = _escaped(f"{shown(area.version)}, event {told(area.version.event)}, ingest {told(area.version.ingest)}")
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" '
        f'fill="{colours[_known(area.version)]}" shape-rendering="crispEdges"><title>{tip}</title></rect>'
    )


def _labels(found: list[Area], across: _Axis, up: _Axis, lines: list[float]) -> Iterable[str]:
    """What each version says, once, in the largest of its areas, as far as there is room, and above those lines."""
    largest: dict[Version, tuple[float, Area]] = {}
    for area in found:
        width, height = across.at(area.right) - across.at(area.left), up.at(area.bottom) - up.at(area.top)
        size = min(width, 200) * min(height, 30)
        if size > largest.get(_known(area.version), (0.0, area))[0]:
            largest[_known(area.version)] = size, area
    for _, area in largest.values():
        width = across.at(area.right) - across.at(area.left)
        text = _cut(shown(area.version), int((width - 14) / _LETTER))
        middle = (up.at(area.bottom) + up.at(area.top)) / 2
        middle -= 20 if any(abs(middle - line) < 14 for line in lines) else 0
        if up.at(area.bottom) - up.at(area.top) > 16 and len(text) > 1:
            yield _text(across.at(area.left) + 10, middle + 5, text)


def _dot(version: Version, across: _Axis, up: _Axis) -> str:
    x, y = across.at(version.event), up.at(version.ingest)
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{_INK}"/>'


def _axes(across: _Axis, up: _Axis) -> Iterable[str]:
    yield f'<path d="M{_LEFT} {_TOP - 8}V{_BOTTOM}H{_RIGHT + 8}" fill="none" stroke="{_INK}" stroke-width="1.5"/>'
    used = -1000.0
    for time, x in zip(across.times, across.places, strict=True):
        yield f'<path d="M{x:.1f} {_BOTTOM}v6" stroke="{_INK}"/>'
        lines = told(time).split(" ")
        if x - used > _LETTER * max(map(len, lines)) + 8:
            used = x
            yield from (_text(x, _BOTTOM + 21 + 15 * row, line, anchor="middle") for row, line in enumerate(lines))
    used = 10_000.0
    for time, y in zip(up.times, up.places, strict=True):
        yield f'<path d="M{_LEFT} {y:.1f}h-6" stroke="{_INK}"/>'
        if used - y > 15:
            used = y
            yield _text(_LEFT - 10, y + 4, told(time), anchor="end", size=11)
    steps = "" if across.to_scale else " (in equal steps, not to scale)"
    yield _text(
        (_LEFT + _RIGHT) / 2, _BOTTOM + 58, f"event time: when it happened{steps} →", anchor="middle", weight="bold"
    )
    steps = "" if up.to_scale else " (in equal steps)"
    yield _text(14, _TOP - 18, f"↑ ingest time: since when we know{steps}", weight="bold")


def _asked(query: tuple[int, int], found: list[Area], across: _Axis, up: _Axis) -> Iterable[str]:
    x, y = across.at(query[0]), up.at(query[1])
    inside = [area for area in found if _holds(area, *query)]
    answer = "nothing was known" if not inside else shown(inside[0].version)
    dashed = f'fill="none" stroke="{_ASKED}" stroke-dasharray="5 4" stroke-width="1.5"'
    yield f'<path d="M{x:.1f} {_BOTTOM}V{y:.1f}H{_LEFT}" {dashed}/>'
    yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="white" stroke="{_ASKED}" stroke-width="3"/>'
    sentence = f"Asked for event {told(query[0])}, as known at {told(query[1])}: {answer}"
    yield _text(_LEFT, 80, _cut(sentence, int((_WIDTH - _LEFT) / _BOLD)), colour=_ASKED, weight="bold")


def _holds(area: Area, event: int, ingest: int) -> bool:
    beside = area.left <= event and (area.right is None or event < area.right)
    return beside and area.bottom <= ingest and (area.top is None or ingest < area.top)


def _legend(asked: bool) -> Iterable[str]:
    y = _BOTTOM + 86
    yield f'<circle cx="{_LEFT + 6}" cy="{y - 4}" r="4" fill="{_INK}"/>'
    yield _text(_LEFT + 18, y, "a version comes in: it answers to the right of here, up to the next event, and upwards")
    yield f'<rect x="{_LEFT}" y="{y + 8}" width="14" height="14" fill="url(#deleted)"/>'
    yield _text(
        _LEFT + 18, y + 20, "deleted: there is no record at these times. Where there is no colour, nothing was known."
    )
    if asked:
        yield f'<circle cx="{_LEFT + 6}" cy="{y + 36}" r="5" fill="white" stroke="{_ASKED}" stroke-width="2.5"/>'
        yield _text(
            _LEFT + 18, y + 40, "the question: what lies to the right had not happened, what lies above was not known"
        )


def shown(version: Version) -> str:
    """What a version says, in a line."""
    if version.operation == DELETE:
        return "deleted"
    if isinstance(version.value, str):
        return version.value
    if isinstance(version.value, bytes):
        return "0x" + version.value.hex()
    said = described(version.value) if isinstance(version.value, nm.Element) else version.value
    return json.dumps(said, ensure_ascii=False)


def told(time: int) -> str:
    """A time as people read it: a date and a time of day, or near 1970, where examples are, a number."""
    if abs(time) < _YEAR_1971:
        return str(time)
    try:
        return instant(time).strftime("%Y-%m-%d %H:%M:%S.%f").removesuffix(".000000").removesuffix(" 00:00:00")
    except (OverflowError, ValueError):
        return str(time)


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: letters - 1] + "…" if letters > 3 else ""


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 13, weight: str = "normal", colour: str = ""
) -> str:
    fill = f' fill="{colour}"' if colour else ""
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}"{fill}'
    return f"<text {where}>{_escaped(text)}</text>"


def _escaped(text: str) -> str:
    """Text for XML, which has no place for most characters that can't be seen."""
    return escape("".join(c if c.isprintable() else "�" for c in text))
