"""`birdenv export` from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_rows_of_several_runs_go_to_one_file(birdenv: Any, tmp_path: Path) -> None:
    for agent in ("never-asks", "oracle"):
        birdenv("c-interact", "--agent", agent, "-n", "4", "-o", tmp_path / agent)
    file = tmp_path / "pairs.jsonl"
    ran = birdenv("export", tmp_path / "never-asks", tmp_path / "oracle", "-f", "preference", "-o", file)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert ran.code == 0 and f"{len(rows)} rows of 8 episodes" in ran.out and rows
    ran = birdenv("export", tmp_path / "oracle", "--format", "csv")
    assert ran.code == 2 and "choose from sft, preference, rl" in ran.err


def test_an_export_without_rows_says_why_and_writes_no_file(birdenv: Any, tmp_path: Path) -> None:
    for agent, repeats in (("never-asks", 1), ("oracle", 2)):
        birdenv("bird", "--agent", agent, "-n", "2", "--repeats", repeats, "-o", tmp_path / agent)
    for agent, form, more, why in (
        ("never-asks", "preference", (), "a pair needs two episodes of one task: play with --repeats"),
        ("oracle", "preference", (), "all episodes of each task earned the same reward"),
        ("oracle", "sft", ("--min-reward", "2"), "no episode earned enough"),
        ("oracle", "cocoa", ("--min-reward", "2"), "there is nothing to export"),
    ):
        ran = birdenv("export", tmp_path / agent, "-f", form, *more, "-o", tmp_path / "rows")
        assert ran.code == 2 and why in ran.err and not (tmp_path / "rows").exists(), ran
