"""Agents that choose among candidate statements say so where there are none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from birdenv.demo import DEMO_BIRD_FILE
from birdenv.runs import run_episodes


@pytest.fixture
def bare(demo: Path, tmp_path: Path) -> Path:
    """The tasks of the demo without their candidates."""
    records = json.loads((demo / DEMO_BIRD_FILE).read_text())
    bare = [{name: value for name, value in record.items() if name != "candidates"} for record in records]
    (tmp_path / "bare.json").write_text(json.dumps(bare))
    return tmp_path / "bare.json"


@pytest.mark.parametrize("agent", ["random", "never-asks", "asks-first"])
def test_data_without_candidates_is_told(demo: Path, bare: Path, agent: str) -> None:
    with pytest.warns(UserWarning, match="no task in this file has candidate statements"):
        run_episodes("bird", agent, limit=1, data_file=str(bare), db_dir=str(demo))


@pytest.mark.slow
def test_a_command_tells_it_in_one_line_without_the_place_in_the_code(demo: Path, bare: Path) -> None:
    options = ("--agent", "random", "-n", "1", "-o", bare.parent / "runs")
    command = [sys.executable, "-m", "birdenv", "bird", *map(str, (bare, demo, *options))]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stderr.startswith("Warning: no task in this file has candidate statements")
    assert ran.stderr.count("\n") == 1
