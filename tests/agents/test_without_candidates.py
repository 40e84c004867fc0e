"""Agents that choose among candidate statements say so where there are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from birdenv.demo import DEMO_BIRD_FILE
from birdenv.runs import run_episodes


@pytest.mark.parametrize("agent", ["random", "never-asks", "asks-first"])
def test_data_without_candidates_is_told(demo: Path, tmp_path: Path, agent: str) -> None:
    records = json.loads((demo / DEMO_BIRD_FILE).read_text())
    bare = [{name: value for name, value in record.items() if name != "candidates"} for record in records]
    (tmp_path / "bare.json").write_text(json.dumps(bare))
    with pytest.warns(UserWarning, match="no task of this file has candidate statements"):
        run_episodes("bird", agent, limit=1, data_file=str(tmp_path / "bare.json"), db_dir=str(demo))
