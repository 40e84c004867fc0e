"""The demo on PostgreSQL: the same tasks, the same figures, and SQL of its own where SQLite's will not do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from birdenv.benchmarks import DEMO_C_INTERACT_FILE
from birdenv.databases import DatabaseSource, open_source
from birdenv.dialogue import Move
from birdenv.grading import InteractGrader
from birdenv.runs import CInteractRun, RunDirectory, Setting, make_agent, prepare, run, run_config
from birdenv.tasks import SYSTEM
from birdenv.tasks.c_interact import PROFILES, CInteractController, CInteractTask, load_benchmark
from birdenv.users import RuleUser


def overall(
    demo: Path, source: DatabaseSource, agent: str, profile: str, folder: Path, step: int
) -> dict[str, Any]:
    benchmark = load_benchmark(demo, demo / DEMO_C_INTERACT_FILE, source=source)
    tasks = benchmark.tasks[::step]
    game = CInteractRun(
        tasks=tasks,
        source=source,
        setting=Setting("c-interact", [task.public for task in tasks]),
        data_file=benchmark.task_file,
        profile=PROFILES[profile],
        user=RuleUser(),
        agent_name=agent,
    )
    directory = RunDirectory.create(folder)
    prepare(directory, run_config(game, agent, 0), resume=False)
    summary = run(game, make_agent(agent, game), directory, parallel=2)
    return {name: of for name, of in summary.overall.items() if name != "engine"}


@pytest.mark.parametrize(
    ("agent", "profile", "step"),
    [
        ("oracle", "strict", 10),
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
    on_postgres = overall(demo, open_source(demo, "postgres"), agent, profile, tmp_path / "a", step)
    assert on_postgres == overall(demo, open_source(demo), agent, profile, tmp_path / "b", step)
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
    controller = CInteractController(task, source, grader)
    for sql in sqls:
        controller.apply(SYSTEM, Move("submit_sql", sql))
    controller.close()
    last = controller.attempts[-1]
    assert last.passed or last.status == "wrong_result", (task.public.instance_id, last)
    return last.passed
