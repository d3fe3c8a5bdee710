"""`make bench`: runs every benchmark, and writes one page and the plots into `benchmarks/results`: one table of all
that has a peer or a raw floor, then what has none, and growth.

With `QUICK=1` small sizes and few rounds, into `benchmarks/quick`: two to three minutes, to see that all of it runs;
start-up is most of what is measured then, so nothing is judged. Names of benchmarks as arguments run those only. A
figure below what is wanted is marked, and the exit status says so.
"""

import datetime
import gc
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import (
    backup,
    corrections,
    elsa,
    elsa_sync,
    growth,
    hbase_store,
    lmdb_store,
    machine,
    objects,
    plots,
    spark_read,
    spark_write,
    transforming,
    xmi_in,
    xmi_out,
)
from benchmarks.measure import QUICK, Comparison, Growth, Measured, table

BENCHMARKS: dict[str, Callable[[], Sequence[Measured]]] = {
    "lmdb_store": lmdb_store.report,
    "hbase_store": hbase_store.report,
    "objects": objects.report,
    "growth": lambda: [growth.growth()],
    "xmi_in": xmi_in.report,
    "xmi_out": xmi_out.report,
    "spark_read": lambda: [*spark_read.report(), spark_read.growth()],
    "spark_write": spark_write.report,
    "transforming": lambda: [*transforming.report(), transforming.growth()],
    "elsa": elsa.report,
    "elsa_sync": elsa_sync.report,
    "backup": backup.report,
    "corrections": corrections.report,
}
FOLDER = Path(__file__).parent / ("quick" if QUICK else "results")


def main(names: Sequence[str]) -> int:
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"there is no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    found: list[Measured] = []
    noise: list[str] = []
    command = " ".join(["QUICK=1"] * QUICK + ["make bench" if not names else _run(names)])
    for name in names or BENCHMARKS:
        others = machine.taken()
        if others > machine.BUSY:
            noise.append(f"{name}: others used {others:.0%} of the cores when it began")
        gc.collect()
        gc.freeze()  # what others left is not for this one to search
        began = time.perf_counter()
        print(f"{name} ...", file=sys.stderr, flush=True)
        measured = BENCHMARKS[name]()
        print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        print(*measured, sep="\n\n", end="\n\n", flush=True)
        found.extend(measured)
        page = _write(found, noise, command)  # each time: what comes later may fail
    print(f"{page} has all of it", file=sys.stderr)
    return int(not all(one.reached for one in found))


def _run(names: Sequence[str]) -> str:
    return f"python -m benchmarks {' '.join(names)}"


def _write(found: list[Measured], noise: list[str], command: str) -> Path:
    """The page and the plots. What was measured in an earlier run and not in this one is not in them."""
    FOLDER.mkdir(exist_ok=True)
    warnings = [f"**Noisy.** {line}." for line in noise] or ["Nothing else ran on it when each began."]
    sizes = "Small sizes, few rounds: figures say little." if QUICK else ""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    head = ["# Measured", "", f"`{command}`, {day}, on {machine.told()}. {sizes}".rstrip(), "", *warnings]
    comparisons = [one for one in found if isinstance(one, Comparison)]
    curves = [one for one in found if isinstance(one, Growth)]
    if comparisons:
        (FOLDER / "ratios.svg").write_text(plots.ratios(comparisons), encoding="utf-8")
        head += ["", "![ratios](ratios.svg)"]
    if curves:
        (FOLDER / "growth.svg").write_text(plots.growths(curves), encoding="utf-8")
        head += ["", "![growth](growth.svg)"]
    page = FOLDER / "README.md"
    alone = [str(one) for one in found if not isinstance(one, Comparison)]
    tables = [table(comparisons), *alone] if comparisons else alone
    page.write_text("\n".join(head) + "\n\n" + "\n\n".join(tables) + "\n", encoding="utf-8")
    return page


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
