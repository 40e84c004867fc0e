"""Games of the demo and runs of them, as the tests play them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from birdenv.demo import DEMO_BIRD_FILE, DEMO_C_INTERACT_FILE
from birdenv.dialogue import Arena, make_game
from birdenv.run_settings import RunSettings
from birdenv.runs import RunDirectory, RunPlan, prepare, run


def bird(demo: Path, count: int | None = None, *, file: Path | None = None, **settings: Any) -> Arena:
    chosen = {"data_file": str(file or demo / DEMO_BIRD_FILE), "db_dir": str(demo)}
    return make_game("bird", limit=count, **(chosen | settings))


def c_interact(folder: Path, count: int | None = None, **settings: Any) -> Arena:
    return make_game("c-interact", limit=count, **(_interact(folder) | settings))


def a_interact(folder: Path, count: int | None = None, **settings: Any) -> Arena:
    return make_game("a-interact", limit=count, **(_interact(folder) | settings))


def _interact(folder: Path) -> dict[str, Any]:
    file = folder / DEMO_C_INTERACT_FILE
    return {"data_dir": str(folder), "data": str(file) if file.exists() else None}


def tasks_of(arena: Arena) -> list[Any]:
    """The tasks of an SQL game, both halves, in the file's order."""
    tasks: Any = arena._tasks
    return list(tasks.tasks.values())


def plan_of(arena: Arena, agent: Any, **more: Any) -> RunPlan:
    """A run of an agent, with the rule-based user where the game has one."""
    others = {1: "rule"} if len(arena.game.seats) > 1 else {}
    engine = more.pop("engine", None)
    return RunPlan(arena, {0: agent, **others}, RunSettings(**more), engine=engine)


def play(arena: Arena, agent: Any, folder: Path, engine: Any = None, **more: Any) -> RunDirectory:
    directory = RunDirectory.create(folder)
    plan = plan_of(arena, agent, engine=engine, **more)
    prepare(directory, plan.config(), resume=False)
    run(plan, directory)
    return directory
