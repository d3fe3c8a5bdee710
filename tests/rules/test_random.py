"""Rules, metamodels and models at random: however the source is cut, the same rows come of it, and sound ones."""

from typing import Any
from unittest import mock

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import neomodel as nm
from neomodel.rules import part
from tests.rules.random_rules import Assigned, Scenario, scenarios, source_of, transformation_of
from tests.rules.shapes import cut_at, new_repository, rows


def holds_however_it_is_cut(scenario: Scenario, data: Any) -> None:
    repository = new_repository()
    repository.register(scenario.package)
    source = source_of(scenario.seeds, repository)
    assigned: Assigned = {}
    transformation = transformation_of(scenario, assigned)
    keys = [key for key, _ in source.table.scan()]
    cuts = data.draw(st.lists(st.sampled_from(keys), max_size=6, unique=True), label="cuts")
    engine = cut_at(cuts, data.draw(st.permutations(range(len(cuts) + 1)), label="order"))
    window = data.draw(st.sampled_from([1, 3, part.WINDOW]), label="window")
    whole = nm.transform(transformation, source, "whole", on_error="collect")
    token = whole.token
    expected = dict(assigned)
    with mock.patch.object(part, "WINDOW", window):
        cut = nm.transform(transformation, source, "cut", token=token, engine=engine, on_error="collect")
    event(_told(whole.failures))
    assert bool(whole.failures) == bool(cut.failures)
    if whole.failures:
        assert repository.models() == ["in"]
        return
    one, other = repository.open("whole"), repository.open("cut")
    assert [finding.sentence for finding in nm.check(one).findings] == []
    assert rows(one) == rows(other)
    assert (whole.results, whole.roots, whole.applications) == (cut.results, cut.roots, cut.applications)
    for (oid, name), held in expected.items():
        value = one[oid].eGet(name)
        found = [nm.oid(each) for each in (value if one[oid].eClass.feature(name).many else [value] if value else [])]
        assert found[: len(held)] == held


def _told(failures: list[str]) -> str:
    if not failures:
        return "made"
    return "refused for a circle" if any("lie in itself" in one for one in failures) else "refused"


@given(scenario=scenarios(), data=st.data())
@settings(max_examples=40)
def test_the_same_rows_come_however_a_source_is_cut(scenario: Scenario, data: Any) -> None:
    holds_however_it_is_cut(scenario, data)


@pytest.mark.soak
@given(scenario=scenarios(), data=st.data())
@settings(max_examples=3000)
def test_the_same_rows_come_however_a_source_is_cut_at_length(scenario: Scenario, data: Any) -> None:
    holds_however_it_is_cut(scenario, data)
