"""Single options of commands that play: agent, tasks, seed, `--resume`, `--dialect`.

`databases_in` opens databases as the options say.
Every command imports this module, also only to show its help: the rooms are imported where they are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from birdenv.dialogue.games import Option
from birdenv.errors import InputError
from birdenv.run_settings import RunSettings

if TYPE_CHECKING:
    from birdenv import databases
    from birdenv.tasks import Defects

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


def databases_in(folder: Path, dialect: str, dsn: str | None) -> databases.DatabaseSource:
    """Return the databases of a folder by the options `--dialect` and `--dsn`; tells what it loads.

    Raises as `open_source` does.
    """
    from birdenv.databases import open_source

    return open_source(folder, dialect, dsn=dsn, tell=_tell)


def save_defects(path: Path, defects: Defects) -> None:
    """Write a list of defective tasks, and say so."""
    from birdenv.tasks import write_defects

    write_defects(path, defects)
    typer.echo(f"Defective tasks: {path} ({len(defects)})")


def _tell(line: str) -> None:
    typer.echo(line, err=True)


Agent = Annotated[
    str,
    typer.Option("--agent", help="Who plays: a name (see above), name:argument, or module:factory."),
]
Database = Annotated[
    list[str] | None, typer.Option("--database", help="Only tasks on this database; may be repeated.")
]
DefectsFile = Annotated[
    Path | None,
    typer.Option(
        "--defects",
        help="List the tasks with defective golds in this file (JSONL): ids and reasons, and no gold.",
    ),
]
Today = Annotated[
    str | None,
    typer.Option("--today", help="A day, such as 2025-02-19, that SQL finds in place of the clock."),
]
FailDoubtful = Annotated[
    bool,
    typer.Option(
        "--fail-doubtful",
        help="Fail what passes but reads no table, or leaves another state than the gold's (profile strict).",
    ),
]
_RUN = RunSettings()


def _declared(name: str) -> Any:
    """Return the option of a declared setting of runs."""
    of = RunSettings.model_fields[name]
    names = next((each.names for each in of.metadata if isinstance(each, Option)), ())
    return typer.Option(*(names or (f"--{name.replace('_', '-')}",)), help=of.description)


Parallel = Annotated[int, _declared("parallel")]
Seed = Annotated[int, _declared("seed")]
_Repeats = Annotated[int, _declared("repeats")]
_MoveTimeout = Annotated[float | None, _declared("move_timeout")]
_Engine = Annotated[str, _declared("engine")]
_Address = Annotated[str | None, _declared("address")]
_Shard = Annotated[str | None, _declared("shard")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Folder for the run folder (default: results/<players>-<data>-<game>)."
    ),
]


def options_of_run(context: typer.Context, run: Path) -> dict[str, Any]:
    """Return the options that a run was started with, for one that is resumed.

    Raises:
        InputError: there is no such run, or another command made it.
    """
    from birdenv.runs import RunDirectory

    directory = RunDirectory.existing(run)
    before = directory.read_config().get("command")
    if not isinstance(before, dict) or not isinstance(before.get("options"), dict):
        return {}
    if before.get("name") != context.info_name:
        raise InputError(f"{directory.path} is a run of birdenv {before.get('name')}: resume it with that")
    options: dict[str, Any] = before["options"]
    return options


def command_given(name: str | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a command with its options as `--resume` needs them. No password is among them."""
    given: dict[str, Any] = {}
    for option, value in values.items():
        is_given = value is not None and value is not False and value != []  # 0 is a value
        if is_given and option not in _NOT_KEPT:
            given[option] = str(value.absolute()) if isinstance(value, Path) else value
    if "dsn" in given:
        from birdenv.databases.postgres import PostgresQueries

        given["dsn"] = PostgresQueries(given["dsn"]).shown  # without the password
    return {"command": {"name": name, "options": given}}


_NOT_KEPT = frozenset({"resume", "verbose"})
"""Options of one call of the command."""

Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        "-r",
        help="Go on with this run (or the latest in this folder), with its options; nothing else is needed.",
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print a line for every episode.")]


@dataclass(frozen=True)
class RunFolder:
    """Options that decide how episodes are played, and where their records go."""

    parallel: Parallel = _RUN.parallel
    output: Output = None
    resume: Resume = None
    seed: Seed = _RUN.seed
    move_timeout: _MoveTimeout = _RUN.move_timeout
    engine: _Engine = _RUN.engine
    address: _Address = _RUN.address
    shard: _Shard = _RUN.shard
    verbose: Verbose = False


@dataclass(frozen=True)
class RunOptions(RunFolder):
    """The same, for one agent that is evaluated."""

    agent: Agent = "asks-first"
    repeats: _Repeats = _RUN.repeats
