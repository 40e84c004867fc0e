"""Options that several commands share, so that they read the same everywhere.

The options that say on which engine the databases run, and opening them there.

Finding the run that `evaluate` and `inspect` are about.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol, TypeVar, cast

import typer

from birdenv import databases
from birdenv.cli import _options as options
from birdenv.databases import DatabaseSource, open_source
from birdenv.errors import InputError
from birdenv.runs import holds_pairs, is_ours, newest_run

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
    where = options.isolation_for(isolation, agent)
    if dialect != "sqlite" and isolation != "auto":
        raise InputError(
            f"--isolation is about SQLite, it says nothing about --dialect {dialect}: leave it out"
        )
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
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print a line for every episode.")]


def isolation_for(option: str, agent: str) -> databases.Isolation:
    """What `--isolation` means for this agent. Raises `InputError` for an unknown value."""
    if option == "auto":
        trusted = is_ours(agent) and agent.partition(":")[0] not in _OF_OTHERS
        return "inline" if trusted else "process"
    for known in databases.ISOLATIONS:
        if option == known:
            return cast(databases.Isolation, known)
    raise InputError(f"--isolation {option!r} is unknown; known: auto, {', '.join(databases.ISOLATIONS)}")


class _Public(Protocol):
    @property
    def instance_id(self) -> str: ...
    @property
    def database(self) -> str: ...
    @property
    def difficulty(self) -> str: ...


class _Task(Protocol):
    @property
    def public(self) -> _Public: ...


T = TypeVar("T", bound=_Task)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tasks of a file to play: filters first, then offset, then limit."""

    difficulty: str | None
    databases: list[str]
    instances: list[str]
    offset: int
    limit: int | None


def select(tasks: Sequence[T], selection: Selection) -> list[T]:
    """The selected tasks, in file order.

    Raises `InputError` for a value that no task has, and for an empty result.
    """
    _known(
        "difficulty",
        [selection.difficulty] if selection.difficulty else [],
        [t.public.difficulty for t in tasks],
    )
    _known("database", selection.databases, [t.public.database for t in tasks])
    _known("instance", selection.instances, [t.public.instance_id for t in tasks])
    chosen = [
        task
        for task in tasks
        if (not selection.difficulty or task.public.difficulty == selection.difficulty)
        and (not selection.databases or task.public.database in selection.databases)
        and (not selection.instances or task.public.instance_id in selection.instances)
    ]
    end = None if selection.limit is None else selection.offset + selection.limit
    left = chosen[selection.offset : end]
    if not left:
        raise InputError(
            f"no tasks to run: {len(chosen)} of {len(tasks)} match the filters, and --offset "
            f"{selection.offset} skips all of them"
        )
    return left


def _known(option: str, wanted: Sequence[str], present: Sequence[str]) -> None:
    names = list(dict.fromkeys(present))
    for name in wanted:
        if name not in names:
            shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
            raise InputError(f"--{option} {name!r} is not in the task file; it has: {shown}")


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
