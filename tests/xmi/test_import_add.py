"""Files that are added to a model: what waited for them finds them, and they find what is there."""

from pathlib import Path

import pytest

import neomodel as nm
from neomodel import layout
from neomodel.cli import main
from neomodel.errors import InvalidFile
from neomodel.repository import Repository
from neomodel.stores import VERSION, open_store
from neomodel.stores.wrappers import Counting
from tests.objects.crashing import Crash, Crashing
from tests.objects.library import library
from tests.xmi.files import new_repository, rows, told, written
from tests.xmi.garden import garden

ONE = """<l:Library NS name="one"><shelves name="s"><books name="a" xmi:id="_a"><authors href="two.xmi#/"/>
<related href="two.xmi#//@written.0"/><related href="three.xmi#_t"/><sequel href="sub/three.xmi#_t"/></books>
<books href="three.xmi#/0"/></shelves></l:Library>"""
TWO = '<l:Person NS name="p"><written href="one.xmi#//@shelves.0/@books.0"/></l:Person>'
THREE = '<xmi:XMI NS><l:Book name="t" xmi:id="_t"><prequel href="one.xmi#_a"/></l:Book><l:Book name="u"/></xmi:XMI>'


def files(folder: Path) -> list[Path]:
    named = {"one": ONE.replace("two.xmi#//@written.0", "three.xmi#/1").replace("sub/", ""), "two": TWO, "three": THREE}
    return [written(folder / f"{name}.xmi", body) for name, body in named.items()]


def added(paths: list[Path]) -> nm.Model:
    repository = new_repository()
    for number, path in enumerate(paths):
        repository.import_xmi(path, model="m", add=number > 0)
        assert nm.check(repository.open("m")).findings == ()
    return repository.open("m")


def by_name(model: nm.Model) -> dict[str, dict[str, object]]:
    """What objects hold, by names: the roots may be in another order."""
    found = told(model)
    names = {path: features.get("name", path) for path, features in found.items()}
    return {
        str(names[path]): {
            name: [names.get(one, one) for one in value] if isinstance(value, list) else names.get(value, value)
            for name, value in features.items()
        }
        for path, features in found.items()
    }


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_one_after_the_other_is_as_good_as_together(tmp_path: Path, order: tuple[int, ...]) -> None:
    paths = files(tmp_path)
    repository = new_repository()
    repository.import_xmi(*paths, model="m")
    together = by_name(repository.open("m"))

    model = added([paths[number] for number in order])
    apart = by_name(model)
    assert {name: sorted(map(str, found.items())) for name, found in apart.items()} == {
        name: sorted(map(str, found.items())) for name, found in together.items()
    }
    assert not list(model.table.cells(b"ROOT", layout.EXTENT, b"?waits", b"?waitt"))


def test_what_waits_goes_on_to_until_its_own_file_comes(tmp_path: Path) -> None:
    one, two, three = files(tmp_path)
    repository = new_repository()
    repository.import_xmi(one, model="m")
    repository.import_xmi(two, model="m", add=True)
    (book,) = repository.open("m").roots[0].shelves[0].books

    assert [person.name for person in book.authors] == ["p"]
    with pytest.raises(nm.ObjectNotFound, match=r"three\.xmi#_t"):
        _ = book.sequel.name
    repository.import_xmi(three, model="m", add=True)
    assert book.sequel.name == "t"
    assert [one.name for one in book.eContainer().books] == ["a", "t"]


@pytest.mark.parametrize("times", [3, 300])
def test_what_waits_several_times_in_one_list_is_there_as_often(times: int, tmp_path: Path) -> None:
    repository = nm.connect("memory:")
    head = 'xmlns:g="http://garden" xmlns:xmi="http://www.omg.org/XMI" xmi:version="2.0"'
    near, far = tmp_path / "near.xmi", tmp_path / "far.xmi"
    waiting = '<neighbours href="far.xmi#/"/>' * times
    near.write_text(f"<g:Plant {head}>{waiting}</g:Plant>")
    far.write_text(f'<g:Plant {head} name="far"/>')

    repository.import_xmi(near, model="m", metamodel=[garden])
    repository.import_xmi(far, model="m", add=True)

    model = repository.open("m")
    assert [plant.name for plant in model.roots[0].neighbours] == ["far"] * times
    assert nm.check(model).findings == ()


def test_a_long_list_that_waits(tmp_path: Path) -> None:
    related = "".join(f'<related href="far.xmi#//@books.{n}"/>' for n in range(600))
    near = written(tmp_path / "near.xmi", f'<l:Book NS name="near">{related}</l:Book>')
    far = "".join(f'<books name="{n}"/>' for n in range(600))
    model = added([near, written(tmp_path / "far.xmi", f"<l:Shelf NS>{far}</l:Shelf>")])

    assert [book.name for book in model.roots[0].related] == [str(n) for n in range(600)]


