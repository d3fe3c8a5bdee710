"""Values as messages bring them have one stored form, by which messages are told apart."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamodels.elsa.messages import stored

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(PLAIN, lambda some: st.lists(some, max_size=4) | st.dictionaries(TEXT, some, max_size=4))


@given(VALUES)
def test_a_value_is_stored_as_json_writes_it_without_blanks_and_with_its_keys_in_order(value: Any) -> None:
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()

    assert stored(value) == (b"t" + value.encode() if isinstance(value, str) else b"j" + written)


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": -float("inf")}])
def test_what_json_does_not_have_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        stored(value)
