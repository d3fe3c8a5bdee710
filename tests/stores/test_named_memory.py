"""`memory:NAME`: one store for all in a process that name it."""

import pytest

from neomodel.errors import StoreClosed
from neomodel.stores import open_store


def test_a_named_store_goes_on_for_others_and_is_there_again_when_one_was_closed(name: str) -> None:
    with open_store(f"memory:{name}") as other:
        with open_store(f"memory:{name}") as store:
            table = store.table("t")
            table.create("p")

        with pytest.raises(StoreClosed, match=f"using memory:{name} is refused: it was closed; open it again"):
            table.families()
        assert other.table("t").families() == {"p"}
    assert open_store(f"memory:{name}").tables() == ["t"]
