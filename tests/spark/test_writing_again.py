"""Attempts that fail and are made again, jobs that fail and are undone, drivers that are no more."""

from typing import Any

import pyarrow as pa
import pytest

import neomodel as nm
from neomodel import trees
from neomodel.stores import VERSION, Mutation, is_by
from spark import jobs, undo, unfinished_jobs
from tests.spark.people import Firm, Person
from tests.spark.things import Thing
from tests.spark.writing import attempted, everything, planned, sound, unchanged, write


def rows(**columns: Any) -> pa.Table:
    return pa.table(columns)


def shown(model: nm.Model, token: str) -> list[tuple[bytes, dict[bytes, bytes]]]:
    """All rows, whatever the token of the job is."""
    return [
        (key, {column: value.replace(token.encode(), b"token") for column, value in row.items()})
        for key, row in everything(model)
    ]


@pytest.fixture
def twin(model: nm.Model) -> nm.Model:
    return model.repository.create("twin")


def named(model: nm.Model, count: int) -> None:
    """So many roots with ids that are known."""
    found = [Thing(name=f"old{number}", number=number, tags=["x"]) for number in range(count)]
    for number, thing in enumerate(found):
        nm.identify(thing, f"old{number}")
    model.roots.extend(found)


def test_a_task_that_runs_twice_writes_the_same_cells(model: nm.Model) -> None:
    named(model, 20)
    ids = [f"old{number}" for number in range(20)] + [f"new{number}" for number in range(20)] + [None] * 20
    table = rows(_id=ids, name=[f"n{number}" for number in range(60)])
    writer = planned(model, table.schema)
    attempted(writer, table.slice(0, 45), number=1, size=10)
    half = everything(model)

    first = attempted(writer, table, number=2, size=10)
    once = everything(model)
    again = attempted(writer, table, number=3, size=10)

    assert everything(model) == once
    assert [row for row in once if row in half] == half
    assert (first.created, first.updated) == (again.created, again.updated)
    writer.commit([again])
    assert sound(model)
    assert len(model.roots) == len(list(model.all(Thing))) == 60
    assert all(is_by(row[VERSION], writer.job.token) for _, row in everything(model))


def test_nothing_of_another_attempt_shows_through(model: nm.Model, twin: nm.Model) -> None:
    """As if rows came in another order, or were computed anew with another result."""
    other = rows(_id=["a", "b", "x"], name=["other", "b", "x"], friend=["b", None, None], tags=[["t"] * 300, [], []])
    right = rows(_id=["a", "b", "c"], name=[None, "b", "c"], friend=[None, None, "a"], tags=[[], [], ["u"]])
    writer = planned(model, right.schema)
    attempted(writer, other, number=1)

    writer.commit([attempted(writer, right, number=2)])

    token = write(twin, right)
    assert shown(model, writer.job.token) == shown(twin, token)
    assert sound(model)


def test_what_a_failed_attempt_changed_in_vain_is_taken_back(model: nm.Model) -> None:
    named(model, 3)
    writer = planned(model, rows(_id=["x"], name=["x"]).schema)
    attempted(writer, rows(_id=["old0", "old1"], name=["wrong", "right"]), number=1)

    writer.commit([attempted(writer, rows(_id=["old1"], name=["right"]), number=2)])

    assert [thing.name for thing in model.roots] == ["old0", "right", "old2"]


def test_it_is_taken_back_also_where_other_partitions_have_no_rows(model: nm.Model) -> None:
    named(model, 3)
    writer = planned(model, rows(_id=["x"], name=["x"]).schema)
    attempted(writer, rows(_id=["old0", "new"], name=["wrong", "wrong"]), 0, 1)
    messages = [
        attempted(writer, rows(_id=["old1"], name=["right"]), 0, 2),
        attempted(writer, rows(_id=pa.array([], pa.string()), name=pa.array([], pa.string())), 1, 3),
    ]

    writer.commit(messages)

    assert [thing.name for thing in model.all(Thing)] == ["old0", "right", "old2"]
    assert sound(model)


def failing(model: nm.Model, *tables: pa.Table, **options: str) -> str:
    """A job that wrote all of this and was not committed; its token."""
    writer = planned(model, tables[0].schema, **options)
    for at, table in enumerate(tables):
        attempted(writer, table, at, at)
    return writer.job.token


def test_a_job_that_was_cut_short_is_told_and_can_be_undone(model: nm.Model) -> None:
    named(model, 20)
    before, since = everything(model), model.repository.stable("m")
    token = failing(
        model,
        rows(_id=["old1", "old2", "new"], name=["x", "y", "z"], number=[1, 9, 9]),
        rows(_id=[None, "more", "old3"], name=["p", "q", "r"], number=[2, 3, 4]),
        job="nightly",
    )

    (job,) = unfinished_jobs(model.repository)
    assert (job.token, job.model, job.type, job.name) == (token, "m", "things.Thing", "nightly")
    assert job.since is not None
    assert job.since >= since
    assert everything(model) != before

    assert undo(model.repository, token) == 6
    assert everything(model) == before
    assert unfinished_jobs(model.repository) == []
    with pytest.raises(nm.FeatureNotFound, match="among its unfinished jobs"):
        undo(model.repository, token)


