"""`make reference`: draws the picture of the architecture, from what stands here."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

FILE = Path(__file__).parent / "architecture.svg"
WIDTH, MARGIN, GAP, ROW = 960, 24, 14, 76

# Each layer: its name, what it is for, and its parts; dependencies point down.
LAYERS = (
    (
        "spark",
        "jobs on every region at once",
        "#e4572e",
        (
            ("DataFrames", "read, write, stream", "one partition per region"),
            ("elements", "live objects in tasks", "remote reads counted"),
            ("transformations", "rules on every region", "no shuffle for traces"),
            ("pipelines", "steps, checks, runs", "recomputed by hash"),
        ),
    ),
    (
        "metamodels",
        "on the layer as any other",
        "#8a4fbf",
        (
            ("your own", "declared in Python", "or read from .ecore"),
            ("ELSA", "external systems", "event and ingest time"),
            ("ANNA", "manual corrections", "replayed, each accounted"),
            ("java, class diagrams", "examples", "and their transformations"),
        ),
    ),
    (
        "neomodel",
        "objects: lazy, one row each",
        "#2a6fbb",
        (
            ("objects", "containment, opposites", "one compare-and-swap"),
            ("cohorts", "n objects, few calls", "the answer to N+1"),
            ("time", "every past state", "stable times, batches"),
            ("files", ".xmi and .ecore", "streamed in and out"),
        ),
    ),
    (
        "stores",
        "rows of cells, all versions kept",
        "#2e8b57",
        (
            ("contract", "get, scan, swap, put", "memory: what it means"),
            ("LMDB", "one folder, embedded", "many processes"),
            ("HBase", "a gateway pair beside", "each region server"),
            ("wrappers", "counting, caching", "faulty, for tests"),
        ),
    ),
)


def picture() -> str:
    """The SVG; its colours follow those of the page."""
    height = 66 + len(LAYERS) * (ROW + 46) + 6
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="13" role="img">',
        "<title>The layers of neomodel</title>",
        "<style>svg{background:#fff;color:#222}.box{fill:#f6f7f9;stroke:#c9ced6}.faint{opacity:.72}"
        "@media (prefers-color-scheme:dark){svg{background:#15181d;color:#e8e8e8}"
        ".box{fill:#20252c;stroke:#3b434e}}</style>",
        _text(MARGIN, 36, "neomodel: what stands on what", size=20, bold=True),
    ]
    for number, layer in enumerate(LAYERS):
        parts.extend(_layer(66 + number * (ROW + 46), *layer, last=number == len(LAYERS) - 1))
    return "\n".join([*parts, "</svg>", ""])


def _layer(
    top: int, name: str, says: str, colour: str, boxes: tuple[tuple[str, str, str], ...], *, last: bool
) -> Iterator[str]:
    yield f'<rect x="{MARGIN}" y="{top}" width="6" height="{ROW + 26}" rx="3" fill="{colour}"/>'
    yield _text(MARGIN + 18, top + 15, f"{name}/" if name != "stores" else "neomodel/stores/", bold=True)
    yield _text(MARGIN + 160, top + 15, says, faint=True)
    width = (WIDTH - 2 * MARGIN - 18 - GAP * (len(boxes) - 1)) / len(boxes)
    for number, (title, *lines) in enumerate(boxes):
        left = MARGIN + 18 + number * (width + GAP)
        yield f'<rect class="box" x="{left:.1f}" y="{top + 26}" width="{width:.1f}" height="{ROW}" rx="8"/>'
        yield _text(left + 12, top + 48, title, bold=True)
        for row, line in enumerate(lines):
            yield _text(left + 12, top + 67 + 17 * row, line, size=12, faint=True)
    if not last:
        middle = WIDTH / 2
        yield f'<path d="M{middle} {top + ROW + 30}v10m-5 -5l5 5l5 -5" fill="none" stroke="currentColor"/>'


def _text(x: float, y: float, text: str, *, size: int = 13, bold: bool = False, faint: bool = False) -> str:
    style = (' font-weight="bold"' if bold else "") + (' class="faint"' if faint else "")
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="currentColor"{style}>{escape(text)}</text>'


if __name__ == "__main__":
    FILE.write_text(picture(), encoding="utf-8")
