"""Options that several commands share, so that they read the same everywhere.

The options that say on which engine the databases run, and opening them there.

Finding the run that `evaluate` and `inspect` are about.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from birdenv import databases
from birdenv.databases import DatabaseSource, open_source
from birdenv.dialogue import PlayerSpec
from birdenv.errors import InputError
from birdenv.runs import holds_pairs, newest_run

Dialect = Annotated[
    str,
    typer.Option(
        "--dialect",
        help="Where the databases run: sqlite, or postgres (birdenv starts a server of its own, and loads "
        "what is missing on it from the folder's dumps or SQLite files).",
    ),
]
Dsn = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        help="Another server: postgresql://user@host:port/database, as a superuser, because only that can "
        "keep agents apart. Leave the password to PGPASSWORD or ~/.pgpass. Default: BIRDENV_DSN, else "
        "birdenv's own server.",
    ),
]


def databases_in(folder: Path, dialect: str, dsn: str | None, isolation: str, agent: str) -> DatabaseSource:
    """The databases of a folder by the options `--dialect`, `--dsn` and `--isolation`; tells what it loads.

    Raises `InputError` for options that do not fit together, and as `open_source` does.
    """
    where = isolation_on(isolation, agent, dialect)
    return open_source(folder, dialect, dsn=dsn, isolation=where, tell=_tell)


def _tell(line: str) -> None:
    typer.echo(line, err=True)


_OF_OTHERS = ("predictions",)  # agents of ours that hand in what others wrote

Agent = Annotated[
    str,
    typer.Option("--agent", help="Who plays: a name (see above), name:argument, or module:factory."),
]
Limit = Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Play at most this many tasks.")]
Offset = Annotated[int, typer.Option("--offset", min=0, help="Skip this many of the selected tasks first.")]
Difficulty = Annotated[str | None, typer.Option("--difficulty", help="Only tasks of this difficulty.")]
Database = Annotated[
    list[str] | None, typer.Option("--database", help="Only tasks on this database; may be repeated.")
]
Instance = Annotated[
    list[str] | None, typer.Option("--instance", help="Only the task with this id; may be repeated.")
]
Parallel = Annotated[int, typer.Option("--parallel", "-p", min=1, help="Episodes played at the same time.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Where run folders are made; by default results/<agent>-<game>."),
]
Resume = Annotated[
    Path | None,
    typer.Option("--resume", "-r", help="Go on with this run folder; give the same options as before."),
]
Repeats = Annotated[
    int,
    typer.Option("--repeats", min=1, help="Play every task this many times; adds pass^k and pass@k."),
]
Seed = Annotated[int, typer.Option("--seed", help="Same seed, same moves, same bytes in runs.jsonl.")]
Isolation = Annotated[
    str,
    typer.Option(
        "--isolation",
        help="Where SQL runs: process (workers that can be killed), inline (in this process), or auto: "
        "inline for birdenv's own agents, process for SQL of others.",
    ),
]
MoveTimeout = Annotated[
    float,
    typer.Option(
        "--move-timeout",
        min=0.001,
        help="Seconds that an agent or user in a process of its own may take for a move.",
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print a line for every episode.")]


def isolation_for(option: str, agent: str) -> databases.Isolation:
    """What `--isolation` means for this agent. Raises `InputError` for an unknown value."""
    if option == "auto":
        trusted = PlayerSpec(agent).is_ours and agent.partition(":")[0] not in _OF_OTHERS
        return "inline" if trusted else "process"
    for known in databases.ISOLATIONS:
        if option == known:
            return cast(databases.Isolation, known)
    raise InputError(f"--isolation {option!r} is unknown; known: auto, {', '.join(databases.ISOLATIONS)}")


def isolation_on(option: str, agent: str, dialect: str) -> databases.Isolation:
    """Return the isolation of a run. Raises `InputError` for options that do not fit together."""
    where = isolation_for(option, agent)
    if dialect != "sqlite" and option != "auto":
        raise InputError(
            f"--isolation is about SQLite, it says nothing about --dialect {dialect}: leave it out"
        )
    return where


def selected(
    difficulty: str | None,
    database: list[str] | None,
    instance: list[str] | None,
    offset: int,
    limit: int | None,
) -> dict[str, Any]:
    """Return the options that choose tasks as settings of a game."""
    return {
        "difficulty": difficulty,
        "databases": tuple(database) if database else None,
        "instances": tuple(instance) if instance else None,
        "offset": offset,
        "limit": limit,
    }


RunDir = Annotated[
    Path | None,
    typer.Option(
        "--run_dir", "--run-dir", help="Folder with gold.txt and preds.txt; default: the newest run."
    ),
]
RunsRoot = Annotated[
    Path, typer.Option("--runs_root", "--runs-root", help="Where the newest run_* is looked for.")
]


def find_run(run_dir: Path | None, runs_root: Path) -> Path:
    """The folder given, else the newest complete run; what was passed over is said on standard error.

    Raises `InputError` if there is none.
    """
    if run_dir is not None:
        return run_dir
    found = newest_run(runs_root, holds_pairs)
    for reason in found.skipped:
        print(f"Warning: passed over {reason}", file=sys.stderr)
    return found.folder
