"""The options that say on which engine the databases run, and opening them there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from birdenv.cli import _options as options
from birdenv.databases import DatabaseSource, open_source
from birdenv.errors import InputError

__all__ = ["Dialect", "Dsn", "databases_in"]

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
