"""What is read from a file lies evenly in regions, and nearly all of it beside its container."""

from collections import Counter
from pathlib import Path

import neomodel as nm
from benchmarks import xmi_files
from neomodel import ids, layout
from neomodel.xmi.shards import ROWS, Shards
from tests.data import data_folder, needs_data

REGIONS = [4, 12, 16]


def test_a_child_has_the_shard_of_its_container_while_there_is_room() -> None:
    shards = Shards("m", 0)
    root = shards.fresh()

    assert {shards.beside(root) for _ in range(ROWS - 1)} == {root}

    other = shards.beside(root)
    assert other != root
    assert {shards.beside(root) for _ in range(ROWS - 2)} == {other}, "what comes after it lies together too"
    assert shards.beside(other) not in (root, other)


def test_children_of_what_has_no_shard_lie_together() -> None:
    shards = Shards("m", 0)

    assert len({shards.beside(None) for _ in range(ROWS - 1)}) == 1


def test_shards_lie_evenly_wherever_they_begin() -> None:
    for used in (0, 1, 17, 70_000):
        shards = Shards("m", used)
        found = Counter(shards.fresh() for _ in range(100))
        assert max(found.values()) == 1
        assert _uneven(found, 4) <= 1.2


def test_a_file_is_spread_evenly(tmp_path: Path) -> None:
    (tmp_path / "code.ecore").write_text(xmi_files.ECORE)
    xmi_files.write(tmp_path / "a.xmi", 90_000)
    model = _imported(tmp_path / "a.xmi", tmp_path / "code.ecore")

    assert [regions for regions in REGIONS if _uneven(_sizes(model), regions) > 1.5] == []
    assert _inside(model) >= 0.85, "a ninth of all, the types, lie in the model, whose shard is full"


@needs_data
def test_a_real_model_is_spread_evenly() -> None:
    folder = data_folder() / "neoemf"
    model = _imported(folder / "models/org.eclipse.gmt.modisco.java.kyanos.xmi", folder / "model/Java.ecore")

    assert [regions for regions in REGIONS if _uneven(_sizes(model), regions) > 1.5] == []
    assert _inside(model) >= 0.9


def _imported(file: Path, metamodel: Path) -> nm.Model:
    repository = nm.connect("memory:")
    repository.import_xmi(file, model="m", metamodel=[metamodel])
    return repository.open("m")


def _sizes(model: nm.Model) -> Counter[str]:
    return Counter(key.decode()[:4] for key, _ in model.table.scan(columns=layout.TYPE) if key != ids.ROOT.encode())


def _uneven(sizes: Counter[str], regions: int) -> float:
    """The largest of so many equal parts of all shards, over the mean."""
    parts: Counter[int] = Counter()
    for shard, size in sizes.items():
        parts[int(shard, 16) * regions // ids.SHARDS] += size
    return max(parts.values()) * regions / sum(parts.values())


def _inside(model: nm.Model) -> float:
    """The share of objects that lie in the shard of their container."""
    rows = [(key, row[layout.CONTAINER]) for key, row in model.table.scan(columns=layout.PLACE)]
    contained = [key[:4] == container[:4] for key, container in rows if container != ids.ROOT.encode()]
    return sum(contained) / len(contained)
