"""The table of containment says what was proven, what failed and what was not run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = """
import pytest

@pytest.fixture
def leaky():
    yield
    assert False

@pytest.mark.slow
@pytest.mark.contains("P01")
@pytest.mark.parametrize("attacked", ["grading", "agent"])
def test_contained(attacked, record_property):
    record_property("outcome", "ok" if attacked == "grading" else "denied")

@pytest.mark.contains("P02")
@pytest.mark.parametrize("attacked", ["grading", "agent"])
def test_half(attacked):
    assert attacked == "agent"

@pytest.mark.contains("P03")
def test_seen_afterwards(leaky):
    pass

@pytest.mark.contains("P04")
def test_without_a_server():
    pytest.skip("no server")
"""


HERE = Path(__file__).parent
ENVIRONMENT = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # most plugins take long to import


def told(folder: Path, *options: str) -> list[str]:
    """The lines of the table, with single spaces."""
    folder.joinpath("test_cases.py").write_text(CASES)
    folder.joinpath("pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "xdist",
        "-p",
        "containment_table",
        *options,
        str(folder),
    ]
    run = subprocess.run(command, capture_output=True, text=True, cwd=HERE, env=ENVIRONMENT)
    assert run.returncode == 1, run.stdout + run.stderr
    lines = [" ".join(line.split()) for line in run.stdout.splitlines()]
    assert "1 failed" in lines[-1], "the session came to its end"
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["0", "2"])
def test_each_case_is_told_as_it_ended(tmp_path: Path, processes: str) -> None:
    lines = told(tmp_path, "-n", processes)
    for line in (
        "P01 COPY to and from programs denied 1, stays inside 1 | agent, grading",
        "P02 COPY to and from the server's files FAILED: 1 of 2 tests",
        "P03 COPY to and from the client FAILED: 1 of 1 tests",
        "P04 functions that read the server's files not run",
        "P05 large objects from and into files not run",
    ):
        assert line in lines
    assert not any(line.startswith("S01") for line in lines), "nothing of that table was asked for"


def test_there_is_no_table_without_the_slow_tests(tmp_path: Path) -> None:
    assert not any(line.startswith("P0") for line in told(tmp_path, "-n", "0", "-m", "not slow"))
