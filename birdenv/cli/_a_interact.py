"""`birdenv a-interact`: the tasks of c-Interact with tools that cost budget."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from birdenv.cli import _options as options
from birdenv.cli._engine import Dialect, Dsn
from birdenv.cli._interact import choose_tasks, find_profile, find_user
from birdenv.cli._running import RunOptions, run_game
from birdenv.runs import AInteractRun, make_agent
from birdenv.tasks.a_interact import PROFILES

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
    rules = find_profile(profile, PROFILES)
    answers = find_user(user)
    selection = options.Selection(difficulty, database or [], instance or [], offset, limit)
    chosen = choose_tasks(
        "a-interact",
        data_dir,
        data,
        selection,
        dialect=dialect,
        dsn=dsn,
        isolation=isolation,
        agent=agent,
    )
    game = AInteractRun(
        tasks=chosen.tasks,
        source=chosen.source,
        setting=chosen.setting,
        data_file=chosen.data_file,
        profile=rules,
        user=answers,
        user_name=user,
        agent_name=agent,
        patience=patience,
        selection=chosen.selection,
    )
    run_options = RunOptions(agent, seed, parallel, output, resume, verbose, repeats)
    run_game(game, make_agent(agent, game), run_options)