@pytest.mark.parametrize(
    "body",
    [
        TWO.replace("</l:Person>", '<lent href="#_nothing"/></l:Person>'),
        '<l:Book NS name="b"><original href="#_nothing"/></l:Book>',  # found when its place is among the roots already
        '<l:Book NS name="b"><original href="#_nothing"/><related href="five.xmi#/"/></l:Book>',
    ],
)
def test_an_addition_that_fails_leaves_the_model_as_it_was(body: str, tmp_path: Path) -> None:
    one, two, _ = files(tmp_path)
    repository = new_repository()
    repository.import_xmi(one, model="m")
    before, told_before = _but_versions(repository.open("m")), told(repository.open("m"))
    written(two, body)

    with pytest.raises(InvalidFile, match="'_nothing', which is not there"):
        repository.import_xmi(two, model="m", add=True)
    assert (_but_versions(repository.open("m")), told(repository.open("m"))) == (before, told_before)
    assert nm.check(repository.open("m")).findings == ()


def _but_versions(model: nm.Model) -> dict[str, dict[bytes, object]]:
    """All rows; but how often those were written to is no matter."""
    found = rows(model).items()
    return {path: {column: cell for column, cell in row.items() if column != VERSION} for path, row in found}


def test_a_file_that_could_not_be_added_is_waited_for_and_one_that_was_added_before_stays_known(tmp_path: Path) -> None:
    repository = new_repository()
    known = written(tmp_path / "known.xmi", '<l:Book NS name="k"/>')
    repository.import_xmi(known, model="m")
    for path in (known, tmp_path / "new.xmi"):
        broken = written(path, '<l:Book NS name="b"><original href="#_nothing"/></l:Book>')
        with pytest.raises(InvalidFile, match="'_nothing', which is not there"):
            repository.import_xmi(broken, model="m", add=True)

    both = '<l:Book NS name="c"><related href="known.xmi#/"/><related href="new.xmi#/"/></l:Book>'
    done = repository.import_xmi(written(tmp_path / "c.xmi", both), model="m", add=True)

    assert [notice.text.partition(" ")[0] for notice in done.notices] == ["new.xmi"]
    (k, c) = repository.open("m").roots
    assert c.related[0] is k


def test_an_id_that_is_null_is_no_id(tmp_path: Path) -> None:
    numbered = nm.package("numbered", "http://numbered")

    @numbered.define
    class Part:
        number: int | None = nm.attribute(id=True, type="EIntegerObject", unsettable=True)
        parts: list["Part"] = nm.contains()
        other: "Part | None" = nm.reference()

    repository = nm.connect("memory:")
    head = 'xmlns:n="http://numbered" xmlns:xmi="http://www.omg.org/XMI" xmi:version="2.0"'
    nil = '<number xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/>'
    (tmp_path / "a.xmi").write_text(f'<n:Part {head}>{nil}<parts number="5"/></n:Part>')
    (tmp_path / "b.xmi").write_text(f'<n:Part {head}><other href="a.xmi#5"/></n:Part>')

    repository.import_xmi(tmp_path / "a.xmi", model="m", metamodel=[numbered])
    repository.import_xmi(tmp_path / "b.xmi", model="m", add=True)

    first, second = repository.open("m").roots
    assert second.other is first.parts[0]


def test_there_has_to_be_a_model_to_add_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = new_repository()
    with pytest.raises(nm.ModelNotFound):
        repository.import_xmi(written(tmp_path / "a.xmi", "<l:Book NS/>"), model="m", add=True)
    assert repository.models() == []
    nm.connect(f"lmdb:{tmp_path / 'store'}").close()
    assert (
        main(["import", str(tmp_path / "a.xmi"), "--model", "m", "--add", "--store", f"lmdb:{tmp_path / 'store'}"]) == 2
    )
    assert "there is no model 'm'" in capsys.readouterr().err


def test_ids_go_on_where_they_were(tmp_path: Path) -> None:
    paths = [written(tmp_path / f"{n}.xmi", f'<l:Book NS name="{n}"/>') for n in range(3)]
    model = added(paths)

    assert [book.name for book in model.roots] == ["0", "1", "2"]
    assert len({nm.oid(book)[:4] for book in model.roots}) == 3


