"""An import into HBase gives what one into memory gives, spread over regions."""

from pathlib import Path

import pytest

import neomodel as nm
from benchmarks import xmi_files
from neomodel.cluster import Cluster
from neomodel.errors import InvalidFile
from tests.xmi.files import told


def test_a_model_comes_whole_or_not_at_all(hbase: Cluster, tmp_path: Path) -> None:
    (tmp_path / "code.ecore").write_text(xmi_files.ECORE)
    count = xmi_files.write(tmp_path / "a.xmi", 45_000)  # some twenty shards
    broken = tmp_path / "broken.xmi"
    broken.write_text((tmp_path / "a.xmi").read_text().replace("</code:Model>", ""))
    with nm.connect(hbase.url) as repository, nm.connect("memory:") as other:
        done = repository.import_xmi(tmp_path / "a.xmi", model="imported", metamodel=[tmp_path / "code.ecore"])
        other.import_xmi(tmp_path / "a.xmi", model="imported", metamodel=[tmp_path / "code.ecore"])
        model = repository.open("imported")

        assert done.elements == count
        assert told(model) == told(other.open("imported"))
        rows = [sum(1 for _ in model.table.scan(region.start, region.stop)) for region in model.table.regions()]
        assert len(rows) > 1
        assert max(rows) <= 1.5 * sum(rows) / len(rows)

        with pytest.raises(InvalidFile, match="the XML is broken"):
            repository.import_xmi(broken, model="broken")
        assert "broken" not in repository.models()
        repository.drop("imported")
