"""What importing the room costs."""

import subprocess
import sys


def test_importing_it_does_not_import_sqlglot() -> None:
    program = "import sys, birdenv.grading; sys.exit('sqlglot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
