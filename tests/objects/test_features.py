"""Attributes: what they hold before, while and after they are set, which values they take, and what is refused."""

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neomodel as nm
from neomodel.codecs import NAMES, codec
from neomodel.metamodel import ECORE, MANY, Attribute, Class, Package, TypeName
from neomodel.repository import Repository
from tests.objects.library import Book, Genre, Library, Named, Person, Shelf, stocked

VALUES: dict[str, Any] = {
    "EBigDecimal": decimal.Decimal("1.50"),
    "EBigInteger": 10**30,
    "EBoolean": True,
    "EBooleanObject": False,
    "EByte": -128,
    "EByteArray": b"\0\xff",
    "EByteObject": 127,
    "EChar": "ä",
    "ECharacterObject": ",",
    "EDate": datetime.datetime(2024, 2, 29, 12, 0, 0, 1, tzinfo=datetime.UTC),
    "EDouble": 0.1,
    "EDoubleObject": -1e300,
    "EFloat": 0.5,
    "EFloatObject": 2.0,
    "EInt": -(2**31),
    "EIntegerObject": 2**31 - 1,
    "ELong": 2**63 - 1,
    "ELongObject": 0,
    "EShort": 32767,
    "EShortObject": -1,
}


@pytest.fixture(params=["transient", "stored"])
def book(request: pytest.FixtureRequest, model: nm.Model) -> Any:
    book = Book(name="b")
    if request.param == "stored":
        model.roots.append(book)
    return book


def again(obj: Any, connect: Callable[[str], Repository]) -> Any:
    """A stored object as another connection sees it."""
    model = obj.eResource
    return connect(model.repository.store.url).open(model.name)[nm.oid(obj)]


# set, unset, None, default


def test_what_was_never_set_reads_as_its_default_and_is_not_set(book: Any) -> None:
    assert (book.pages, book.language, book.genre, book.rating) == (100, "en", Genre.POETRY, 5)
    assert not any(map(book.eIsSet, ["pages", "language", "genre", "rating", "tags", "authors", "shelf", "sequel"]))


def test_a_feature_that_holds_its_default_is_not_set_unless_it_is_unsettable(book: Any) -> None:
    book.pages, book.rating = 100, 5

    assert (book.eIsSet("pages"), book.eIsSet("rating")) == (False, True)


def test_none_is_a_value_of_its_own_where_the_default_is_another(book: Any) -> None:
    book.language = book.genre = book.rating = None

    assert (book.language, book.genre, book.rating) == (None, None, None)
    assert all(map(book.eIsSet, ["language", "genre", "rating"]))


def test_unsetting_brings_the_default_back(book: Any) -> None:
    book.language, book.rating, book.tags, book.pages = None, 1, ["a"], 7
    for name in ("language", "rating", "tags", "pages"):
        book.eUnset(name)

    assert (book.language, book.rating, book.tags, book.pages) == ("en", 5, [], 100)
    assert not any(map(book.eIsSet, ["language", "rating", "tags", "pages"]))


def test_a_collection_is_set_while_it_holds_something(book: Any) -> None:
    book.tags.append("a")
    assert book.eIsSet("tags")

    book.tags.clear()
    assert not book.eIsSet("tags")


def test_reflection_reads_and_writes_by_name_and_by_feature(book: Any) -> None:
    book.eSet("name", "x")
    book.eSet(Book.pages, 3)
    book.eSet("tags", ["t"])

    assert (book.eGet("name"), book.eGet(book.eClass.feature("pages")), book.eGet("tags")) == ("x", 3, ["t"])
    assert (book.name, book.pages) == ("x", 3)


def test_what_is_stored_is_read_by_another_connection(model: nm.Model, connect: Any) -> None:
    _, book = stocked(model, b={"pages": 3, "language": None, "tags": ["x", "x"], "genres": [Genre.CRIME]})

    read = again(book, connect)

    assert (read.name, read.pages, read.language, read.tags, read.genres) == (
        "b", 3, None, ["x", "x"], [Genre.CRIME],
    )  # fmt: skip


# values


@pytest.mark.parametrize("given", [Genre.CRIME, "CRIME", "crime fiction"])
def test_an_enum_takes_the_member_its_name_and_its_text(book: Any, given: Any) -> None:
    book.genre = given
    book.genres = [given]

    assert (book.genre, book.genres) == (Genre.CRIME, [Genre.CRIME])


def test_there_is_a_value_here_for_every_data_type_that_holds_more_than_text() -> None:
    assert {name for name in NAMES if (codec(name) or codec("EString")).expected != "text (str)"} == VALUES.keys()  # type: ignore[union-attr]


@pytest.mark.parametrize("name", NAMES)
def test_every_data_type_of_ecore_comes_back_as_it_was_alone_and_in_a_list(
    repo: Repository, connect: Any, name: str
) -> None:
    type_ = TypeName(ECORE, name)
    features = [Attribute("one", type_), Attribute("many", type_, upper=MANY, unique=False)]
    package = repo.register(Package("p", "http://p", classifiers=[Class("A", features=features)]))
    value = VALUES.get(name, "a, b")
    obj = package.A(one=value, many=[value, value])
    repo.create("types").roots.append(obj)

    read = again(obj, connect)

    assert (read.one, read.many) == (value, [value, value])
    assert type(read.one) is type(value)