def test_nobody_who_reads_what_is_stable_sees_a_job_before_its_end(model: nm.Model) -> None:
    named(model, 3)
    table = rows(_id=["old1", "new"], name=["x", "y"])
    writer = planned(model, table.schema)
    message = attempted(writer, table)

    def stable() -> list[str]:
        return [thing.name for thing in model.repository.open("m", as_of="stable").all(Thing)]

    assert stable() == ["old0", "old1", "old2"]
    writer.commit([message])
    assert sorted(stable()) == ["old0", "old2", "x", "y"]


@pytest.mark.parametrize("limits", [trees.LIMITS, trees.Limits(2, 4, 3)])
@pytest.mark.parametrize("ends_at", range(1, 16))
def test_a_commit_that_fails_at_any_write_leaves_nothing(
    model: nm.Model, monkeypatch: pytest.MonkeyPatch, ends_at: int, limits: trees.Limits
) -> None:
    """Links of every sort are made; the store fails at one of the writes, and works again when it is undone."""
    monkeypatch.setattr(trees, "LIMITS", limits)
    firm, top, old, moved = Firm(name="f"), Person(name="top"), Person(name="old"), Person(name="moved")
    for obj in (firm, top, old, moved):
        nm.identify(obj, str(obj.name))
    top.children.extend([moved, Person(name="other")])
    model.roots.extend([firm, top, old])
    old.friends.append(top)
    before = _visible(model)
    table = rows(
        _id=["a", "b", "c", "moved", "old"],
        _container=[None, "a", "top", "old", None],
        _feature=[None, "children", "children", "children", None],
        spouse=["old", None, None, None, "a"],
        friends=[["b", "top"], ["a", "c"], [], [], ["c"]],
        employer=["f", "f", None, "f", None],
        children=[["b"], [], [], [], ["moved"]],
    )
    writer = planned(model, table.schema, type="Person")
    message = attempted(writer, table)

    failed = _commit_with_failure(writer, message, ends_at, monkeypatch)

    if failed:
        writer.abort([message])
        assert _visible(model) == before
    else:
        assert [child.name for child in old.children] == ["moved"]
        assert _visible(model) != before
    assert sound(model)
    assert unfinished_jobs(model.repository) == []


def _visible(model: nm.Model) -> list[Any]:
    """All that is read with objects, and the lists: cells of long ones that nothing leads to are not seen."""
    found = [(key, {c: v for c, v in row.items() if c[:2] != b"x:"}) for key, row in everything(model)]
    lists = [(one.name, [*map(nm.oid, one.friends)], [*map(nm.oid, one.children)]) for one in model.all(Person)]
    return [found, lists, [*map(nm.oid, model.roots)]]


