"""Plays the demo benchmark: its candidates before the real grader, its baselines against each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from samples import sampled

from birdenv.benchmarks import verify_records
from birdenv.demo import DEMO_C_INTERACT_FILE
from birdenv.dialogue import Dialogue, Move, make_game
from birdenv.grading import InteractGrader
from birdenv.runs import RunDirectory, RunPlan, prepare, run
from birdenv.sql import split_statements
from birdenv.tasks import SYSTEM
from birdenv.tasks.c_interact import CInteractRules, CInteractTask, load_benchmark
from birdenv.tasks.interact._task_list import Benchmark

TASK_FILE = Path(__file__).resolve().parents[2] / "birdenv" / "demo" / "files" / DEMO_C_INTERACT_FILE
RECORDS: list[dict[str, Any]] = [json.loads(line) for line in TASK_FILE.read_text("utf-8").splitlines()]

by_record = pytest.mark.parametrize(
    "record", sampled(RECORDS, ids=[record["instance_id"] for record in RECORDS])
)


@pytest.fixture(scope="module")
def benchmark(demo: Path) -> Benchmark:
    return load_benchmark(demo, demo / DEMO_C_INTERACT_FILE)


@pytest.fixture(scope="module")
def grader(benchmark: Benchmark) -> InteractGrader:
    return InteractGrader(benchmark.source)


@pytest.mark.every(4)
@by_record
def test_one_reading_passes_in_each_phase(
    record: dict[str, Any], benchmark: Benchmark, grader: InteractGrader
) -> None:
    """The follow-up is played on top of the right reading, not of the gold."""
    [task] = [t for t in benchmark.tasks if t.public.instance_id == record["instance_id"]]

    def passes(*submissions: str) -> bool:
        return submit(task, benchmark, grader, submissions)

    right = [reading for reading in record["candidates"] if passes(reading)]
    assert len(right) == 1
    follow_ups = record["follow_up"]["candidates"]
    assert sum(passes(*right, reading) for reading in follow_ups) == 1


def submit(
    task: CInteractTask, benchmark: Benchmark, grader: InteractGrader, submissions: tuple[str, ...]
) -> bool:
    """Does the last submission pass? Those before it must."""
    rules = CInteractRules(task, benchmark.source, grader)
    dialogue = Dialogue(rules)
    for phase, sql in enumerate(submissions, 1):
        view = dialogue.view(SYSTEM)
        assert (view.phase, sql in view.candidates) == (phase, True)
        dialogue.apply(SYSTEM, Move("submit_sql", sql))
    dialogue.close()
    *before, last = rules.attempts
    assert all(attempt.passed for attempt in before)
    assert last.passed or last.status in ("wrong_result", "failed_test_case"), last.status
    return last.passed


@by_record
def test_the_gold_earns_everything(record: dict[str, Any], demo: Path) -> None:
    report = verify_records([record], demo)
    assert (report.problems, report.warnings) == ((), ())
    assert report.figures["oracle passed"] == 1


@pytest.mark.slow
def test_the_baselines_differ(demo: Path, tmp_path: Path) -> None:
    """The wording tells something, asking tells much more."""
    random, never_asks, asks_first = (
        mean_reward(agent, demo, tmp_path) for agent in ("random", "never-asks", "asks-first")
    )
    assert never_asks > random
    assert asks_first >= never_asks + 0.2


def mean_reward(agent: str, demo: Path, folder: Path) -> float:
    arena = make_game("c-interact", data_dir=str(demo), data=str(demo / DEMO_C_INTERACT_FILE))
    plan = RunPlan(arena, {0: agent, 1: "rule"})
    directory = RunDirectory.create(folder / agent)
    prepare(directory, plan.config(), resume=False)
    summary = run(plan, directory)
    assert summary.overall["status"] == {"completed": len(arena.ids)}
    reward: float = summary.overall["figures"]["reward"]["value"]
    return reward


@by_record
def test_no_gold_statement_stands_in_a_reading(record: dict[str, Any]) -> None:
    candidates = [*record["candidates"], *record["follow_up"]["candidates"]]
    for script in [*record["sol_sql"], *record["follow_up"]["sol_sql"]]:
        for statement in split_statements(script):
            assert not [reading for reading in candidates if statement.rstrip(";") in reading]