def test_any_value_of_its_type_comes_back_the_same(model: nm.Model, connect: Any) -> None:
    _, book = stocked(model, b={})
    read = again(book, connect)

    @given(text=st.text(), number=st.integers(-(2**31), 2**31 - 1), several=st.lists(st.text(max_size=4), max_size=4))
    def comes_back(text: str, number: int, several: list[str]) -> None:
        with nm.edit(book):
            book.language, book.pages, book.tags = text, number, several

        assert (read.language, read.pages, read.tags) == (text, number, several)

    comes_back()


@pytest.mark.parametrize(
    ("name", "bad", "shown", "expected"),
    [
        ("name", 5, 5, "text"),
        ("pages", "5", "5", "an integer from -2147483648 to 2147483647"),
        ("pages", 2**31, 2**31, "an integer from -2147483648 to 2147483647"),
        ("pages", None, None, "an integer from"),
        ("pages", True, True, "an integer from"),
        ("genre", "horror", "horror", "one of CRIME, POETRY"),
        ("genre", 1, 1, "one of CRIME, POETRY"),
        ("tags", [1], 1, "text"),
        ("tags", "abc", "abc", "several values"),
        ("tags", 5, 5, "several values"),
        ("tags", None, None, "several values"),
        ("scores", [1, 2, 3, 4], 4, "at most 3"),
        ("shelf", "s", "s", "an object of class library.Shelf"),
        ("sequel", Genre.CRIME, Genre.CRIME, "an object of class library.Book"),
        ("related", [None], None, "an object of class library.Book"),
        ("marks", ["a", "a"], ["a", "a"], "no value twice"),
    ],
)
def test_a_wrong_value_is_refused_by_feature_expected_and_given_and_changes_nothing(
    book: Any, name: str, bad: Any, shown: Any, expected: str
) -> None:
    before = list(book.eGet(name)) if Book.eClass.feature(name).many else book.eGet(name)

    with pytest.raises(nm.InvalidValue, match=expected) as refused:
        setattr(book, name, bad)
    assert f"library.{'Named' if name == 'name' else 'Book'}.{name}" in str(refused.value)
    assert repr(shown) in str(refused.value)
    assert book.eGet(name) == before


def test_an_object_of_another_class_is_refused(book: Any) -> None:
    with pytest.raises(nm.InvalidValue, match=r"library\.Book\.reader .* expected an object of class library\.Person"):
        book.reader = Shelf()


def test_a_feature_that_is_not_there_is_refused_with_the_near_name(book: Any) -> None:
    for attempt in (lambda: book.pagse, lambda: setattr(book, "pagse", 1), lambda: book.eGet("pagse")):
        with pytest.raises(nm.FeatureNotFound, match=r"library\.Book has no 'pagse'; did you mean 'pages'\?"):
            attempt()
    with pytest.raises(AttributeError, match="no 'nmae'; did you mean 'name'"):
        Book(nmae="x")
    assert not hasattr(book, "colour")


# kinds of features


def test_a_feature_that_is_not_changeable_is_set_when_its_object_is_made_and_never_after(model: nm.Model) -> None:
    book = Book(isbn="1", frozen=["a"])
    model.roots.append(book)
    for attempt in (
        lambda: setattr(book, "isbn", "2"),
        lambda: book.eUnset("isbn"),
        lambda: book.frozen.append("b"),
        lambda: book.frozen.clear(),
        lambda: book.frozen.sort(),
        lambda: book.frozen.reverse(),
        lambda: setattr(book, "frozen", []),
    ):
        with pytest.raises(nm.InvalidValue, match="not changeable"):
            attempt()

    assert (book.isbn, book.frozen) == ("1", ["a"])


def test_a_transient_feature_lives_with_the_python_object_and_is_written_nowhere(model: nm.Model, connect: Any) -> None:
    book, other = Book(draft="mine"), Book()
    model.roots.extend([book, other])
    book.beside = other
    assert (book.draft, book.beside) == ("mine", other)

    assert (again(book, connect).draft, again(book, connect).beside) == ("none", None)
    assert not any(b"draft" in column or b"beside" in column for _, row in model.table.scan() for column in row)


def test_a_transient_reference_that_was_set_before_its_object_was_stored_is_read_after(model: nm.Model) -> None:
    other = Book(name="not stored")
    book = Book(beside=other)
    model.roots.append(book)

    assert book.beside is other


def test_a_derived_feature_is_computed_and_can_not_be_set(book: Any) -> None:
    assert book.title == book.eGet("title") == "b (100)"

    for attempt in (lambda: setattr(book, "title", "x"), lambda: book.eSet("title", "x"), lambda: Book(title="x")):
        with pytest.raises(nm.InvalidValue, match=r"library\.Book\.title"):
            attempt()


def test_a_derived_feature_of_an_object_that_was_not_read_yet_is_computed(model: nm.Model, connect: Any) -> None:
    _, book = stocked(model, b={})

    assert again(book, connect).eGet("title") == "b (100)"


def test_an_abstract_class_has_no_objects() -> None:
    with pytest.raises(nm.InvalidValue, match=r"library\.Named.* abstract"):
        Named(name="x")


def test_reflection_names_are_those_of_emf() -> None:
    assert [feature.name for feature in Person.eClass.eAllStructuralFeatures()] == ["name", "written", "lent"]
    assert [kind.name for kind in Library.eClass.eAllSuperTypes()] == ["Named"]
    assert Book.eClass.findEStructuralFeature("pages").eType.name == "EInt"
    assert Book.eClass.findEStructuralFeature("nothing") is None
