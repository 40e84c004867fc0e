"""What `c-interact` and `a-interact` do alike before they play: who answers, which tasks, which databases.

Which of the chosen BIRD-Interact tasks can be played: those whose database is there.

`birdenv a-interact`: the tasks of c-Interact with tools that cost budget.

`birdenv c-interact`: ambiguous question, dialogue, SQL, follow-up.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from birdenv.benchmarks import DEMO_C_INTERACT_FILE, WHERE_TO_ASK, demo_folder, missing_ground_truth
from birdenv.cli import _options as options
from birdenv.cli._options import Dialect, Dsn, databases_in
from birdenv.cli._running import RunOptions, run_game
from birdenv.databases import DatabaseSource
from birdenv.errors import InputError
from birdenv.runs import AInteractRun, CInteractRun, Game, Setting, make_agent, write_official_files
from birdenv.tasks.a_interact import PROFILES as A_INTERACT_PROFILES
from birdenv.tasks.c_interact import PROFILES, CInteractTask, Profile, find_task_file, load_benchmark
from birdenv.users import RuleUser, User


def with_database(
    tasks: Sequence[CInteractTask], source: DatabaseSource, folder: Path, *, named: bool
) -> list[CInteractTask]:
    """Leave out tasks whose database is not there, as in the published Mini-Interact; say so.

    Raises `InputError` if the tasks were asked for by name, if one is there but unusable, or if none is
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


@dataclass(frozen=True, slots=True)
class Chosen:
    """The tasks of a run, and what they were chosen from."""

    tasks: list[CInteractTask]
    source: DatabaseSource
    setting: Setting
    data_file: Path
    selection: Mapping[str, Any]


def find_profile(name: str, profiles: Mapping[str, Profile]) -> Profile:
    """The profile that `--profile` names."""
    if name not in profiles:
        raise InputError(f"--profile {name!r} is unknown; known: {', '.join(profiles)}")
    return profiles[name]


def find_user(name: str) -> User:
    """The simulated user that `--user` names."""
    if name != "rule":
        raise InputError(f"--user {name!r} is unknown; known: rule")
    return RuleUser()


def choose_tasks(
    game: Game,
    data_dir: Path | None,
    data: Path | None,
    selection: options.Selection,
    *,
    dialect: str,
    dsn: str | None,
    isolation: str,
    agent: str,
) -> Chosen:
    """Load the benchmark (the demo without a folder) and select; warns of what is missing.

    Raises `InputError` for options, files and databases that cannot be used.
    """
    if data_dir is None:
        data_dir = demo_folder()
        data = data or data_dir / DEMO_C_INTERACT_FILE
    data = data or find_task_file(data_dir)
    source = databases_in(data_dir, dialect, dsn, isolation, agent)
    benchmark = load_benchmark(data_dir, data, source=source)
    tasks = with_database(
        options.select(benchmark.tasks, selection),
        source,
        data_dir,
        named=bool(selection.databases or selection.instances),
    )
    missing = missing_ground_truth(tasks)
    if missing:
        where = f"ground truth is missing in {benchmark.task_file}: {missing}"
        print(f"Warning: {where}. Without sol_sql nothing is graded. {WHERE_TO_ASK}", file=sys.stderr)
    setting = Setting(game, [task.public for task in benchmark.tasks])
    return Chosen(tasks, source, setting, benchmark.task_file, asdict(selection))


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
    rules = find_profile(profile, A_INTERACT_PROFILES)
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
