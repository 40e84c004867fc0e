"""`birdenv blame` from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_the_command_prints_shares_and_episodes(birdenv: Any, tmp_path: Path) -> None:
    birdenv("c-interact", "--agent", "never-asks", "-n", "4", "-o", tmp_path)
    ran = birdenv("blame", tmp_path, "--episodes")
    assert ran.code == 0 and "The user's share of the failures: 0.0 %" in ran.out
    assert "never asked" in ran.out and json.loads(birdenv("blame", tmp_path, "--json").out)["failed"] > 0
    birdenv("bird", "-n", "1", "-o", tmp_path / "bird")
    ran = birdenv("blame", tmp_path / "bird")
    assert ran.code == 2 and "have a user" in ran.err
