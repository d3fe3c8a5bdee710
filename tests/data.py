"""Public models to test on, where there are any: in a folder beside the repository, or the one NEOMODEL_DATA names."""

import os
from pathlib import Path

import pytest


def data_folder() -> Path:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("NEOMODEL_DATA", beside))


needs_data = pytest.mark.skipif(
    not (data_folder() / "README.md").is_file(), reason="no folder of public models here; set NEOMODEL_DATA"
)
