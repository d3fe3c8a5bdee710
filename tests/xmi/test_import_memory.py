"""An import takes no more memory for a larger file: measured in a process of its own."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import xmi_files

MEGABYTE = 2**20

SCRIPT = """
import sys
import neomodel as nm
from tests.memory import own_memory

folder, peak = sys.argv[1], 0

def watch(elements, share):
    global peak
    peak = max(peak, own_memory())

with nm.connect(f"lmdb:{folder}/store") as repository:
    repository.import_xmi(f"{folder}/small.xmi", model="small", metamodel=[f"{folder}/code.ecore"])
    before = own_memory()
    done = repository.import_xmi(f"{folder}/large.xmi", model="large", progress=watch)
print(done.elements, peak - before)
"""


@pytest.mark.parametrize(
    ("small", "large"), [(100_000, 400_000), pytest.param(400_000, 10_000_000, marks=pytest.mark.soak)]
)
def test_a_large_file_takes_the_memory_of_a_small_one(
    tmp_path: Path, small: int, large: int, figures: Callable[[str], None]
) -> None:
    (tmp_path / "code.ecore").write_text(xmi_files.ECORE)
    xmi_files.write(tmp_path / "small.xmi", small)
    count = xmi_files.write(tmp_path / "large.xmi", large)
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, timeout=7200, check=True
    )
    elements, growth = map(int, run.stdout.split())

    figures(f"import of {elements:,} elements: {growth / MEGABYTE:.1f} MB more than one of {small:,}")
    assert elements == count
    assert growth < 48 * MEGABYTE


WIDE = """
import sys
import neomodel as nm
from tests.memory import own_memory
from tests.objects.library import library

peak = 0

def watch(elements, share):
    global peak
    peak = max(peak, own_memory())

with nm.connect(f"lmdb:{sys.argv[1]}/store") as repository:
    repository.register(library)
    repository.import_xmi(f"{sys.argv[1]}/small.xmi", model="small")
    before = own_memory()
    repository.import_xmi(f"{sys.argv[1]}/large.xmi", model="large", progress=watch)
    print(len(repository.open("large").roots[0].books), peak - before)
"""


def test_a_container_with_very_many_children_is_not_held_in_memory(tmp_path: Path) -> None:
    for name, count in (("small", 20_000), ("large", 200_000)):
        with (tmp_path / f"{name}.xmi").open("w") as file:
            file.write('<l:Shelf xmlns:l="http://library">')
            file.writelines(f'<books name="{n}" tags="{n}"/>' for n in range(count))
            file.write("</l:Shelf>")
    run = subprocess.run(
        [sys.executable, "-c", WIDE, str(tmp_path)], capture_output=True, text=True, timeout=600, check=True
    )
    children, growth = map(int, run.stdout.split())

    assert children == 200_000
    assert growth < 40 * MEGABYTE
