"""Small pictures for the report, as SVG that takes its colours from the page."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

import networkx as nx

_WIDTH, _LETTER = 760, 7.2
_BAR, _STEP = 18, 28
_BOX, _HIGH, _GAP = 44, 84, 70


def bars(values: Sequence[tuple[str, int]], unit: str) -> str:
    """A bar for each, with its number; one scale for all."""
    left = 20 + _LETTER * max((len(name) for name, _ in values), default=0)
    most = max((number for _, number in values), default=1) or 1
    parts = []
    for row, (name, number) in enumerate(values):
        y = 8 + row * _STEP
        width = max(1.0, (_WIDTH - left - 110) * number / most)
        parts.append(_text(left - 10, y + 14, name, anchor="end"))
        parts.append(
            f'<rect x="{left:.0f}" y="{y}" width="{width:.1f}" height="{_BAR}" rx="3" fill="var(--accent)">'
            f"<title>{escape(name)}: {number:,} {escape(unit)}</title></rect>"
        )
        parts.append(_text(left + width + 8, y + 14, f"{number:,}"))
    return _svg(16 + _STEP * len(values), parts, f"{unit} by bar")


def graph(arrows: Mapping[str, Sequence[str]], kinds: Mapping[str, str]) -> str:
    """What is made of what, from left to right: by name what it is made of, and what each is."""
    found: nx.DiGraph[str] = nx.DiGraph()
    for name, sources in arrows.items():
        found.add_node(name)
        found.add_edges_from((source, name) for source in sources)
    layers = _layers(found)
    places: dict[str, tuple[float, float, float]] = {}
    x = 8.0
    for layer in layers:
        width = 28 + _LETTER * max(max(len(name), len(kinds.get(name, ""))) for name in layer)
        places |= {name: (x, 10 + _HIGH * row, width) for row, name in enumerate(layer)}
        x += width + _GAP
    parts = [
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>',
        *(_arrow(places[source], places[name]) for source, name in found.edges),
        *(part for name, place in places.items() for part in _box(name, kinds.get(name, ""), place)),
    ]
    return _svg(16 + _HIGH * max(map(len, layers), default=0), parts, "what is made of what", max(x, _WIDTH))


def _layers(found: "nx.DiGraph[str]") -> list[list[str]]:
    """From left to right; what is made of nothing stands just before what is first made of it, so that no arrow passes
    behind another box."""
    depth = {name: at for at, layer in enumerate(nx.topological_generations(found)) for name in layer}
    for name in depth:
        later = [depth[other] for other in found.successors(name)]
        if later and not found.in_degree(name):
            depth[name] = min(later) - 1
    return [sorted(name for name in depth if depth[name] == at) for at in range(max(depth.values(), default=-1) + 1)]


def _box(name: str, kind: str, place: tuple[float, float, float]) -> Iterator[str]:
    x, y, width = place
    frame = f'x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{_BOX}"'
    yield f'<rect {frame} rx="8" fill="var(--card)" stroke="var(--line)"/>'
    yield _text(x + width / 2, y + 19, name, anchor="middle", bold=True)
    yield _text(x + width / 2, y + 35, kind, anchor="middle", size=11)


def _arrow(start: tuple[float, float, float], end: tuple[float, float, float]) -> str:
    from_x, from_y, to_x, to_y = start[0] + start[2], start[1] + _BOX / 2, end[0], end[1] + _BOX / 2
    middle = (from_x + to_x) / 2
    path = f"M{from_x:.0f} {from_y:.0f}C{middle:.0f} {from_y:.0f} {middle:.0f} {to_y:.0f} {to_x - 2:.0f} {to_y:.0f}"
    return f'<path d="{path}" fill="none" stroke="currentColor" marker-end="url(#tip)"/>'


def _svg(height: float, parts: Sequence[str], title: str, width: float = _WIDTH) -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="{escape(title)}">{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 13, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}" fill="currentColor"{weight}>'
        f"{escape(text)}</text>"
    )
