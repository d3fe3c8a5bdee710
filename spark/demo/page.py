"""What the demo leaves: one page that needs nothing else, light and dark, with what was done and pictures of it."""

from collections.abc import Iterator

from metamodels.anna import report, report_html
from metamodels.anna.report_html import shown
from metamodels.elsa.picture import picture
from spark.demo.charts import bars, graph
from spark.demo.modelling import Modelled
from spark.demo.reporting import BOSS, Reported, income
from spark.demo.telling import Teller

_STYLE = """
:root { --accent: #2a6fbb; } @media (prefers-color-scheme: dark) { :root { --accent: #6aa9f0; } }
figure { margin: .5rem 0 0; padding: 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  overflow-x: auto; } figure svg { max-width: none; } figcaption { color: var(--soft); margin-bottom: .5rem; }
figure.paper { background: #fff; } figure.paper figcaption { color: #62676d; } /* in the dark, too */
nav a { margin-right: 1.2rem; color: var(--accent); }
.took { color: var(--soft); white-space: nowrap; text-align: right; font-variant-numeric: tabular-nums; }
"""
_PARTS = {"done": "What was done", "model": "A model", "time": "Two times", "product": "A data product"}


def page(url: str, tell: Teller, model: Modelled, product: Reported) -> str:
    """The whole page. Text that comes from data is text in it, and nothing else."""
    return "\n".join(_page(url, tell, model, product))


def _page(url: str, tell: Teller, model: Modelled, product: Reported) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    yield f"<title>neomodel: the demo</title><style>{report_html.STYLE}{_STYLE}</style></head><body><main>"
    yield f"<h1>neomodel: the demo</h1><p>On {shown(url)}.</p>"
    yield "<nav>" + "".join(f'<a href="#{name}">{title}</a>' for name, title in _PARTS.items()) + "</nav>"
    yield from _part("done", _steps(tell))
    yield from _part("model", _model(model))
    yield from _part("time", _time(product))
    yield from _part("product", _product(product))
    yield "</main></body></html>"


def _part(name: str, lines: Iterator[str]) -> Iterator[str]:
    yield f'<h1 id="{name}" style="margin-top:3rem">{_PARTS[name]}</h1>'
    yield from lines


def _steps(tell: Teller) -> Iterator[str]:
    yield '<div class="scroll"><table><tbody>'
    for what, seconds, lines in tell.steps:
        took = f"{seconds * 1000:,.1f} ms" if seconds < 1 else f"{seconds:,.1f} s"
        more = "".join(f"<br><small>{shown(line)}</small>" for line in lines)
        yield f'<tr><td class="took">{took}</td><td>{shown(what)}{more}</td></tr>'
    yield "</tbody></table></div>"


def _model(model: Modelled) -> Iterator[str]:
    yield _figure(
        "Objects of the source and of the tables that were made of it, by class", bars(model.classes, "objects")
    )
    parts = [
        (f"part {number}, {host}", part["elements"])
        for number, (part, (host, _)) in enumerate(zip(model.run.parts, model.regions, strict=True), 1)
    ]
    yield _figure("Elements in each part of the work: one for each region, done beside it", bars(parts, "elements"))
    applied = sorted(model.run.applications.items(), key=lambda item: -item[1])
    yield _figure("How often each rule was applied", bars(applied, "applications"))


def _time(product: Reported) -> Iterator[str]:
    drawn = picture(f"payroll, {BOSS}: what was known of the boss, and when", product.versions, product.asked)
    yield _figure("The question is that of the first report: what came in later is above it", drawn, kind="paper")


def _product(product: Reported) -> Iterator[str]:
    arrows = {step.name: list(step.inputs) for step in income.steps}
    kinds = {name: "external system" for inputs in arrows.values() for name in inputs} | dict.fromkeys(arrows, "step")
    yield _figure("What is made of what", graph(arrows, kinds))
    for what, run in (
        ("The first run", product.first),
        ("With the correction", product.corrected),
        ("With what the payroll told since", product.renewed),
        ("The first run, again", product.again),
    ):
        said, tone = report.headline(run)
        yield f'<h2>{shown(what)}</h2><p class="said {tone}">{shown(said)}</p>'
        yield from (line for table in report.tables(run) if table.rows for line in report_html.section(table))
    yield f"<h2>Proof</h2><p>{shown(product.proved)}</p>"
    yield "<h2>What the new data changed, and why</h2>"
    for table in report.changes(product.diff):
        yield from report_html.section(table)


def _figure(caption: str, svg: str, kind: str = "") -> str:
    return f'<figure class="{kind}"><figcaption>{shown(caption)}</figcaption>{svg}</figure>'
