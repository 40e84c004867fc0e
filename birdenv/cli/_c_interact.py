"""`birdenv c-interact`: ambiguous question, dialogue, SQL, follow-up."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from birdenv.benchmarks import (
    DEMO_C_INTERACT_FILE,
    WHERE_TO_ASK,
    demo_folder,
    missing_ground_truth,
)
from birdenv.cli import _options as options
from birdenv.cli._engine import Dialect, Dsn, databases_in
from birdenv.cli._playable import with_database
from birdenv.cli._running import RunOptions, run_game
from birdenv.errors import InputError
from birdenv.runs import CInteractRun, Setting, make_agent, write_official_files
from birdenv.tasks.c_interact import PROFILES, find_task_file, load_benchmark
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
    dialect: Dialect = "sqlite",
    dsn: Dsn = None,
    isolation: options.Isolation = "auto",
    repeats: options.Repeats = 1,
    parallel: options.Parallel = 1,
    output: options.Output = None,
    resume: options.Resume = None,
    seed: options.Seed = 0,
    official_files: Annotated[
        bool,
        typer.Option(
            "--official-files",
            help="Also write the original pipeline's files, to private_official in the run folder. Private: "
            "they hold the gold. Large: each line repeats the prompts.",
        ),
    ] = False,
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
    if official_files and execute_sql:
        raise InputError("--official-files has no place for SQL that is only tried: leave out --execute-sql")
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
    missing = missing_ground_truth(chosen)
    if missing:
        where = f"ground truth is missing in {benchmark.task_file}: {missing}"
        print(f"Warning: {where}. Without sol_sql nothing is graded. {WHERE_TO_ASK}", file=sys.stderr)
    game = CInteractRun(
        tasks=chosen,
        source=source,
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
    directory = run_game(game, make_agent(agent, game), run_options)
    if official_files:
        place = write_official_files(directory, game, repeats)
        print(f"Official files, private (they hold the gold): {place}")
        print(f"Their score: birdenv score-official {directory.path}")
