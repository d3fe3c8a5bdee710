"""What was measured, drawn as SVG: ratios as bars beside what is wanted, growth as curves on logarithmic axes."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

from benchmarks.measure import Comparison, Growth, Result

_WIDTH, _LEFT, _RIGHT = 960, 430, 60
_BAR, _STEP = 14, 24
_COLOURS = ("#2a6fbb", "#e4572e", "#2e8b57", "#8a4fbf")
_STYLE = (
    "<style>svg{background:#fff;color:#222}.line{stroke:#c9ced6}.good{fill:#2a6fbb}.low{fill:#e4572e}"
    "@media (prefers-color-scheme:dark){svg{background:#15181d;color:#e8e8e8}.line{stroke:#3b434e}}</style>"
)


def ratios(comparisons: Sequence[Comparison]) -> str:
    """A bar for each job: neomodel's rate over the peer's, on a logarithmic axis; a tick where it is wanted to be."""
    rows = [(comparison, result) for comparison in comparisons for result in comparison.results]
    low, high = _bounds(
        [result.ratio for _, result in rows] + [result.case.wanted or 1.0 for _, result in rows] + [1.0]
    )
    height = 90 + _STEP * (len(rows) + len(comparisons)) + 20

    def x(ratio: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * math.log(ratio / low) / math.log(high / low)

    parts = _framed(height, "neomodel beside others, by rate (logarithmic)")
    parts.append(_text(16, 56, "Right of 1x: faster. Black: what is wanted. Red: below that.", size=12))
    for value in _ticks(low, high):
        parts.append(f'<path class="line" d="M{x(value):.1f} 62V{height - 16}"/>')
        parts.append(_text(x(value), 56, f"{value:g}x", anchor="middle", size=11))
    y = 84
    for comparison in comparisons:
        parts.append(_text(16, y, f"{comparison.title} — beside {comparison.peer}", bold=True, size=12))
        y += _STEP
        for result in comparison.results:
            parts.extend(_bar(result, y, x))
            y += _STEP
    return _closed(parts)


def _bar(result: Result, y: float, x: Callable[[float], float]) -> Iterator[str]:
    start, end = sorted((x(1.0), x(result.ratio)))
    yield _text(_LEFT - 12, y + 4, result.case.name, anchor="end", size=12)
    kind, width = "good" if result.reached else "low", max(1.0, end - start)
    yield f'<rect class="{kind}" x="{start:.1f}" y="{y - 8}" width="{width:.1f}" height="{_BAR}" rx="3"/>'
    ends = [end, x(1.0)]
    if result.case.wanted:
        wanted = x(result.case.wanted)
        ends += [wanted] if wanted < max(ends) + 40 else []  # a number is not written across it
        yield f'<path d="M{wanted:.1f} {y - 11}v{_BAR + 6}" stroke="currentColor" stroke-width="2"/>'
    yield _text(max(ends) + 8, y + 4, result.told, size=11)


def growths(found: Sequence[Growth]) -> str:
    """A panel for each: what one thing costs against how many there are, both logarithmic. Level is what is wanted."""
    panel = 300
    parts = _framed(60 + panel * len(found), "What one costs, by how many there are (both logarithmic)")
    for number, growth in enumerate(found):
        parts.extend(_panel(growth, 60 + panel * number, panel))
    return _closed(parts)


def _panel(growth: Growth, top: float, height: float) -> Iterator[str]:
    left, right, bottom = 90, _WIDTH - 270, top + height - 60
    low, high = _bounds([cost for curve in growth.costs.values() for cost in curve])
    first, last = _bounds(growth.sizes)

    def x(size: float) -> float:
        return left + (right - left) * math.log(size / first) / math.log(last / first)

    def y(cost: float) -> float:
        return bottom - (bottom - top - 34) * math.log(cost / low) / math.log(high / low)

    yield _text(16, top + 14, growth.title, bold=True)
    for value in _ticks(low, high):
        yield f'<path class="line" d="M{left} {y(value):.1f}H{right}"/>'
        yield _text(left - 8, y(value) + 4, f"{value:g}", anchor="end", size=11)
    for value in _ticks(first, last):
        yield f'<path class="line" d="M{x(value):.1f} {bottom}v6"/>'
        yield _text(x(value), bottom + 20, f"{value:,.0f}", anchor="middle", size=11)
    yield _text((left + right) / 2, bottom + 38, growth.things, anchor="middle", size=12)
    for number, (name, curve) in enumerate(growth.costs.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        points = [(x(size), y(cost)) for size, cost in zip(growth.sizes, curve, strict=True)]
        path = "L".join(f"{px:.1f} {py:.1f}" for px, py in points)
        yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        yield from (f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3.5" fill="{colour}"/>' for px, py in points)
        yield f'<circle cx="{right + 26}" cy="{top + 40 + 22 * number}" r="5" fill="{colour}"/>'
        yield _text(right + 38, top + 44 + 22 * number, name, size=12)


def _bounds(values: Iterable[float]) -> tuple[float, float]:
    """A decade's part below the least and above the greatest."""
    positive = [value for value in values if value > 0]
    return min(positive) / 1.3, max(positive) * 1.3


def _ticks(low: float, high: float) -> list[float]:
    """Numbers that people count in: 1, 2, 5 of each decade, or powers of ten if those would be many."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(decades) <= 3 else (1,)
    return [float(f"{step}e{decade}") for decade in decades for step in steps if low <= step * 10.0**decade <= high]


def _framed(height: float, title: str) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        'font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="13" fill="currentColor" role="img">',
        f"<title>{escape(title)}</title>",
        _STYLE,
        _text(16, 30, title, bold=True, size=17),
    ]


def _closed(parts: list[str]) -> str:
    return "\n".join([*parts, "</svg>", ""])


def _text(x: float, y: float, text: str, *, size: int = 13, bold: bool = False, anchor: str = "start") -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'
