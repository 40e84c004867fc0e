"""Single options of commands that play: agent, tasks, seed, `--resume`, `--dialect`.

`databases_in` opens databases as the options say; `find_run` finds the run of `evaluate` and `inspect`.
Every command imports this module, also only to show its help: the rooms are imported where they are used.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from birdenv.cli.options._game_options import option_of
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
    """The databases of a folder by the options `--dialect` and `--dsn`; tells what it loads.

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
RUN = RunSettings()
"""The defaults of how a run is played."""

Parallel = Annotated[int, option_of(RunSettings, "parallel")]
Seed = Annotated[int, option_of(RunSettings, "seed")]
Repeats = Annotated[int, option_of(RunSettings, "repeats")]
MoveTimeout = Annotated[float | None, option_of(RunSettings, "move_timeout")]
Engine = Annotated[str, option_of(RunSettings, "engine")]
Address = Annotated[str | None, option_of(RunSettings, "address")]
Shard = Annotated[str | None, option_of(RunSettings, "shard")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Where run folders are made; by default results/<players>-<data>-<game>."
    ),
]
_command: ContextVar[typer.Context | None] = ContextVar("command", default=None)
"""The command that is called: what its options are is known when the last of them is read."""

_NOT_KEPT = frozenset({"resume", "verbose"})
"""Options of one call of the command."""


def _as_before(context: typer.Context, run: Path | None) -> Path | None:
    """Let a run that is resumed have the options that it was started with, where none is given now.

    Raises `InputError` if there is no such run, or if another command made it.
    """
    _command.set(context)
    if run is None:
        return None
    from birdenv.runs import RunDirectory

    directory = RunDirectory.existing(run)
    before = directory.read_config().get("command")
    if isinstance(before, dict) and isinstance(before.get("options"), dict):
        if before.get("name") != context.info_name:
            raise InputError(
                f"{directory.path} is a run of birdenv {before.get('name')}: resume it with that"
            )
        context.default_map = before["options"]
    return directory.path


def further_given(context: typer.Context) -> list[str]:
    """The words of a game's own settings: those of the call, else those that its run was started with."""
    return list(context.args or (context.default_map or {}).get("further", []))


def is_default(option: str) -> bool:
    """Return True if an option of the command that is called has its default, also when a run is resumed."""
    context = _command.get()
    source = None if context is None else context.get_parameter_source(option)
    if context is None or (source is not None and source.name == "COMMANDLINE"):
        return False
    default = next(each.default for each in context.command.params if each.name == option)
    return bool(context.params.get(option) == default)


def command_given() -> dict[str, Any]:
    """The command that is called, with its options as `--resume` needs them. No password is among them."""
    context = _command.get()
    if context is None:
        return {}
    given: dict[str, Any] = {}
    for name, value in context.params.items():
        if value not in (None, False, []) and name not in _NOT_KEPT:
            given[name] = str(value.absolute()) if isinstance(value, Path) else value
    if "dsn" in given:
        from birdenv.databases.postgres import PostgresQueries

        given["dsn"] = PostgresQueries(given["dsn"]).shown  # without the password
    if further := further_given(context):
        given["further"] = further
    return {"command": {"name": context.info_name, "options": given}}


Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        "-r",
        is_eager=True,
        callback=_as_before,
        help="Go on with this run (or the latest in this folder), with its options; nothing else is needed.",
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print a line for every episode.")]


Run = Annotated[
    Path | None,
    typer.Argument(
        help="Folder with gold.txt and preds.txt, or a run of `birdenv bird` (of the folder above it, the "
        "latest). Default: the newest run_... in --runs-root.",
    ),
]
RunDir = Annotated[Path | None, typer.Option("--run-dir", help="The same as RUN.")]
RunsRoot = Annotated[Path, typer.Option("--runs-root", help="Where the newest run_* is looked for.")]


def find_run(run: Path | None, run_dir: Path | None, runs_root: Path) -> Path:
    """The folder given, else the newest complete run; what was passed over is said on standard error.

    Raises `InputError` if there is none, or if two are named.
    """
    from birdenv.runs.em_esm import holds_pairs, newest_run, pairs_folder

    if run is not None and run_dir is not None:
        raise InputError(f"RUN and --run-dir say the same: give one of {run} and {run_dir}")
    if (named := run or run_dir) is not None:
        return pairs_folder(named)
    found = newest_run(runs_root, holds_pairs)
    for reason in found.skipped:
        print(f"Warning: passed over {reason}", file=sys.stderr)
    return found.folder
