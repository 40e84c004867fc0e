"""`birdenv c-interact`: ambiguous question, dialogue, SQL, follow-up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from birdenv.cli import _options as options
from birdenv.cli._engine import Dialect, Dsn
from birdenv.cli._interact import choose_tasks, find_profile, find_user
from birdenv.cli._running import RunOptions, run_game
from birdenv.errors import InputError
from birdenv.runs import CInteractRun, make_agent, write_official_files
from birdenv.tasks.c_interact import PROFILES

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
    rules = find_profile(profile, PROFILES)
    if official_files and execute_sql:
        raise InputError("--official-files has no place for SQL that is only tried: leave out --execute-sql")
    answers = find_user(user)
    selection = options.Selection(difficulty, database or [], instance or [], offset, limit)
    chosen = choose_tasks(
        "c-interact",
        data_dir,
        data,
        selection,
        dialect=dialect,
        dsn=dsn,
        isolation=isolation,
        agent=agent,
    )
    game = CInteractRun(
        tasks=chosen.tasks,
        source=chosen.source,
        setting=chosen.setting,
        data_file=chosen.data_file,
        profile=rules,
        user=answers,
        user_name=user,
        agent_name=agent,
        patience=patience,
        execute_sql=execute_sql,
        selection=chosen.selection,
    )
    run_options = RunOptions(agent, seed, parallel, output, resume, verbose, repeats)
    directory = run_game(game, make_agent(agent, game), run_options)
    if official_files:
        place = write_official_files(directory, game, repeats)
        print(f"Official files, private (they hold the gold): {place}")
        print(f"Their score: birdenv score-official {directory.path}")
