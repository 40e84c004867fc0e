"""Opening the databases of a benchmark folder on the engine that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast, get_args

from birdenv.databases._dump_places import dump_places
from birdenv.databases._protocols import DatabaseSource
from birdenv.databases._reference_date import DatedSource
from birdenv.databases.sqlite._source import SqliteSource
from birdenv.errors import InputError

Dialect: TypeAlias = Literal["sqlite", "postgres"]
"""The engines that databases run on, by sqlglot's names of their dialects."""

DIALECTS: Final = get_args(Dialect)


def open_source(
    folder: Path | str,
    dialect: str = "sqlite",
    *,
    dsn: str | None = None,
    tell: Callable[[str], object] | None = None,
    today: str | None = None,
) -> DatabaseSource:
    """The databases of a folder: its SQLite files as they are, or what PostgreSQL made of the folder.

    With `postgres` the server is `dsn`, else BIRDENV_DSN, else the embedded one, which is started; a database
    that is not loaded there yet is loaded from the folder when it is first needed, and `tell` gets a line
    about that. With `today`, a day such as `2025-02-19`, SQL that reads the clock finds that day.

    Raises `InputError` for an unknown dialect, a `dsn` without `postgres`, or where there is no folder or no
    server; `InfrastructureError` where the server does not answer.
    """
    if today is not None:
        return cast(DatabaseSource, DatedSource(open_source(folder, dialect, dsn=dsn, tell=tell), today))
    if dialect not in DIALECTS:
        raise InputError(f"dialect {dialect!r} is unknown; known: {', '.join(DIALECTS)}")
    if dialect == "sqlite":
        if dsn is not None:
            raise InputError("a DSN names a PostgreSQL server: it needs the dialect postgres")
        source = SqliteSource(folder)
        dumps = dump_places(source.root)
        if dumps and not source.names():
            raise InputError(
                f"{folder} holds no SQLite database, but there are dumps of PostgreSQL in {dumps[0]}: say "
                "--dialect postgres (in Python, dialect='postgres')"
            )
        return source
    from birdenv.databases.postgres import PostgresFolderSource, find_server

    return PostgresFolderSource(find_server(dsn), folder, tell)