def _commit_with_failure(writer: Any, message: Any, ends_at: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    from neomodel.stores.lmdb import LmdbTable

    left = [ends_at]

    def counted(original: Any) -> Any:
        def call(self: Any, *args: Any) -> Any:
            if self.name == "m":
                left[0] -= 1
                if not left[0]:
                    raise nm.StoreUnavailable("a write", "m", "planted")
            return original(self, *args)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(LmdbTable, "swap", counted(LmdbTable.swap))
        patch.setattr(LmdbTable, "put_many", counted(LmdbTable.put_many))
        try:
            writer.commit([message])
        except nm.StoreUnavailable:
            return True
    return False


def test_what_others_wrote_meanwhile_stays_when_a_job_is_undone(model: nm.Model) -> None:
    named(model, 3)
    writer = planned(model, rows(_id=["x"], name=["x"], number=[1]).schema)
    message = attempted(writer, rows(_id=["old0", "old1", "new"], name=["x", "y", "z"], number=[5, 6, 7]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs.Jobs, "close", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            writer.commit([message])
    model["old0"].name = "theirs"
    model.roots.append(Thing(name="more"))

    undo(model.repository, writer.job.token)

    assert [(thing.name, thing.number) for thing in model.roots] == [
        ("theirs", 0),
        ("old1", 1),
        ("old2", 2),
        ("more", 7),
    ]
    assert sound(model)


def test_what_others_wrote_before_the_job_came_to_a_row_is_what_is_there_again(model: nm.Model) -> None:
    named(model, 2)
    writer = planned(model, rows(_id=["x"], name=["x"]).schema)
    attempted(writer, rows(_id=["old1"], name=["x"]))
    model["old0"].name = "theirs"
    attempted(writer, rows(_id=["old0"], name=["y"]), 1, 1)

    undo(model.repository, writer.job.token)

    assert [thing.name for thing in model.roots] == ["theirs", "old1"]


def test_long_lists_that_the_job_added_to_are_what_they_were(model: nm.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "LIMITS", trees.Limits(2, 4, 3))
    firm, top, part = Firm(name="f"), Thing(name="top"), Thing(name="part")
    for obj in (firm, top, part):
        nm.identify(obj, str(obj.name))
    top.parts.extend(Thing(name=f"p{number}") for number in range(20))
    model.roots.extend([firm, top, part, *(Person(name=f"s{number}") for number in range(20))])
    firm.staff.extend(model.all(Person))
    before = [[*map(nm.oid, some)] for some in (top.parts, firm.staff, model.roots)]
    moving = rows(_id=["part", "new"], whole=["top", "top"])
    hiring = rows(_id=["a", "b"], employer=["f", "f"])

    for table, kind in ((moving, "Thing"), (hiring, "Person")):
        writer = planned(model, table.schema, type=kind)
        message = attempted(writer, table)
        with monkeypatch.context() as patch:
            patch.setattr(jobs.Jobs, "close", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                writer.commit([message])
        assert [[*map(nm.oid, some)] for some in (top.parts, firm.staff, model.roots)] != before
        writer.abort([message])

        assert [[*map(nm.oid, some)] for some in (top.parts, firm.staff, model.roots)] == before
        assert sound(model)


def test_a_job_mirrors_in_its_own_model_alone(model: nm.Model, twin: nm.Model) -> None:
    firm = Firm(name="f")
    twin.roots.append(firm)
    there = Person(name="p")
    nm.identify(there, "there")
    model.roots.append(there)

    for oid in ("new", "there"):
        with unchanged(model), pytest.raises(nm.InvalidValue, match="an object of the same model, since it has an opp"):
            write(model, rows(_id=[oid], employer=[f"@twin/{nm.oid(firm)}"]), type="Person")

    assert list(firm.staff) == []


def test_a_task_of_a_job_that_was_undone_writes_no_more(model: nm.Model) -> None:
    table = rows(_id=["a", "b"], name=["x", "y"])
    writer = planned(model, table.schema)
    attempted(writer, table)
    undo(model.repository, writer.job.token)

    with unchanged(model), pytest.raises(nm.JobEnded, match="has ended; nothing more is written"):
        attempted(writer, table, number=1)


def test_a_job_that_was_undone_when_all_tasks_had_written_is_not_committed(model: nm.Model) -> None:
    table = rows(_id=["a", "b"], name=["x", "y"])
    writer = planned(model, table.schema)
    message = attempted(writer, table)
    undo(model.repository, writer.job.token)

    with unchanged(model):
        with pytest.raises(nm.JobEnded, match="has ended"):
            writer.commit([message])
        writer.abort([message])


def test_a_task_that_begins_while_its_job_is_undone_writes_nothing(
    model: nm.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has looked whether there is such a job, and nobody could know yet that it is at it."""
    table = rows(_id=["a", "b"], name=["x", "y"])
    writer = planned(model, table.schema)
    note = jobs.Jobs._note

    def undone_before(self: jobs.Jobs, *what: Any) -> None:
        monkeypatch.setattr(jobs.Jobs, "_note", note)
        undo(model.repository, writer.job.token)
        note(self, *what)

    monkeypatch.setattr(jobs.Jobs, "_note", undone_before)

    with unchanged(model), pytest.raises(nm.JobEnded, match="nothing more is written"):
        attempted(writer, table)


def test_a_task_that_is_at_it_while_its_job_is_undone_ends_at_its_next_batch(model: nm.Model) -> None:
    table = rows(_id=["a", "b"], name=["x", "y"])
    writer = planned(model, table.schema)

    def batches() -> Any:
        yield from table.slice(0, 1).to_batches()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jobs, "GRACE", 0.1)  # this very thread is the one that is waited for
            undo(model.repository, writer.job.token)
        yield from table.slice(1).to_batches()

    with pytest.raises(nm.JobEnded):
        writer.write(batches())

    assert everything(model) == []


def test_a_job_whose_batch_has_expired_is_not_committed(model: nm.Model) -> None:
    named(model, 2)
    table = rows(_id=["a", "old1"], name=["x", "y"])
    writer = planned(model, table.schema)
    with unchanged(model):
        message = attempted(writer, table)
        (job,) = unfinished_jobs(model.repository)
        model.repository.batches.close(str(job.batch))

        with pytest.raises(nm.BatchExpired):
            writer.commit([message])
        writer.abort([message])


def test_a_job_without_rows_leaves_no_record(model: nm.Model) -> None:
    with unchanged(model):
        write(model, rows(_id=pa.array([], pa.string())))


def test_a_fault_in_the_record_would_be_seen(model: nm.Model) -> None:
    """The comparison that the tests above make sees a single cell that is left."""
    model.table.put_many([Mutation(b"a", {b"p:name": b"x"})])
    before = everything(model)
    model.table.put_many([Mutation(b"a", {b"t:version": b"1-x"})])

    assert everything(model) != before
