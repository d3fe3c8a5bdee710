"""The report of a run as a page that needs nothing else: no script, font or picture from elsewhere; light and dark."""

from collections.abc import Iterable, Iterator
from html import escape

from metamodels.anna.differences import Diff
from metamodels.anna.report import MOST, Table, facts, headline, tables
from metamodels.anna.run_records import Run

STYLE = """
:root { color-scheme: light dark; --back: #fbfbf9; --card: #fff; --ink: #1d1f21; --soft: #62676d; --line: #e2e2dd;
  --good: #1a7f4b; --bad: #b3261e; --warn: #946200; --goodback: #e7f4ec; --badback: #fbe9e7; --warnback: #fbf2dc; }
@media (prefers-color-scheme: dark) { :root { --back: #16181a; --card: #1e2124; --ink: #e6e6e3; --soft: #9aa0a6;
  --line: #33373b; --good: #6fcf97; --bad: #f2938c; --warn: #e7b75f; --goodback: #17301f; --badback: #3a1c1a;
  --warnback: #35290f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.5rem; margin: 0 0 .75rem; line-height: 1.25; }
h2 { font-size: 1.05rem; margin: 2.25rem 0 .5rem; }
.said { display: inline-block; padding: .25rem .75rem; border-radius: 1rem; font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.said.good { background: var(--goodback); } .said.bad { background: var(--badback); }
.said.warn { background: var(--warnback); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: .6rem 1.5rem; }
dt { color: var(--soft); font-size: .8rem; } dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .4rem .8rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-size: .8rem; font-weight: 600; white-space: nowrap; }
tbody tr:last-child td { border-bottom: 0; }
td { overflow-wrap: break-word; min-width: 4rem; max-width: 40rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
p.more, p.none { color: var(--soft); margin: .4rem 0 0; }
"""


def page(run: Run, diff: Diff | None = None, *, most: int = MOST) -> str:
    """The whole page. Whatever text comes from data is text in it, and nothing else."""
    return "\n".join(_page(run, tables(run, diff, most=most)))


def _page(run: Run, found: Iterable[Table]) -> Iterator[str]:
    said, tone = headline(run)
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    yield f"<title>{shown(run.name)}</title><style>{STYLE}</style></head><body><main>"
    yield f"<h1>{shown(run.process)}, run {run.number}</h1>"
    yield f'<p class="said {tone}">{shown(said)}</p>'
    yield "<dl>"
    yield from (f"<div><dt>{shown(name)}</dt><dd>{shown(value)}</dd></div>" for name, value in facts(run))
    yield "</dl>"
    for table in found:
        yield from section(table)
    yield "</main></body></html>"


def section(table: Table) -> Iterator[str]:
    """A table of a report, under its title."""
    yield f"<section><h2>{shown(table.title)}</h2>"
    if not table.rows:
        yield '<p class="none">none</p></section>'
        return
    numbers = [' class="number"' if name in table.numbers else "" for name in table.columns]
    heads = "".join(f'<th scope="col"{n}>{shown(c)}</th>' for c, n in zip(table.columns, numbers, strict=True))
    yield f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>'
    for at, row in enumerate(table.rows):
        cells = "".join(f"<td{number}>{shown(cell)}</td>" for cell, number in zip(row, numbers, strict=True))
        tone = f' class="{table.tones[at]}"' if table.tones and table.tones[at] != "plain" else ""
        yield f"<tr{tone}>{cells}</tr>"
    yield "</tbody></table></div>"
    if table.more:
        yield f'<p class="more">and {table.more:,} more</p>'
    yield "</section>"


def shown(text: str) -> str:
    """Text for HTML, in which characters that can't be seen are shown."""
    visible = "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)
    return escape(visible)
