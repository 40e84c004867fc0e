"""Running a piece of Python in a process of its own, as users' programs are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).parent


def start(code: str, *arguments: object, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(_HERE), **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(code: str, *arguments: object, **environment: str) -> str:
    """What it printed; an assertion fails if it does not end well, or says anything on standard error."""
    process = start(code, *arguments, **environment)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, ""), (process.returncode, err, out)
    return out
