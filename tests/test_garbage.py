"""What Python is told to leave out when it looks for garbage, told in a process of its own."""

import subprocess
import sys

_PROGRAM = """
import gc
from neomodel.garbage import settled

settled()
first = gc.get_freeze_count()
kept = [[] for _ in range(1000)]
settled()
assert gc.get_freeze_count() == first > 1000, "what is made later may become garbage"
import colorsys
settled()
assert gc.get_freeze_count() > first
"""


def test_what_is_there_is_left_out_again_only_if_modules_have_come_since() -> None:
    subprocess.run([sys.executable, "-c", _PROGRAM], check=True)
