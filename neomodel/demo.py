"""`make demo`: the main job on the embedded store, in a temporary folder, with what it costs."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from neomodel.stores import VERSION, Mutation, open_store, successor
from neomodel.stores.wrappers import Counting

PACKAGES, CLASSES = 100, 200


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="neomodel-demo-") as folder:
        url = f"lmdb:{folder}/demo.db"
        _write(url)
        _read(url)


def _write(url: str) -> None:
    with open_store(url) as store:
        table = store.table("jdt")
        table.create("pct")
        with _step(f"wrote {PACKAGES * (CLASSES + 1):,} elements, each a row of 5 cells"):
            table.put_many(_elements())


def _elements() -> Iterator[Mutation]:
    for package in range(PACKAGES):
        yield _element(b"p%03d" % package, b"ROOT", b"eContents", b"Package")
        for number in range(CLASSES):
            yield _element(
                b"p%03d.c%04d" % (package, number), b"p%03d" % package, b"ownedElements", b"ClassDeclaration"
            )


def _element(key: bytes, container: bytes, feature: bytes, eclass: bytes) -> Mutation:
    cells = {b"p:name": b"name of " + key, b"c:container": container, b"c:feature": feature, b"t:eclass": eclass}
    return Mutation(key, {**cells, VERSION: successor(None)})


def _read(url: str) -> None:
    with _step("opened the store again and read one element"), open_store(url) as store:
        store.table("jdt").get(b"p042.c0007")

    with Counting(open_store(url)) as store:
        table = store.table("jdt")
        with _step("read a package and its classes by one scan of a key range"):
            rows = sum(1 for _ in table.scan(b"p042", b"p043"))
        print(f"    {rows} rows in {store.calls['scan']} call, {store.cells_read:,} cells")

        before = table.now()
        row = table.get(b"p042.c0007") or {}
        with _step("renamed a class by compare-and-swap, on disk when it returned"):
            won = table.swap(b"p042.c0007", row[VERSION], {b"p:name": b"Renamed", VERSION: successor(row[VERSION])})
        late = table.swap(b"p042.c0007", row[VERSION], {b"p:name": b"Late", VERSION: successor(row[VERSION])})
        print(f"    the first swap won: {won}; a second one with the same version: {late}")

        now, then = table.get(b"p042.c0007") or {}, table.get(b"p042.c0007", at=before) or {}
        print(f"    now {now[b'p:name']!r}, as of a moment ago {then[b'p:name']!r}")
        print(f"    ranges for parallel work: {[region.start for region in table.regions()]}")


@contextmanager
def _step(what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    print(f"{(time.perf_counter() - start) * 1000:8.1f} ms  {what}", flush=True)


if __name__ == "__main__":
    main()
