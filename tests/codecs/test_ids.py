"""Ids are nobody else's, sort as promised and can't be confused."""

import bisect
import os
import re
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neomodel import ids
from neomodel.errors import InvalidValue
from neomodel.ids import (
    EXACT,
    FANOUT,
    LIMIT,
    ROOT,
    SHARDS,
    check_oid,
    natural,
    natural_range,
    oid_in,
    ref,
    shard_for,
    shard_of,
    split_ref,
    splits,
    spread,
)
from neomodel.stores import ALWAYS_FITS

awkward = st.sampled_from('\0\t\n !"#$%&+,-./09:@AZaz~\x7f\x80\xa0\xa1é\uffff\U00010000')
letters = awkward | st.characters(exclude_categories=["Cs"])
short = st.text(awkward, max_size=4)
keys = st.lists(short, max_size=4).map(tuple)
long_keys = st.lists(st.text(letters, max_size=20) | st.sampled_from(["x" * 95, "é" * 45]), max_size=6).map(tuple)
Parts = tuple[str, ...]


# random ids


def test_a_random_id_is_its_shard_what_the_process_drew_and_a_counter() -> None:
    oid = oid_in("3fa9")

    assert re.fullmatch("3fa9[0-9a-v]{19}", oid)
    assert shard_of(oid) == "3fa9"
    assert oid[:16] == oid_in("3fa9")[:16]
    assert check_oid(oid) == oid


def counted(shards: Iterable[str], parts: int) -> list[int]:
    """How many of the shards lie in each of so many parts of the key space, as a table is cut into."""
    found = Counter(bisect.bisect_right(splits(parts), shard.encode()) for shard in shards)
    return [found[part] for part in range(parts)]


def test_the_first_children_have_the_shard_of_their_container_and_the_further_ones_others() -> None:
    container = oid_in("3fa9")
    shards = [shard_for(container, number) for number in range(20 * FANOUT)]

    assert set(shards[:FANOUT]) == {"3fa9"}
    assert len(set(shards)) == 20
    assert all(len(set(shards[first : first + FANOUT])) == 1 for first in range(0, len(shards), FANOUT))
    assert all(re.fullmatch("[0-9a-f]{4}", shard) for shard in shards)


def test_containers_of_one_shard_spread_over_different_ones() -> None:
    """Or the further children of all of them would make one shard hot."""
    assert len({shard_for(oid_in("3fa9"), FANOUT) for _ in range(500)}) > 490


@pytest.mark.parametrize("container", ["shop.Order#b42", "_x5RYAOIEeGNO"])
def test_the_children_of_an_object_without_a_shard_share_one_that_follows_from_its_id(container: str) -> None:
    shards = {shard_for(container, number) for number in range(FANOUT)}

    assert len(shards) == 1
    assert shards == {shard_for(container, 0)}
    assert shards != {shard_for(container + "x", 0)}


@pytest.mark.parametrize("parts", [2, 3, 4, 7, 12, 16, 48])
def test_the_shards_of_a_text_lie_evenly_from_the_first_few_on(parts: int) -> None:
    for several in (4, 20):
        found = counted((spread("jdt", number) for number in range(several * parts)), parts)
        assert max(found) <= several + 3, found
        assert min(found) >= several - 3, found


def test_a_text_has_all_shards_before_one_comes_again() -> None:
    assert len({spread("jdt", number) for number in range(SHARDS)}) == SHARDS


def test_different_texts_begin_with_different_shards() -> None:
    found = counted((spread(f"model{number}", 0) for number in range(4000)), 4)

    assert min(found) > 850, found


def test_splits_cut_the_shards_into_equal_parts() -> None:
    assert splits(1) == []
    assert splits(4) == [b"4000", b"8000", b"c000"]
    assert counted((f"{shard:04x}" for shard in range(SHARDS)), 3) == [21845, 21845, 21846]


def test_ids_sort_by_their_making() -> None:
    made = [oid_in("0000") for _ in range(40_000)]  # past the carries of one to three digits

    assert sorted(set(made)) == made


def test_when_the_counter_is_used_up_the_process_draws_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = iter(["v" * 7])
    monkeypatch.setattr(ids, "_drawn", ("0" * 12, counted.__next__))

    assert oid_in("3fa9") == "3fa9" + "0" * 12 + "v" * 7
    after = oid_in("3fa9")
    assert after[4:16] != "0" * 12
    assert after[16:] == "0" * 7


def test_threads_get_different_ids() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: [oid_in("3fa9") for _ in range(2000)], range(8)))

    assert len({oid for some in made for oid in some}) == 16_000


def test_a_forked_process_makes_other_ids() -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, oid_in("3fa9").encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        theirs = pipe.read()
    os.waitpid(child, 0)

    assert shard_of(theirs) == "3fa9"
    assert theirs[4:16] != oid_in("3fa9")[4:16]


@pytest.mark.parametrize("oid", ["shop.Order#b42", "_x5RYAOIEeGNO", "ROOT", "", "3fa9" * 6, "3fA9" + "0" * 19])
def test_other_ids_have_no_shard(oid: str) -> None:
    assert shard_of(oid) is None


# natural ids


@given(keys, keys)
@example(("a",), ("a", ""))
@example(("a", "b"), ("a\0", "b"))
@example(("+",), (",",))
@example(("~",), ("\x7f",))
def test_natural_ids_sort_as_their_parts(one: Parts, other: Parts) -> None:
    low, high = natural("p", "C", one).encode(), natural("p", "C", other).encode()

    assert (low < high) == (one < other)
    assert (low == high) == (one == other)


