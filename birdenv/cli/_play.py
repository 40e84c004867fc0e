"""`birdenv c-interact` and `birdenv a-interact`: ambiguous question, dialogue, SQL, follow-up."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from birdenv.benchmarks import WHERE_TO_ASK, missing_ground_truth
from birdenv.cli import _options as options
from birdenv.cli._options import Dialect, Dsn
from birdenv.cli._running import RunOptions, load_game, run_game
from birdenv.dialogue import Arena
from birdenv.errors import InputError
from birdenv.runs import write_official_files
from birdenv.tasks.c_interact import InteractTasks


def load(
    name: str,
    data_dir: Path | None,
    data: Path | None,
    agent: str,
    isolation: str,
    dialect: str,
    settings: Mapping[str, Any],
) -> Arena:
    """Load a game of BIRD-Interact for a run; warns of what is missing.

    Raises:
        InputError: options, files or databases cannot be used.
    """
    arena = load_game(
        name,
        {
            "data_dir": None if data_dir is None else str(data_dir),
            "data": None if data is None else str(data),
            "isolation": options.isolation_on(isolation, agent, dialect),
            "dialect": dialect,
            **settings,
        },
        agent,
    )
    tasks = cast(InteractTasks, arena.tasks)
    missing = missing_ground_truth(list(tasks.tasks.values()))
    if missing:
        where = f"ground truth is missing in {tasks.data_file}: {missing}"
        print(f"Warning: {where}. Without sol_sql nothing is graded. {WHERE_TO_ASK}", file=sys.stderr)
    return arena


def a_interact(
    data_dir: Annotated[
        Path | None, typer.Argument(help="Folder with the task file and <db>/ folders; default: demo.")
    ] = None,
    data: Annotated[Path | None, typer.Option("--data", help="Task file, if not the folder's own.")] = None,
    agent: options.Agent = "asks-first",
    user: Annotated[
        str, typer.Option("--user", help="Who answers: rule, name:argument, or module:factory.")
    ] = "rule",
    limit: options.Limit = None,
    offset: options.Offset = 0,
    difficulty: options.Difficulty = None,
    database: options.Database = None,
    instance: options.Instance = None,
    patience: Annotated[
        int, typer.Option("--patience", min=0, help="Each adds 2 to the budget of 6 and 2 an ambiguity.")
    ] = 3,
    profile: Annotated[
        str,
        typer.Option(
            "--profile",
            help="How submissions are judged: strict (ours) or adk (as in the reference implementation).",
        ),
    ] = "strict",
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

    Rewards: 0.7 for the question and 0.3 for the follow-up, at any attempt. execute_sql is one of the tools;
    there are no official files of this game.

    Agents: random, never-asks, asks-first, oracle, human, predictions:FILE, module:factory, and any that
    you install.

    Example: birdenv a-interact mini_interact --data merged.jsonl --agent oracle
    """
    settings = options.selected(difficulty, database, instance, offset, limit)
    settings |= {"profile": profile, "patience": patience, "dsn": dsn}
    arena = load("a-interact", data_dir, data, agent, isolation, dialect, settings)
    run_options = RunOptions(agent, seed, parallel, output, resume, verbose, repeats)
    run_game(arena, run_options, {"user": user})


def c_interact(
    data_dir: Annotated[
        Path | None, typer.Argument(help="Folder with the task file and <db>/ folders; default: demo.")
    ] = None,
    data: Annotated[Path | None, typer.Option("--data", help="Task file, if not the folder's own.")] = None,
    agent: options.Agent = "asks-first",
    user: Annotated[
        str, typer.Option("--user", help="Who answers: rule, name:argument, or module:factory.")
    ] = "rule",
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
    if official_files and execute_sql:
        raise InputError("--official-files has no place for SQL that is only tried: leave out --execute-sql")
    settings = options.selected(difficulty, database, instance, offset, limit)
    settings |= {"profile": profile, "patience": patience, "dsn": dsn, "execute_sql": execute_sql}
    arena = load("c-interact", data_dir, data, agent, isolation, dialect, settings)
    run_options = RunOptions(agent, seed, parallel, output, resume, verbose, repeats)
    directory = run_game(arena, run_options, {"user": user})
    if official_files:
        place = write_official_files(directory, arena, repeats)
        print(f"Official files, private (they hold the gold): {place}")
        print(f"Their score: birdenv score-official {directory.path}")
