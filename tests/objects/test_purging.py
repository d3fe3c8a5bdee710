"""The past can be forgotten, by name and on record."""

import datetime
import getpass
import uuid
from collections.abc import Iterator

import pytest

import neomodel as nm
from neomodel.purging import TABLE
from neomodel.stores import open_store
from neomodel.stores.wrappers import Faulty
from neomodel.times import instant
from tests.objects.library import Shelf, library


@pytest.fixture
def past(any_url: str) -> Iterator[tuple[nm.Model, list[int]]]:
    """A model with a shelf that had three names, and the times at which it had them. All are stable."""
    with nm.connect(any_url) as repo:
        repo.store.settling = 0  # nobody else writes
        repo.register(library)
        model = repo.create(f"m{uuid.uuid4().hex}")
        shelf = Shelf(name="first")
        model.roots.append(shelf)
        times = [model.table.now()]
        for name in ("second", "third"):
            shelf.name = name
            times.append(model.table.now())
        yield model, times
        repo.drop(model.name)


def _name(model: nm.Model, at: int | None) -> str:
    (shelf,) = model.repository.open(model.name, as_of=at).roots
    return str(shelf.name)


def test_what_was_before_is_forgotten_and_what_was_then_and_is_stays(past: tuple[nm.Model, list[int]]) -> None:
    model, times = past

    nm.purge(model, before=times[1])

    assert [_name(model, at) for at in (times[1], times[2], None)] == ["second", "third", "third"]


def test_a_time_before_the_horizon_can_be_opened_no_more(past: tuple[nm.Model, list[int]]) -> None:
    model, times = past
    nm.purge(model, before=times[1])

    with pytest.raises(nm.Purged) as refused:
        model.repository.open(model.name, as_of=times[0])

    asked, kept = (f"{time} ({instant(time).isoformat()})" for time in times[:2])
    assert f"as of {asked}: its history before {kept} was purged" in str(refused.value)


def test_a_purge_is_on_record_with_who_when_what_and_how_much(past: tuple[nm.Model, list[int]]) -> None:
    model, times = past
    assert nm.purges(model) == []

    first = nm.purge(model, before=times[1], by="Ann, by order of the court")
    second = nm.purge(model, before=times[2])

    with nm.connect(model.repository.store.url) as repo:
        assert nm.purges(repo.open(model.name)) == [first, second]
    assert (first.model, first.before, first.by) == (model.name, times[1], "Ann, by order of the court")
    assert first.versions == 2  # the first name, and the first version
    assert second.by.startswith(f"{getpass.getuser()}@")
    assert times[2] <= first.began <= second.began


def test_a_time_may_be_a_datetime(past: tuple[nm.Model, list[int]]) -> None:
    model, times = past
    moment = datetime.datetime.fromtimestamp(times[1] // 1_000_000, datetime.UTC)

    assert nm.purge(model, before=moment).before == times[1] // 1_000_000 * 1_000_000


@pytest.mark.parametrize("before", [-1, 2**62, "yesterday", True, datetime.datetime(2024, 5, 1)])
def test_no_other_time_is_taken_and_nothing_happens(past: tuple[nm.Model, list[int]], before: object) -> None:
    model, times = past

    with pytest.raises(nm.InvalidValue, match="the time to purge before"):
        nm.purge(model, before=before)  # type: ignore[arg-type]

    assert nm.purges(model) == []
    assert _name(model, times[0]) == "first"


def test_a_time_that_is_not_stable_yet_is_refused(past: tuple[nm.Model, list[int]]) -> None:
    model, times = past
    model.repository.store.settling = 3_600_000_000

    with pytest.raises(nm.InvalidValue, match="expected one that is stable"):
        nm.purge(model, before=times[1])


def test_a_snapshot_purges_nothing(past: tuple[nm.Model, list[int]]) -> None:
    model, times = past

    with pytest.raises(nm.ReadOnly):
        nm.purge(model.repository.open(model.name, as_of=times[2]), before=times[1])


def test_models_of_similar_names_have_their_own_records(past: tuple[nm.Model, list[int]]) -> None:
    model, times = past
    other = model.repository.create(f"{model.name}-2")
    nm.purge(model, before=times[1])

    assert nm.purges(other) == []
    model.repository.drop(other.name)


def test_records_outlive_the_model_and_are_no_model() -> None:
    repo = nm.connect("memory:")
    model = repo.create("m")
    done = nm.purge(model, before=model.table.now())
    repo.drop("m")

    assert nm.purges(repo.create("m")) == [done]
    assert (repo.models(), TABLE in repo.store.tables()) == (["m"], True)


def test_a_purge_that_did_not_end_is_on_record_as_such() -> None:
    inner = open_store("memory:")
    nm.Repository(inner).create("m")
    model = nm.Repository(Faulty(inner, lambda operation, _: "refused" if operation == "purge" else None)).open("m")

    with pytest.raises(nm.StoreUnavailable):
        nm.purge(model, before=model.table.now(), by="Ann")

    (record,) = nm.purges(model)
    assert (record.by, record.versions) == ("Ann", None)
