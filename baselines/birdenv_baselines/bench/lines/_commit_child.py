"""Run one job with the birdenv on PYTHONPATH, and print the seconds that it took and its result.

This is a program that is started by its path. It uses only functions that all commits since 5bcae79 have. Its
argument is the folder that birdenv must be imported from. Its input is a JSON object with `game` and
`repeats`, or with `folder` and `pairs`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import birdenv
from birdenv.databases import SqliteSource
from birdenv.grading import Pair, score_pairs
from birdenv.runs import run_episodes


def _do(job: dict[str, Any]) -> str:
    if "game" in job:
        result = run_episodes(job["game"], "oracle", repeats=job["repeats"])
        return f"{len(result.records)} episodes, mean reward {result.mean_reward:.6g}"
    pairs = [Pair(db_id, (gold,), prediction) for db_id, gold, prediction in job["pairs"]]
    verdicts = score_pairs(pairs, SqliteSource(job["folder"]), workers=2)
    right, official = sum(each.ex for each in verdicts), sum(each.ex_bird for each in verdicts)
    return f"{len(pairs)} answers, {right} right, {official} by the official rule"


if __name__ == "__main__":
    if Path(birdenv.__file__).resolve().parents[1] != Path(sys.argv[1]):
        sys.exit(f"birdenv comes from {birdenv.__file__}, not from {sys.argv[1]}")
    read = json.load(sys.stdin)
    began = time.perf_counter()
    told = _do(read)
    print(json.dumps([time.perf_counter() - began, told]))
