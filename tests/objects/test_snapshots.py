"""A model as it was: whole, read-only, kept in memory, with the classes of then; and what is refused."""

import datetime
import gc
import pickle
from typing import Any

import pytest

import neomodel as nm
from neomodel.metamodel import ECORE, Attribute, Class, Package, Reference, TypeName
from neomodel.repository import Repository
from neomodel.stores import open_store
from neomodel.stores.wrappers import Counting
from tests.objects.library import Book, library, stocked

STRING = TypeName(ECORE, "EString")
BASE, TOP = "http://base", "http://top"


def now(model: nm.Model) -> int:
    return model.table.now()


def test_a_snapshot_reads_as_the_model_did_then(repo: Repository, model: nm.Model) -> None:
    shelf, a, b = stocked(model, a={}, b={"related": []})
    b.related.append(a)
    then = now(model)
    a.name, b.related = "changed", []
    shelf.books.append(Book(name="c"))
    oid = nm.oid(b)
    nm.delete(b)

    past = repo.open("m", as_of=then)

    assert [book.name for book in past[nm.oid(shelf)].books] == ["a", "b"]
    assert [book.name for book in past[oid].related] == ["a"]
    assert repo.open("m", as_of=then) is past
    with pytest.raises(nm.ReadOnly):
        past[nm.oid(a)].name = "x"


def test_a_time_may_be_an_aware_datetime(repo: Repository, model: nm.Model) -> None:
    _, a = stocked(model, a={})
    then = now(model)
    a.name = "b"
    moment = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(microseconds=then)

    assert repo.open("m", as_of=moment)[nm.oid(a)].name == "a"


@pytest.mark.parametrize("bad", ["yesterday", datetime.datetime(2024, 1, 1), True, -1, 1.5])
def test_what_is_no_time_is_refused(repo: Repository, model: nm.Model, bad: Any) -> None:
    with pytest.raises(nm.InvalidValue, match="aware datetime"):
        repo.open("m", as_of=bad)


def test_a_time_that_is_not_stable_is_refused_unless_asked_for_by_name(repo: Repository, model: nm.Model) -> None:
    _, a = stocked(model, a={})
    with nm.batch(repo):
        a.name = "b"
        then = now(model)
        with pytest.raises(nm.NotStable, match=f"as of {then} .*stable up to {repo.stable('m')} .*unstable=True"):
            repo.open("m", as_of=then)

        early = repo.open("m", as_of=then, unstable=True)
        assert (early[nm.oid(a)].name, early.unstable) == ("b", True)
        with pytest.raises(nm.ReadOnly):
            early[nm.oid(a)].name = "c"
    assert repo.open("m", as_of=then, unstable=True).unstable is False, "it is stable by now"


def test_what_was_stable_where_it_was_pickled_is_so_where_it_arrives(lmdb_url: str) -> None:
    """Also if the clock there is behind; here, if a batch came between that it knows of and the other one did not."""
    with nm.connect(lmdb_url) as repo:
        repo.register(library)
        _, a = stocked(model := repo.create("m"), a={})
        pickled = pickle.dumps(repo.open("m", as_of="stable")[nm.oid(a)])
        assert pickle.loads(pickled).name == "a"
        with nm.batch(repo):
            a.name = "b"
            unstable = pickle.dumps(repo.open("m", as_of=now(model), unstable=True)[nm.oid(a)])
            assert pickle.loads(unstable).name == "b"
            assert pickle.loads(pickled).name == "a"


def test_the_stable_time_of_a_model_that_is_not_there_is_not_told(repo: Repository) -> None:
    with pytest.raises(nm.ModelNotFound):
        repo.stable("nowhere")


def test_a_time_in_the_future_is_refused(repo: Repository, model: nm.Model) -> None:
    with pytest.raises(nm.NotStable):
        repo.open("m", as_of=datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1))


def test_a_time_before_the_model_was_created_is_refused(repo: Repository, model: nm.Model) -> None:
    before = now(model)
    repo.create("later")

    with pytest.raises(nm.ModelNotFound, match=f"'later' .* as of {before} .*created later"):
        repo.open("later", as_of=before)
    assert list(repo.open("later", as_of=now(model)).roots) == []


def test_as_of_stable_a_model_is_empty_that_was_created_since(repo: Repository) -> None:
    with nm.batch(repo):
        stocked(repo.create("new"), a={})
        assert list(repo.open("new", as_of="stable").roots) == []
    assert len(repo.open("new", as_of="stable").roots) == 1


