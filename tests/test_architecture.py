"""The architecture holds here, and each rule finds what breaks it."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import attrs
import pytest

from neomodel.errors import InvalidValue, NeomodelError
from tests.architecture import (
    HOMES,
    all_errors,
    drivers_away_from_home,
    drivers_loaded_by_import,
    errors_away_from_home,
    faults_of_error,
    imports,
    long_decisions,
    long_sources,
    meaningless_names,
    sources,
    untold_modules,
    upward_imports,
)

HERE = Path(__file__).parent.parent
Rule = Callable[[Path], Iterable[str]]

RULES: list[Rule] = [
    upward_imports,
    drivers_away_from_home,
    drivers_loaded_by_import,
    errors_away_from_home,
    long_sources,
    long_decisions,
    meaningless_names,
    untold_modules,
]


@pytest.mark.parametrize("rule", RULES)
def test_this_tree_keeps_the_rule(rule: Rule) -> None:
    assert list(rule(HERE)) == []


def test_the_rules_look_at_this_tree() -> None:
    assert HERE / "neomodel" / "errors.py" in sources(HERE, "neomodel")
    assert {"attrs", "typer"} <= {found.name.partition(".")[0] for found in imports(HERE)}


def planted(root: Path, files: dict[str, str]) -> Path:
    packages = dict.fromkeys((f"neomodel{part}/__init__.py" for part in ("", "/stores", "/cluster")), "")
    for name, text in (packages | files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


FAULTS: list[tuple[Rule, str, str, str]] = [
    (
        upward_imports,
        "neomodel/stores/x.py",
        "from neomodel.model import Model",
        "x.py:1 imports neomodel.model",
    ),
    (upward_imports, "neomodel/stores/x.py", "import neomodel", "imports neomodel"),
    (
        upward_imports,
        "neomodel/stores/x.py",
        "from ..layout import encode",
        "imports neomodel.layout.encode",
    ),
    (upward_imports, "neomodel/stores/__init__.py", "from .. import ids", "imports neomodel.ids"),
    (upward_imports, "neomodel/layout.py", "def f():\n    import neomodel.objects", "layout.py:2 imports"),
    (
        upward_imports,
        "neomodel/errors.py",
        "from neomodel.stores import Row",
        "imports neomodel.stores.Row",
    ),
    (upward_imports, "neomodel/stores/x.py", "from neomodel import cluster", "imports neomodel.cluster"),
    (upward_imports, "neomodel/cluster/x.py", "import neomodel.cli.frame", "imports neomodel.cli.frame"),
    (upward_imports, "neomodel/model.py", "import metamodels.java", "imports metamodels.java"),
    (upward_imports, "neomodel/model.py", "from neomodel.cli import main", "imports neomodel.cli.main"),
    (upward_imports, "metamodels/elsa/x.py", "import spark", "imports spark"),
    (upward_imports, "spark/x.py", "from tests import x", "imports tests.x"),
    (upward_imports, "neomodel/ids.py", "import_module('neomodel.xmi')", "imports neomodel.xmi"),
    (upward_imports, "neomodel/stray.py", "", "neomodel/stray.py is in no layer"),
    (drivers_away_from_home, "neomodel/model.py", "import lmdb", "model.py:1 imports lmdb"),
    (drivers_away_from_home, "neomodel/cluster/x.py", "from thriftpy2.rpc import f", "imports thriftpy2"),
    (drivers_away_from_home, "neomodel/cluster/jars.py", "import pyspark", "imports pyspark"),
    (drivers_away_from_home, "neomodel/cli/cluster.py", "import happybase", "imports happybase"),
    (drivers_away_from_home, "neomodel/stores/lmdb.py", "import happybase as h", "imports happybase"),
    (drivers_away_from_home, "metamodels/x.py", "if 1:\n    import pyspark.sql", "imports pyspark.sql"),
    (drivers_away_from_home, "neomodel/registry.py", "from lxml import etree", "imports lxml.etree"),
    (drivers_away_from_home, "neomodel/always.py", "from rich import print", "imports rich.print"),
    (drivers_away_from_home, "spark/x.py", "importlib.import_module('typer')", "imports typer"),
    (drivers_loaded_by_import, "neomodel/__init__.py", "import lmdb", "loads lmdb"),
    (drivers_loaded_by_import, "neomodel/stores/__init__.py", "import lxml", "stores` loads lxml"),
    (drivers_loaded_by_import, "neomodel/cluster/__init__.py", "import pyspark", "cluster` loads pyspark"),
    (
        errors_away_from_home,
        "metamodels/x.py",
        "class Odd(errors.Purged): pass",
        "x.py:1 defines the error Odd",
    ),
    (errors_away_from_home, "neomodel/ids.py", "class Odd(NeomodelError): pass", "the error Odd"),
    (long_sources, "spark/x.py", "pass\n" * 401, "spark/x.py has 401 lines"),
    (long_sources, "tests/test_x.py", "pass\n" * 401, "tests/test_x.py has 401 lines"),
    (long_decisions, "docs/decisions/0001-x.md", "line\n" * 26, "0001-x.md has 26 lines"),
    (
        untold_modules,
        "docs/architecture.md",
        "## neomodel\n\n### neomodel.stores: rows\n\n- `gone.py`: nothing.",
        "tells of neomodel/stores/gone.py, which is not there",
    ),
    (meaningless_names, "neomodel/stores/utils.py", "", "neomodel/stores/utils.py has a name"),
    (meaningless_names, "tests/helpers/__init__.py", "", "tests/helpers/__init__.py has a name"),
]


@pytest.mark.parametrize(("rule", "path", "text", "told"), FAULTS)
def test_a_planted_fault_is_found(rule: Rule, path: str, text: str, told: str, tmp_path: Path) -> None:
    found = list(rule(planted(tmp_path, {path: text})))

    assert found
    assert all(told in fault for fault in found), found


def test_a_module_is_told_of_where_its_package_is(tmp_path: Path) -> None:
    document = (
        "## neomodel\n\n- `one.py`: x.\n- `cli/`: `one.py` is y.\n\n### neomodel.stores: rows\n\n- `two.py`: z.\n"
    )
    modules = ("one.py", "two.py", "cli/one.py", "stores/one.py", "stores/two.py")
    root = planted(tmp_path, {"docs/architecture.md": document, **{f"neomodel/{name}": "" for name in modules}})

    assert list(untold_modules(root)) == [
        "docs/architecture.md does not tell of neomodel/stores/one.py",
        "docs/architecture.md does not tell of neomodel/two.py",
    ]


GOOD = {
    "neomodel/stores/lmdb.py": "import lmdb\nfrom neomodel.errors import NeomodelError\nfrom .base import Row",
    "neomodel/stores/hbase_thrift.py": "import happybase, thriftpy2",
    "neomodel/cluster/local.py": "from neomodel.cluster import jars\nfrom neomodel.errors import ClusterFailed",
    "neomodel/xmi/reader.py": "from lxml import etree\nfrom neomodel.model import Model",
    "neomodel/objects.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from neomodel.model import Model",
    "neomodel/cli/app.py": "import typer, rich, spark, metamodels\nfrom neomodel import __version__, cluster",
    "metamodels/java.py": "import neomodel",
    "spark/source.py": "import pyspark, metamodels, neomodel.stores",
    "tests/test_x.py": "pass\n" * 400,
    "docs/decisions/0001-x.md": "line\n" * 25,
    "neomodel/errors.py": "class Odd(NeomodelError): pass",
    "benchmarks/x.py": "import lmdb",
}


@pytest.mark.parametrize("rule", RULES)
def test_what_is_allowed_is_not_found(rule: Rule, tmp_path: Path) -> None:
    assert list(rule(planted(tmp_path, GOOD))) == []


def test_every_driver_that_is_required_has_a_home() -> None:
    no_driver = {"attrs", "networkx", "pandas", "pyarrow"}  # Spark wants pandas, nobody here does
    required = (HERE / "setup.cfg").read_text().partition("install_requires =")[2].partition("[")[0]

    assert {line.partition(">=")[0].strip() for line in required.split()} - no_driver == HOMES.keys()


# errors


@pytest.mark.parametrize("error", list(all_errors()))
def test_an_error_pickles_tells_everything_and_is_a_builtin(error: type[NeomodelError]) -> None:
    assert list(faults_of_error(error)) == []


def test_an_error_can_be_told_whatever_was_found() -> None:
    told = str(InvalidValue("a number", 10**5000, "fewer digits"))  # more than Python makes text of

    assert told == "a number is <int, too long to be shown>, expected fewer digits"


def broken(name: str, sentence: str, *bases: type, **body: Any) -> Any:
    body |= {"sentence": sentence, "__annotations__": {"where": str, "at": int}, "__module__": __name__}
    return attrs.define(eq=False, slots=False)(type(name, (NeomodelError, *bases), body))


def _made_otherwise(self: Any, where: str, at: int) -> None:
    self.where, self.at = where, at
    Exception.__init__(self, f"{where} {at}")


Unpicklable = broken("Unpicklable", "{where} {at}", __init__=_made_otherwise)
Silent = broken("Silent", "{where}")
Long = broken("Long", "{where}\n{at}")
Purged = broken("Purged", "{where} {at}", KeyError)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Unpicklable, "Unpicklable does not pickle"),
        (Silent, "Silent does not tell its at"),
        (Long, "Long is not one line"),
        (Purged, "Purged is no ValueError"),
    ],
)
def test_a_broken_error_is_found(error: type[NeomodelError], told: str) -> None:
    found = list(faults_of_error(error))

    assert len(found) == 1
    assert told in found[0]
