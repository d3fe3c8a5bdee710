"""Random models: what is read from one model and written to another is the same there."""

from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import neomodel as nm
from neomodel.kinds import EClass
from spark import ModelSource
from tests.spark.frames import expected
from tests.spark.people import Firm, Person, people
from tests.spark.random_models import Form, forms, new_model, new_repository
from tests.spark.writing import sound, write
from tests.xmi.random_models import URI, Filled, filled


def loaded(model: nm.Model, **options: str) -> pa.Table:
    """What a DataFrame has of a model, read in this process."""
    source = ModelSource({"store": model.repository.store.url, "model": model.name, **options})
    reader = source.reader(source.schema())
    batches = [batch for part in reader.partitions() for batch in reader.read(part)]
    return pa.Table.from_batches(batches) if batches else pa.table({})


def check(given: Filled) -> None:
    """All objects are made in one job, then what those of each class hold is written to them."""
    with new_model(given, "source") as source:
        target = source.repository.create("target")
        write(target, loaded(source), type=None, size=3)
        kinds = [kind for kind in source.repository.metamodel(URI).eClassifiers if isinstance(kind, EClass)]
        for kind in kinds:
            table = loaded(source, type=kind.name, exact="true")
            if table.num_rows:
                write(target, table, type=kind.name, size=2)
        for kind in kinds:
            assert expected(target, kind, exact=True) == expected(source, kind, exact=True)
        assert {nm.oid(one) for one in source.roots} == {nm.oid(one) for one in target.roots}
        found = {finding.kind for finding in nm.check(source).findings}
        assert {finding.kind for finding in nm.check(target).findings} == found


@forms(short=30, with_long_lists=20, at_length=2000)
def test_a_model_that_is_read_and_written_is_the_same(form: Form) -> None:
    form.run(check, filled)


_features = st.sampled_from(["spouse", "friends", "employer", "children"])
links = st.lists(st.tuples(st.integers(0, 7), _features, st.integers(0, 7)), max_size=24)


def check_people(linked: list[tuple[int, str, int]], cuts: list[int], one_end: bool) -> None:
    """People, with all ends of their references or one, in any number of partitions, are made in one job."""
    with new_repository() as repo:
        repo.register(people)
        source, target = repo.create("source"), repo.create("target")
        found, firm = [Person(name=f"p{number}") for number in range(8)], Firm(name="f")
        nm.identify(firm, "firm")
        source.roots.extend([firm, *found])
        for one, by, other in linked:
            _link(found, firm, one, by, other)
        same = Firm(name="f")
        nm.identify(same, "firm")
        target.roots.append(same)
        table = loaded(source, type="Person")
        if one_end:
            table = table.drop_columns(["children", "head"])
        edges = [0, *sorted(cuts), table.num_rows]
        parts = [table.slice(low, high - low) for low, high in pairwise(edges)]
        write(target, *parts, type="Person", size=3)

        assert sound(target)
        for kind in (Person.eClass, Firm.eClass):
            assert _unordered(expected(target, kind)) == _unordered(expected(source, kind))
        if not one_end:
            assert _listed(target) == _listed(source)


def _link(found: list[Any], firm: Any, one: int, by: str, other: int) -> None:
    if by == "spouse":
        found[one].spouse = found[other]
    elif by == "friends":
        found[one].friends.append(found[other])
    elif by == "employer":
        found[one].employer = firm
    else:
        above = found[one]
        while above is not None and above is not found[other]:
            above = above.eContainer()
        if above is None:
            found[one].children.append(found[other])


def _listed(model: nm.Model) -> list[Any]:
    return [(one.name, [*map(nm.oid, one.children)], [*map(nm.oid, one.friends)]) for one in model.all(Person)]


def _unordered(rows: Any) -> Any:
    return {
        oid: {name: sorted(value) if isinstance(value, list) else value for name, value in row.items()}
        for oid, row in rows.items()
    }


@forms(short=30, with_long_lists=20, at_length=2000)
def test_people_and_what_links_them_are_made_in_one_job(form: Form) -> None:
    form.run(check_people, links, st.lists(st.integers(0, 8), max_size=3), st.booleans())
