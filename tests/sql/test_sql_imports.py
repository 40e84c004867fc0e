"""The room is imported where nothing but the standard library is: in the process of test cases."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import birdenv.sql

PROGRAM = """
import sys, types
package = types.ModuleType("birdenv")
package.__path__ = [sys.argv[1]]
sys.modules["birdenv"] = package
import birdenv.sql
print(*sorted(name for name in sys.modules if name.startswith("birdenv.")))
"""


def test_the_standard_library_is_enough() -> None:
    folder = str(Path(birdenv.sql.__file__).parents[1])
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PROGRAM, folder], capture_output=True, text=True, check=True
    )
    assert {name.split(".")[1] for name in told.stdout.split()} == {"sql"}