def test_wherever_an_addition_ends_a_repair_leaves_it_whole_or_takes_it_out(tmp_path: Path) -> None:
    one, _, _ = files(tmp_path)
    inside = '<books name="in"/><inner name="inner"><books name="low"/></inner>'
    shelf = written(tmp_path / "shelf.xmi", f'<l:Shelf NS name="new">{inside}</l:Shelf>')
    whole = Crashing(nm.connect("memory:").store, None, "before")
    repository = nm.Repository(whole)
    repository.register(library)
    repository.import_xmi(one, model="m")
    begun, before = len(whole.writes), set(by_name(repository.open("m")))
    repository.import_xmi(shelf, model="m", add=True)
    ended, after = len(whole.writes), set(by_name(repository.open("m")))
    assert ended > begun + 3

    seen = set()
    for point in range(begun, ended):
        inner = nm.connect(f"memory:{tmp_path}{point}").store
        crashing = nm.Repository(Crashing(inner, point, "before"))
        crashing.register(library)
        crashing.import_xmi(one, model="m")
        with pytest.raises(Crash):
            crashing.import_xmi(shelf, model="m", add=True)
        model = nm.Repository(inner).open("m")
        assert nm.check(model, repair=True, patience=0).clean, point
        names = frozenset(by_name(model))
        assert names in (before, after), point
        seen.add(names)
    assert seen == {frozenset(before), frozenset(after)}