@given(long_keys, long_keys)
def test_long_ids_differ_and_sort_where_their_first_bytes_tell(one: Parts, other: Parts) -> None:
    low, high = natural("p", "C", one).encode(), natural("p", "C", other).encode()
    first, second = (ids._full("p", "C", parts).encode()[:EXACT] for parts in (one, other))

    assert (low == high) == (one == other)
    if first != second:
        assert (low < high) == (one < other)


heads = st.tuples(short, short, st.lists(short, max_size=2).map(tuple))


@given(heads, heads)
@example(("a", "b.C", ()), ("a.b", "C", ()))
@example(("a", "C", ("x",)), ("a", "C#x", ()))
def test_different_classes_have_different_ids(one: tuple[str, str, Parts], other: tuple[str, str, Parts]) -> None:
    assert (natural(*one) == natural(*other)) == (one == other)


@given(st.text(letters), st.text(letters), long_keys)
def test_a_natural_id_is_safe_in_a_list_of_references_and_fits(prefix: str, name: str, parts: Parts) -> None:
    oid = natural(prefix, name, parts)

    assert not re.search("[\0- ,\x7f-\xa0]", oid)
    assert split_ref(oid) == (None, oid)
    assert shard_of(oid) is None
    assert oid != ROOT
    assert len(oid.encode()) <= LIMIT < ALWAYS_FITS


@given(long_keys, long_keys, st.integers(0, 6))
@example(("a",), ("ab",), 1)
@example(("a",), ("a ",), 1)
@example(("x" * 95, "y" * 90), ("x" * 95,), 1)
@example(("x" * 96, "y" * 90), ("x" * 96, "z"), 1)
def test_a_range_holds_all_keys_that_begin_so_and_no_other_where_that_is_promised(
    one: Parts, other: Parts, count: int
) -> None:
    beginning = one[:count]
    start, stop = natural_range("p", "C", beginning)

    assert start <= natural("p", "C", one).encode() < stop
    inside = start <= natural("p", "C", other).encode() < stop
    if other[: len(beginning)] == beginning:
        assert inside
    elif len(ids._full("p", "C", beginning).encode()) <= EXACT:
        assert not inside


@given(long_keys)
def test_the_range_of_a_class_leaves_out_its_namesakes(parts: Parts) -> None:
    start, stop = natural_range("p", "C")

    for prefix, name in (("p", "CD"), ("p", "C "), ("p", "C.D"), ("p", "B"), ("p.C", "C"), ("p", "C%")):
        assert not start <= natural(prefix, name, parts).encode() < stop


def test_golden_natural_ids() -> None:
    assert natural("shop", "Order", ["b42", "first"]) == "shop.Order#b42#first"
    assert natural("shop", "Order", ["a b", "1,5", "~", "50%", "ü/@-:"]) == "shop.Order#a%20b#1%2C5#~7E#50%25#ü/@-:"
    assert natural_range("shop", "Order", ["b42"]) == (b"shop.Order#b42", b"shop.Order#b42%")


def test_an_id_is_cut_only_where_it_would_be_too_long() -> None:
    fits, cut = natural("shop", "Order", ["x" * 149]), natural("shop", "Order", ["x" * 150])

    assert fits == "shop.Order#" + "x" * 149
    assert cut == "shop.Order#" + "x" * 89 + "$b4a30a5857b8a0b390eba18d59bb22cb"


# references and given ids


@given(st.sampled_from(["3fa9", "p.C#a/b", "x"]), st.none() | st.sampled_from(["jdt", "a.b", "@x"]))
def test_a_reference_is_split_into_what_it_was_made_of(oid: str, model: str | None) -> None:
    assert split_ref(ref(oid, model)) == (model, oid)


def test_golden_references() -> None:
    assert ref("p.C#a") == "p.C#a"
    assert ref("p.C#a", "jdt") == "@jdt/p.C#a"


@pytest.mark.parametrize("model", ["", "a/b", "a,b"])
def test_a_model_whose_name_a_reference_can_not_hold_is_refused(model: str) -> None:
    with pytest.raises(InvalidValue):
        ref("x", model)


@pytest.mark.parametrize("oid", ["_x5RYAOIEeGNO", "a", "ü" * 80, "//@roots.0/@x", "p.C#a%20b"])
def test_a_given_id_is_taken_as_it_is(oid: str) -> None:
    assert check_oid(oid) == oid


@pytest.mark.parametrize(
    "oid",
    [
        "",
        "a b",
        "a,b",
        "a\tb",
        "a\0",
        "\x7f",
        "\xa0",
        "\u2028",
        "@m/x",
        ROOT,
        "ü" * 81,
        "x" * 161,
        "\ud800",
        b"x",
        None,
    ],
)
def test_an_id_that_could_be_confused_or_does_not_fit_is_refused(oid: object) -> None:
    with pytest.raises(InvalidValue, match="object id"):
        check_oid(oid)


@given(st.text(), st.text(), st.lists(st.integers(0, 2**35 - 1), unique=True, min_size=2))
def test_numbered_ids_follow_from_text_and_number_and_sort_by_it(text: str, other: str, numbers: list[int]) -> None:
    made = [ids.numbered(text)("00ff", number) for number in sorted(numbers)]

    assert made == [ids.numbered(text)("00ff", number) for number in sorted(numbers)] == sorted(set(made))
    assert {shard_of(oid) for oid in made} == {"00ff"}
    assert text == other or not {ids.numbered(other)("00ff", number) for number in numbers} & set(made)
