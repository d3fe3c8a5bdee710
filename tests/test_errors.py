"""What errors say."""

import pytest

import neomodel as nm


@pytest.mark.parametrize("break_", ["\n", "\r\n", "\x0b", "\x1b", "\x85", "\u2028", "\u2029", "\0"])
def test_an_error_is_one_line_whatever_it_quotes(break_: str) -> None:
    told = str(nm.InvalidFile("a.xmi:3", f"there is no class a{break_}b"))

    assert told == f"a.xmi:3: there is no class a{repr(break_)[1:-1]}b"
    assert len(told.splitlines()) == 1
