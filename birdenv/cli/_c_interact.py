"""`birdenv c-interact`: ambiguous question, dialogue, SQL, follow-up."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from birdenv.benchmarks import DEMO_C_INTERACT_FILE, demo_folder
from birdenv.cli import _options as options
from birdenv.cli._running import RunOptions, run_game
from birdenv.databases import SqliteSource
from birdenv.errors import InputError
from birdenv.runs import CInteractRun, Setting, make_agent
from birdenv.tasks.c_interact import PROFILES, CInteractTask, load_benchmark
from birdenv.users import RuleUser

__all__ = ["c_interact"]


def c_interact(
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
    patience: Annotated[int, typer.Option("--patience", min=0, help="Questions beyond the ambiguities.")] = 3,
    profile: Annotated[
        str,
        typer.Option(
            "--profile",
            help="Protocol rules: strict (ours), shell or adk (as in the two reference implementations).",
        ),
    ] = "strict",
    execute_sql: Annotated[
        bool, typer.Option("--execute-sql", help="Let the agent run SQL (not in the official protocol).")
    ] = False,
    isolation: options.Isolation = "auto",
    repeats: options.Repeats = 1,
    parallel: options.Parallel = 1,
    output: options.Output = None,
    resume: options.Resume = None,
    seed: options.Seed = 0,
    verbose: options.Verbose = False,
) -> None:
    """Play c-Interact: ambiguous question -> dialogue -> SQL.

    Clarification, SQL, one debug attempt, a follow-up, one debug attempt (BIRD-Interact).

    Rewards: 0.7 for the question (0.5 after debug) and 0.3 for the follow-up (0.2 after debug).

    Agents: random, never-asks, asks-first, oracle, human, predictions:FILE, module:factory, and any that
    you install.

    Example: birdenv c-interact mini_interact --data merged.jsonl --agent oracle
    """
    if profile not in PROFILES:
        raise InputError(f"--profile {profile!r} is unknown; known: {', '.join(PROFILES)}")
    if user != "rule":
        raise InputError(f"--user {user!r} is unknown; known: rule")
    if data_dir is None:
        data_dir = demo_folder()
        data = data or data_dir / DEMO_C_INTERACT_FILE
    benchmark = load_benchmark(data_dir, data, isolation=options.isolation_for(isolation, agent))
    selection = options.Selection(difficulty, database or [], instance or [], offset, limit)
    chosen = _with_database(
        options.select(benchmark.tasks, selection),
        benchmark.source,
        data_dir,
        named=bool(database or instance),
    )
    game = CInteractRun(
        tasks=chosen,
        source=benchmark.source,
        setting=Setting("c-interact", [task.public for task in benchmark.tasks]),
        data_file=benchmark.task_file,
        profile=PROFILES[profile],
        user=RuleUser(),
        user_name=user,
        agent_name=agent,
        patience=patience,
        execute_sql=execute_sql,
        selection=asdict(selection),
    )
    run_options = RunOptions(agent, seed, parallel, output, resume, verbose, repeats)
    run_game(game, make_agent(agent, game), run_options)


def _with_database(
    tasks: Sequence[CInteractTask], source: SqliteSource, folder: Path, *, named: bool
) -> list[CInteractTask]:
    """Leave out tasks whose database file is not there, as in the published Mini-Interact; say so.

    Raises `InputError` if the tasks were asked for by name, if a file is there but unusable, or if none is
    left.
    """
    there = set(source.names())
    missing = Counter(task.public.database for task in tasks if task.public.database not in there)
    for name in sorted({task.public.database for task in tasks}):
        if name in there or named or len(missing) == len({task.public.database for task in tasks}):
            source.check(name)
    if missing:
        print(
            f"Warning: {sum(missing.values())} tasks are left out: their databases are not in {folder} "
            f"({', '.join(sorted(missing))})",
            file=sys.stderr,
        )
    return [task for task in tasks if task.public.database in there]
