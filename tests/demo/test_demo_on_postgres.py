"""The demo on PostgreSQL: the same tasks, the same figures, and SQL of its own where SQLite's will not do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from birdenv.databases import DatabaseSource, open_source
from birdenv.demo import DEMO_C_INTERACT_FILE
from birdenv.dialogue import Dialogue, Move, make_game
from birdenv.grading import InteractGrader
from birdenv.run_settings import RunSettings
from birdenv.runs import RunDirectory, RunPlan, prepare, run
from birdenv.tasks import SYSTEM
from birdenv.tasks.c_interact import CInteractRules, CInteractTask, load_benchmark


def overall(demo: Path, dialect: str, agent: str, profile: str, folder: Path, step: int) -> dict[str, Any]:
    file = demo / DEMO_C_INTERACT_FILE
    names = [json.loads(line)["instance_id"] for line in file.read_text().splitlines()][::step]
    with make_game(
        "c-interact", data_dir=str(demo), data=str(file), instances=names, profile=profile, dialect=dialect
    ) as arena:
        plan = RunPlan(arena, {0: agent, 1: "rule"}, RunSettings(parallel=2))
        directory = RunDirectory.create(folder)
        prepare(directory, plan.config(), resume=False)
        summary = run(plan, directory)
    return {name: of for name, of in summary.overall.items() if name != "engine"}


@pytest.mark.parametrize(
    ("agent", "profile", "step"),
    [
        ("oracle", "strict", 19),
        *(
            pytest.param(agent, profile, 1, marks=pytest.mark.slow)
            for agent, profile in [
                ("oracle", "strict"),
                ("oracle", "shell"),
                ("oracle", "adk"),
                ("asks-first", "strict"),
                ("never-asks", "strict"),
            ]
        ),
    ],
)
def test_the_figures_are_those_of_sqlite(
    demo: Path, postgres_dsn: str, agent: str, profile: str, step: int, tmp_path: Path
) -> None:
    on_postgres = overall(demo, "postgres", agent, profile, tmp_path / "a", step)
    on_sqlite = overall(demo, "sqlite", agent, profile, tmp_path / "b", step)
    if agent == "asks-first":  # what parts the gold has to ask about depends on its dialect
        for figures in (on_postgres, on_sqlite):
            del figures["answers"], figures["answer_shares"]
    assert on_postgres == on_sqlite
    if agent == "oracle":
        assert on_postgres["figures"]["reward"]["value"] == 1.0


@pytest.mark.slow
def test_one_reading_passes_in_each_phase(demo: Path, postgres_dsn: str) -> None:
    """Of the tasks that have SQL of their own there: the others are judged as on SQLite."""
    source = open_source(demo, "postgres")
    tasks = load_benchmark(demo, demo / DEMO_C_INTERACT_FILE, source=source).tasks
    on_sqlite = load_benchmark(demo, demo / DEMO_C_INTERACT_FILE).tasks
    grader = InteractGrader(source)
    changed = [task for task, other in zip(tasks, on_sqlite, strict=True) if sql_of(task) != sql_of(other)]
    assert len(changed) == 14
    for task in changed:
        follow_up = task.private.follow_up
        assert follow_up is not None
        right = [sql for sql in task.public.candidates if passes(task, source, grader, sql)]
        assert len(right) == 1, task.public.instance_id
        then = [sql for sql in follow_up.candidates if passes(task, source, grader, right[0], sql)]
        assert len(then) == 1, task.public.instance_id


def sql_of(task: CInteractTask) -> tuple[Any, ...]:
    private = task.private
    return (private.gold, private.test_cases, private.follow_up, task.public.candidates, private.brief.gold)


def passes(task: CInteractTask, source: DatabaseSource, grader: InteractGrader, *sqls: str) -> bool:
    rules = CInteractRules(task, source, grader)
    dialogue = Dialogue(rules)
    for sql in sqls:
        dialogue.apply(SYSTEM, Move("submit_sql", sql))
    dialogue.close()
    last = rules.attempts[-1]
    assert last.passed or last.status == "wrong_result", (task.public.instance_id, last)
    return last.passed
