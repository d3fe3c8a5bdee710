"""The sample instance of the NeoEMF/HBase paper, figure 4b, gives the rows of its table 1.

Two differences. Every row has `t:version` besides, which a compare-and-swap needs. The table calls one and the same
reference `modifier`, where it is a property, and `modifiers`, where it tells how a child is contained; we use
`modifier` in both. (It also has 'bodyDecl' for the name that the figure gives as bodyDecl2.)
"""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import neomodel as nm
from metamodels.java import BodyDeclaration, ClassDeclaration, Modifier, Package, VisibilityKind, java
from neomodel.repository import Repository
from neomodel.stores import VERSION
from tests.stores.kinds import KINDS

TABLE_1 = """
key  | p:eContents p:name    p:ownedElements p:bodyDeclarations p:modifier p:visibility | c:container c:feature        | t:nsuri     t:eclass
ROOT | p1          -         -               -                  -          -            | -           -                | http://java RootEObject
p1   | -           package1  c1              -                  -          -            | ROOT        eContents        | http://java Package
c1   | -           class1    -               b1,b2              -          -            | p1          ownedElements    | http://java ClassDeclaration
b1   | -           bodyDecl1 -               -                  m1         -            | c1          bodyDeclarations | http://java BodyDeclaration
b2   | -           bodyDecl2 -               -                  m2         -            | c1          bodyDeclarations | http://java BodyDeclaration
m1   | -           -         -               -                  -          public       | b1          modifier         | http://java Modifier
m2   | -           -         -               -                  -          public       | b2          modifier         | http://java Modifier
"""  # noqa: E501  a table

HEAD, *ROWS = (line.replace("|", "").split() for line in TABLE_1.strip().splitlines())


@pytest.fixture(params=["memory", "lmdb", "hbase"])
def repo(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Repository]:
    kind = KINDS[request.param]
    if kind.cluster:
        (tmp_path / "url").write_text(request.getfixturevalue("hbase").url)
    with Repository(kind.open(tmp_path)) as repo:
        repo.register(java)
        yield repo


@pytest.fixture
def model(repo: Repository) -> Iterator[nm.Model]:
    name = f"sample-{uuid.uuid4().hex}"
    yield repo.create(name)
    repo.drop(name)


def sample() -> Package:
    """The instance of figure 4b; the ids are the paper's."""
    bodies = [
        BodyDeclaration(name=f"bodyDecl{number}", modifier=Modifier(visibility=VisibilityKind.public))
        for number in (1, 2)
    ]
    package = Package(name="package1", ownedElements=[ClassDeclaration(name="class1", bodyDeclarations=bodies)])
    elements = [package, *package.eAllContents()]
    for element, oid in zip(elements, ["p1", "c1", "b1", "m1", "b2", "m2"], strict=True):
        nm.identify(element, oid)
    return package


def written(model: nm.Model) -> dict[str, dict[str, str]]:
    """All rows that are there, without their versions."""
    rows = dict(model.table.scan())
    assert all(row.pop(VERSION) for row in rows.values())
    return {
        key.decode(): {column.decode(): value.decode() for column, value in row.items()} for key, row in rows.items()
    }


def test_the_sample_instance_gives_table_1(model: nm.Model) -> None:
    model.roots.append(sample())

    found = written(model)

    shown = [[key, *(found[key].get(column, "-") for column in HEAD[1:])] for key, *_ in ROWS if key in found]
    print("", *("  ".join(f"{cell:16}" for cell in row) for row in [HEAD, *shown]), sep="\n")
    expected = {
        key: {column: cell for column, cell in zip(HEAD[1:], cells, strict=True) if cell != "-"} for key, *cells in ROWS
    }
    assert found == expected


def test_table_1_reads_as_the_sample_instance(model: nm.Model) -> None:
    model.roots.append(sample())

    (package,) = Repository(model.repository.store).open(model.name).roots

    (class_,) = package.ownedElements
    assert (package.name, class_.name, class_.eContainer()) == ("package1", "class1", package)
    assert [(body.name, body.modifier.visibility) for body in class_.bodyDeclarations] == [
        ("bodyDecl1", VisibilityKind.public),
        ("bodyDecl2", VisibilityKind.public),
    ]
