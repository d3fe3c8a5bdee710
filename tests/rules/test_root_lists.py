"""What it costs to list the roots of a new model."""

import pytest

import neomodel as nm
from neomodel.long_cells import MANY
from neomodel.model import Model
from neomodel.rules.part import Unplaced
from neomodel.rules.settling import list_roots
from neomodel.stores import Mutation
from tests.rules.shapes import Thing

ROOTS = 12_000


def test_roots_are_listed_in_their_order_with_few_writes(repo: nm.Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    model = repo.create("made")
    model.roots.append(Thing(name="first"))
    first = nm.oid(model.roots[0])
    assert first is not None
    target = repo.create("target")
    row = model.table.get(first.encode())
    assert row is not None
    target.put([Mutation(first.encode(), dict(row))])
    roots = [Unplaced(first, "0"), *(Unplaced(f"{number:023x}", "1") for number in range(1, ROOTS))]
    written: list[int] = []
    put = Model.put

    def counted(self: Model, mutations: list[Mutation]) -> int:
        written.append(sum(len(one.cells) for one in mutations))
        return put(self, mutations)

    monkeypatch.setattr(Model, "put", counted)
    assert list_roots(target, roots, b"1-a") == ROOTS

    assert len(written) <= ROOTS // MANY + 2
    assert max(written) < 2 * MANY
    assert list(repo.open("target").roots._raw()) == [one.target for one in roots]
