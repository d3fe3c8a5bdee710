"""Programs in processes of their own, whose sets are in another order."""

import os
import subprocess
import sys


def in_another_process(program: str, seed: int) -> str:
    """What a program prints, in a process that hashes texts by that seed."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