class _Failing:
    """Fails one write of a store that goes on to work."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> None:
        self.times += 1
        if self.times == 1:
            raise nm.StoreUnavailable("a write", "the store", "it was told to fail")


LONG = "".join(f'<related href="three.xmi#/1"/><related href="far.xmi#//@books.{n}"/>' for n in range(600))


@pytest.mark.parametrize("order", [(0, 2), (2, 0), (0, 1), (3, 2)])
def test_whichever_write_of_an_addition_fails_the_model_is_as_it_was_or_has_all_of_it(
    order: tuple[int, int], tmp_path: Path
) -> None:
    paths = [*files(tmp_path), written(tmp_path / "long.xmi", f'<l:Book NS name="long">{LONG}</l:Book>')]
    first, second = (paths[number] for number in order)
    whole = Crashing(nm.connect("memory:").store, None, "before")
    repository = nm.Repository(whole)
    repository.register(library)
    repository.import_xmi(first, model="m")
    begun, before = len(whole.writes), by_name(repository.open("m"))
    repository.import_xmi(second, model="m", add=True)
    ended, after = len(whole.writes), by_name(repository.open("m"))

    seen = []
    for point in range(begun, ended):
        failing = nm.Repository(
            Crashing(nm.connect(f"memory:{tmp_path}{order}{point}").store, point, "before", _Failing())
        )
        failing.register(library)
        failing.import_xmi(first, model="m")
        rows_before = _but_versions(failing.open("m"))
        with pytest.raises(nm.StoreUnavailable, match="told to fail"):
            failing.import_xmi(second, model="m", add=True)
        model = failing.open("m")
        assert nm.check(model).findings == (), point
        seen.append(by_name(model))
        assert seen[-1] in (before, after), point
        assert seen[-1] == after or _but_versions(model) == rows_before, point
    assert seen.count(before) > 4
    assert seen.count(after) < 2  # the end of the batch


def test_an_addition_that_can_not_be_taken_back_says_what_may_be_left(tmp_path: Path) -> None:
    one, _, three = files(tmp_path)

    def down() -> None:
        raise nm.StoreUnavailable("a write", "the store", "it is down")

    whole = Crashing(nm.connect("memory:").store, None, "before")
    repository = nm.Repository(whole)
    repository.register(library)
    repository.import_xmi(one, model="m")
    repository.import_xmi(three, model="m", add=True)
    settling = max(number for number, write in enumerate(whole.writes) if write.startswith("swap m"))

    failing = nm.Repository(Crashing(nm.connect(f"memory:{tmp_path}").store, settling, "before", down))
    failing.register(library)
    failing.import_xmi(one, model="m")
    with pytest.raises(nm.NeomodelError, match=r"taking it out again failed, too.*neomodel check m --repair"):
        failing.import_xmi(three, model="m", add=True)


def test_what_waits_for_an_object_by_its_name_finds_it(tmp_path: Path) -> None:
    near = '<l:Book NS name="near"><related href="far.xmi#//low/deep"/></l:Book>'
    far = '<l:Shelf NS name="far"><inner name="low"><books name="deep"/></inner></l:Shelf>'
    model = added([written(tmp_path / "near.xmi", near), written(tmp_path / "far.xmi", far)])

    assert [book.name for book in model.roots[0].related] == ["deep"]
    assert not list(model.table.cells(b"ROOT", layout.EXTENT, b"?waits", b"?waitt"))


def test_what_waits_for_another_class_is_told_and_goes_on_to(tmp_path: Path) -> None:
    repository = new_repository()
    repository.import_xmi(written(tmp_path / "a.xmi", '<l:Book NS><authors href="b.xmi#/"/></l:Book>'), model="m")
    done = repository.import_xmi(written(tmp_path / "b.xmi", '<l:Book NS name="b"/>'), model="m", add=True)

    (notice,) = done.notices
    assert "library.Book.authors of" in notice.text
    assert "refers to objects of library.Person; this is one of library.Book" in notice.text
    assert list(repository.open("m").table.cells(b"ROOT", layout.EXTENT, b"?waits", b"?waitt"))


def test_an_error_names_an_object_that_was_there_as_the_file_does(tmp_path: Path) -> None:
    repository = new_repository()
    repository.import_xmi(written(tmp_path / "b.xmi", '<l:Book NS name="b"/>'), model="m")
    a = written(tmp_path / "a.xmi", '<l:Book NS><authors href="b.xmi#/"/></l:Book>')
    with pytest.raises(InvalidFile, match=r"refers to objects of library\.Person; '/' is one of library\.Book"):
        repository.import_xmi(a, model="m", add=True)


def test_files_can_not_contain_one_another(tmp_path: Path) -> None:
    a = written(tmp_path / "a.xmi", '<l:Shelf NS name="a"><inner name="in"><inner href="b.xmi#/"/></inner></l:Shelf>')
    b = written(tmp_path / "b.xmi", '<l:Shelf NS name="b"><inner href="a.xmi#/"/></l:Shelf>')
    itself = written(tmp_path / "c.xmi", '<l:Shelf NS name="c"><inner href="c.xmi#/"/></l:Shelf>')
    for given in ([a, b], [itself]):
        with pytest.raises(InvalidFile, match="it contains an object that contains it, too"):
            new_repository().import_xmi(*given, model="m")

    repository = new_repository()
    repository.import_xmi(a, model="m")
    before = _but_versions(repository.open("m"))
    with pytest.raises(InvalidFile, match="it contains an object that contains it, too"):
        repository.import_xmi(b, model="m", add=True)
    assert _but_versions(repository.open("m")) == before


keyed = nm.package("keyed", "http://keyed")


@keyed.define(key=["code"])
class Part:
    code: str
    name: str | None = None


def _parts(file: Path, *parts: str) -> Path:
    head = 'xmlns:k="http://keyed" xmlns:xmi="http://www.omg.org/XMI" xmi:version="2.0"'
    file.write_text(f"<xmi:XMI {head}>{''.join(f'<k:Part {part}/>' for part in parts)}</xmi:XMI>")
    return file


def test_an_object_whose_key_is_in_the_model_is_not_written_over(tmp_path: Path) -> None:
    repository = nm.connect("memory:")
    _parts(tmp_path / "b.xmi", 'code="2"', 'code="1" name="second"')
    repository.import_xmi(_parts(tmp_path / "a.xmi", 'code="1" name="first"'), model="m", metamodel=[keyed])
    with pytest.raises(InvalidFile, match=r"an object of keyed\.Part with the same key is in the model already"):
        repository.import_xmi(tmp_path / "b.xmi", model="m", add=True)

    assert [part.name for part in repository.open("m").roots] == ["first"]


def test_keys_that_may_be_in_the_model_are_asked_for_many_at_a_time(tmp_path: Path) -> None:
    with Counting(open_store("memory:")) as store:
        repository = Repository(store)
        repository.import_xmi(_parts(tmp_path / "a.xmi", 'code="1"'), model="m", metamodel=[keyed])
        more = _parts(tmp_path / "b.xmi", *(f'code="{number}"' for number in range(2, 1002)))
        store.reset()
        repository.import_xmi(more, model="m", add=True)

        assert store.calls.total() < 100


def test_what_is_not_there_is_kept_by_the_name_of_the_file_where_it_should_be(tmp_path: Path) -> None:
    near = written(tmp_path / "near.xmi", '<l:Book NS><original href="far.xmi#//@none"/></l:Book>')
    far = written(tmp_path / "far.xmi", '<l:Book NS name="far"/>')
    together = new_repository()
    together.import_xmi(near, far, model="m", lenient=True)
    apart = new_repository()
    apart.import_xmi(far, model="m")
    apart.import_xmi(near, model="m", lenient=True, add=True)

    for repository in (together, apart):
        repository.open("m").export_xmi(tmp_path / "out.xmi")
        assert '<original href="far.xmi#//@none"/>' in (tmp_path / "out.xmi").read_text()


@pytest.mark.parametrize(
    "path", ["//@name", "//@name/@books", "//@name.0", "/²", f"/{'9' * 5000}", f"//@books.{'9' * 5000}"]
)
def test_a_path_that_leads_to_no_object_of_an_earlier_file_is_refused(tmp_path: Path, path: str) -> None:
    repository = new_repository()
    repository.import_xmi(written(tmp_path / "a.xmi", '<l:Library NS name="a"/>'), model="m")
    later = written(tmp_path / "b.xmi", f'<l:Book NS><sequel href="a.xmi#{path}"/></l:Book>')

    with pytest.raises(InvalidFile, match="which is not there"):
        repository.import_xmi(later, model="m", add=True)
    assert [root.name for root in repository.open("m").roots] == ["a"]
