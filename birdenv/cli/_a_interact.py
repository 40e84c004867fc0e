"""`birdenv a-interact`: the tasks of c-Interact with tools that cost budget."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from birdenv.benchmarks import DEMO_C_INTERACT_FILE, demo_folder
from birdenv.cli import _options as options
from birdenv.cli._engine import Dialect, Dsn, databases_in
from birdenv.cli._playable import with_database
from birdenv.cli._running import RunOptions, run_game
from birdenv.errors import InputError
from birdenv.runs import AInteractRun, Setting, make_agent
from birdenv.tasks.c_interact import find_task_file, load_benchmark
from birdenv.users import RuleUser

__all__ = ["a_interact"]


def a_interact(
    data_dir: Annotated[
        Path | None, typer.Argument(help="Folder with the task file and <db>/ folders; default: demo.")
    ] = None,
    data: Annotated[Path | None, typer.Option("--data", help="Task file, if not the folder's own.")] = None,
    agent: options.Agent = "asks-first",
    user: Annotated[str, typer.Option("--user", help="Who answers; so far only: rule.")] = "rule",
    limit: options.Limit = None,
    offset: options.Offset = 0,
    difficulty: options.Difficulty = None,
    database: options.Database = None,
    instance: options.Instance = None,
    patience: Annotated[
        int, typer.Option("--patience", min=0, help="Each adds 2 to the budget of 6 and 2 an ambiguity.")
    ] = 3,
    dialect: Dialect = "sqlite",
    dsn: Dsn = None,
    isolation: options.Isolation = "auto",
    repeats: options.Repeats = 1,
    parallel: options.Parallel = 1,
    output: options.Output = None,
    resume: options.Resume = None,
    seed: options.Seed = 0,
    verbose: options.Verbose = False,
) -> None:
    """Play a-Interact: ambiguous question -> tools on a budget -> SQL.

    Nine tools, each with its price: ask the user (2), run SQL (1), submit (3), read schema, column meanings
    and knowledge (0.5 or 1). Budget: 6 + 2 for each ambiguity + 2 for each unit of patience, for the question
    and its follow-up (BIRD-Interact).

    Rewards: 0.7 for the question and 0.3 for the follow-up, at any attempt.

    Agents: random, never-asks, asks-first, oracle, human, predictions:FILE, module:factory, and any that
    you install.

    Example: birdenv a-interact mini_interact --data merged.jsonl --agent oracle
    """
    if user != "rule":
        raise InputError(f"--user {user!r} is unknown; known: rule")
    if data_dir is None:
        data_dir = demo_folder()
        data = data or data_dir / DEMO_C_INTERACT_FILE
    data = data or find_task_file(data_dir)
    source = databases_in(data_dir, dialect, dsn, isolation, agent)
    benchmark = load_benchmark(data_dir, data, source=source)
    selection = options.Selection(difficulty, database or [], instance or [], offset, limit)
    chosen = with_database(
        options.select(benchmark.tasks, selection),
        source,
        data_dir,
        named=bool(database or instance),
    )
    game = AInteractRun(
        tasks=chosen,
        source=source,
        setting=Setting("a-interact", [task.public for task in benchmark.tasks]),
        data_file=benchmark.task_file,
        user=RuleUser(),
        user_name=user,
        agent_name=agent,
        patience=patience,
        selection=asdict(selection),
    )
    run_options = RunOptions(agent, seed, parallel, output, resume, verbose, repeats)
    run_game(game, make_agent(agent, game), run_options)
