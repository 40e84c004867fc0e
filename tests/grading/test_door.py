"""The room's door: what it exports, and what importing it costs."""

import subprocess
import sys

import birdenv.grading


def test_every_exported_name_is_there() -> None:
    assert sorted(
        birdenv.grading.__all__, key=lambda name: (not name.isupper(), name[0].islower(), name)
    ) == (birdenv.grading.__all__)
    assert all(hasattr(birdenv.grading, name) for name in birdenv.grading.__all__)


def test_importing_it_does_not_import_sqlglot() -> None:
    program = "import sys, birdenv.grading; sys.exit('sqlglot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
