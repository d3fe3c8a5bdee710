"""`make demo`: the main job on the embedded store, in a temporary folder, with what it costs."""

import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import neomodel as nm
from neomodel.stores import open_store
from neomodel.stores.wrappers import Counting

DEPARTMENTS, PEOPLE = 50, 200
VISITS = 200_000

firm = nm.package("firm", "http://example.org/firm")


@firm.define
class Department:
    name: str
    people: list["Person"] = nm.contains(opposite="department")
    visits: list[str]


@firm.define
class Person:
    name: str
    salary: int = 3000
    department: Department | None = nm.reference(opposite="people")
    boss: "Person | None" = nm.reference(opposite="team")
    team: set["Person"] = nm.reference(opposite="boss")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="neomodel-demo-") as folder:
        url = f"lmdb:{folder}/demo.db"
        _build(url)
        with Counting(open_store(url)) as store:
            model = _open(store)
            person = _navigate(store, model)
            before = store.table("acme").now()
            _edit(person, url)
            _past(model, person, before)
            _files(model, Path(folder) / "acme.xmi")
            _long(store, person.department)
            _row(person)


def _build(url: str) -> None:
    with nm.connect(url) as repository:
        repository.register(firm)
        model = repository.create("acme")
        with _step(f"built a model of {DEPARTMENTS * (PEOPLE + 1):,} objects, on disk"):
            model.roots.extend(_department(number) for number in range(DEPARTMENTS))


def _department(number: int) -> Any:
    people = [firm.Person(name=f"Person {number}.{count}") for count in range(PEOPLE)]
    for person in people[1:]:
        person.boss = people[0]
    return firm.Department(name=f"Department {number}", people=people)


def _open(store: Counting) -> nm.Model:
    with _step("opened it again: nothing is loaded"):
        return nm.Repository(store).open("acme")


def _navigate(store: Counting, model: nm.Model) -> Any:
    with _step("walked from a root to a colleague of its last person, as plain objects"):
        last = model.roots[-1].people[-1]
        colleague = last.boss.team[0]
    print(f"    {colleague.name} works in {colleague.department.name}, the boss is {colleague.boss.name}")

    store.reset()
    with _step(f"added up the salaries of all {DEPARTMENTS * PEOPLE:,} people"):
        total = sum(person.salary for person in model.all(firm.Person))
    print(f"    {total:,}, in {store.calls.total()} calls to the store")
    return colleague


def _edit(person: Any, url: str) -> None:
    with _step("changed two features by one compare-and-swap, on disk when it returned"), nm.edit(person):
        person.name = "Ada"
        person.salary = 4200

    with nm.connect(url) as elsewhere:
        other = elsewhere.open("acme")[str(nm.oid(person))]
        try:
            with nm.edit(person):
                person.salary += 100
                other.salary += 1  # somebody else, at the same time
        except nm.Conflict as conflict:
            print(textwrap.indent(textwrap.fill(str(conflict), 76), "    "))
    nm.redo(lambda: _raise_salary(person, 100))
    print(f"    done again, on what the other one left: {person.salary}")


def _raise_salary(person: Any, amount: int) -> None:
    with nm.edit(person):
        person.salary += amount


def _past(model: nm.Model, person: Any, before: int) -> None:
    with _step("opened the model as it was before that"):
        then = model.repository.open("acme", as_of=before)[str(nm.oid(person))]
        was = then.name, then.salary
    print(f"    now {person.name} has {person.salary}; then {was[0]} had {was[1]}")

    for revision in nm.history(person)[1:]:
        changes = ", ".join(
            f"{name} {change.before!r} -> {change.after!r}" for name, change in revision.changes.items()
        )
        print(f"    {revision.when:%H:%M:%S.%f}  {changes}")


def _files(model: nm.Model, path: Path) -> None:
    with _step("wrote the model to a file of XMI, and read that as another model"):
        out = model.export_xmi(path)
        back = model.repository.import_xmi(path, model="again")
    print(f"    {back.elements:,} objects, {back.references:,} references, {path.stat().st_size:,} bytes: {path.name}")
    print(f"    {out.rate:,.0f} objects/s out, {back.elements / back.seconds:,.0f} in")


def _long(store: Counting, department: Any) -> None:
    with _step(f"gave a department a list of {VISITS:,} visits"):
        department.visits.extend(f"visitor {number}" for number in range(VISITS))
    store.reset()
    with _step("appended one more, and read three in the middle"):
        department.visits.append("the last one")
        middle = department.visits[VISITS // 2 : VISITS // 2 + 3]
    print(f"    {', '.join(middle)}: {store.cells_written} cell written, {store.calls.total()} calls to the store")


def _row(person: Any) -> None:
    print("             the object's row, as it lies in the store")
    for column, value in person.eResource.table.get(str(nm.oid(person)).encode()).items():
        print(f"    {column.decode():12} {value.decode()}")


@contextmanager
def _step(what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    print(f"{(time.perf_counter() - start) * 1000:8.1f} ms  {what}", flush=True)


if __name__ == "__main__":
    main()