def test_a_model_that_was_dropped_takes_its_past_along(repo: Repository, model: nm.Model) -> None:
    _, a = stocked(model, a={})
    then = now(model)
    assert repo.open("m", as_of=then)[nm.oid(a)].name == "a"
    repo.drop("m")
    again = repo.create("m")

    with pytest.raises(nm.ModelNotFound, match="created later"):
        repo.open("m", as_of=then)
    assert list(repo.open("m", as_of="stable").all(Book)) == []
    assert list(repo.open("m", as_of=now(again)).all(Book)) == []


def test_a_time_before_what_was_purged_is_refused(repo: Repository, model: nm.Model) -> None:
    _, a = stocked(model, a={})
    then = now(model)
    a.name = "b"
    model.table.purge(now(model))

    with pytest.raises(nm.Purged):
        repo.open("m", as_of=then)
    assert repo.open("m", as_of="stable")[nm.oid(a)].name == "b"


def test_references_lead_into_other_models_as_they_were(repo: Repository, model: nm.Model) -> None:
    _, a = stocked(model, a={})
    _, far = stocked(repo.create("other"), far={})
    a.related.append(far)
    then = now(model)
    far.name = "changed"

    past = repo.open("m", as_of=then)[nm.oid(a)].related[0]

    assert (past.name, past.eResource.name, past.eResource.as_of) == ("far", "other", then)


# costs


def test_what_was_read_of_a_snapshot_is_not_read_again_by_whoever_opens_it() -> None:
    with Counting(open_store("memory:")) as store:
        repo = Repository(store)
        repo.register(library)
        model = repo.create("m")
        _, *books = stocked(model, **{f"b{number}": {} for number in range(20)})
        then = now(model)
        first = [repo.open("m", as_of=then)[str(nm.oid(book))].name for book in books]
        gc.collect()
        store.reset()

        again = repo.open("m", as_of=then)
        assert [again[str(nm.oid(book))].name for book in books] == first
        assert store.calls == {"now": 1, "cells": 2, "get": 3}, "opening it, its import, and its metamodel"


def test_the_cache_of_snapshots_keeps_to_its_limit() -> None:
    with Counting(open_store("memory:")) as store:
        repo = Repository(store, cache_bytes=2000)
        repo.register(library)
        model = repo.create("m")
        _, *books = stocked(model, **{f"b{number}": {"language": "x" * 300} for number in range(20)})
        then = now(model)
        for _ in range(2):
            past = repo.open("m", as_of=then)
            store.reset()
            assert [past[str(nm.oid(book))].language for book in books] == ["x" * 300] * 20
            assert store.calls["get"] >= 20
            del past


# metamodels


def grown(*features: Attribute) -> Package:
    return Package("base", BASE, classifiers=[Class("Thing", features=[Attribute("name", STRING), *features])])


def test_a_snapshot_has_the_classes_that_were_registered_then(repo: Repository, model: nm.Model) -> None:
    base = repo.register(grown())
    thing = base.Thing(name="t")
    model.roots.append(thing)
    then = now(model)
    repo.register(grown(Attribute("colour", STRING)))
    model[nm.oid(thing)].colour = "red"

    past = repo.open("m", as_of=then)[nm.oid(thing)]

    assert list(past.eClass.features) == ["name"]
    assert past.name == "t"
    with pytest.raises(nm.FeatureNotFound):
        past.colour  # noqa: B018
    assert model[nm.oid(thing)].colour == "red"
    assert repo.open("m", as_of=now(model))[nm.oid(thing)].colour == "red"
    assert [found.name for found in repo.open("m", as_of=then).all(base.Thing)] == ["t"]


def test_classes_declared_in_python_are_used_if_they_are_the_same(repo: Repository, model: nm.Model) -> None:
    _, a = stocked(model, a={})
    then = now(model)
    a.name = "b"

    assert repo.open("m", as_of=then)[nm.oid(a)].shout() == "A"
    assert library.Book is Book


def test_a_class_is_of_then_also_if_only_its_super_class_in_another_package_was_another(
    repo: Repository, model: nm.Model
) -> None:
    top = Package("top", TOP, classifiers=[Class("Sub", supers=[TypeName(BASE, "Thing")], features=[_ref()])])
    _, package = repo.register(grown(), top)
    sub = package.Sub(name="s")
    model.roots.append(sub)
    then = now(model)
    repo.register(grown(Attribute("colour", STRING)))

    fresh = Repository(repo.store)
    assert sorted(fresh.open("m")[nm.oid(sub)].eClass.features) == ["colour", "name", "next"]
    assert sorted(fresh.open("m", as_of=then)[nm.oid(sub)].eClass.features) == ["name", "next"]


def _ref() -> Reference:
    return Reference("next", TypeName(BASE, "Thing"))
