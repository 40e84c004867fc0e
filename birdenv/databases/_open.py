"""Open the databases of a benchmark folder on SQLite or PostgreSQL, optionally with a fixed current date."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from birdenv.databases._limits import Limits
from birdenv.databases._protocols import DatabaseSource, dump_places
from birdenv.databases._results import QueryError, Result, Scope
from birdenv.databases.sqlite._source import SqliteSource
from birdenv.errors import InputError
from birdenv.sql import ClockError, at_date


class DatedSource:
    """A source whose databases use a fixed date as the current date.

    In the text of each statement, references to the clock are replaced by the date (see
    `birdenv.sql.at_date`).

    Attributes:
        source: the source of the databases.
        today: the fixed date, such as `2025-02-19`.
    """

    def __init__(self, source: Any, today: str) -> None:
        self.source, self.today = source, today

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def scope(self, db_id: str, limits: Limits) -> Scope:
        """Return the scope of results on an unchanged database, which includes the fixed date."""
        scope: Scope = self.source.scope(db_id, limits)
        return replace(scope, contents=(scope.contents, self.today))

    def open(self, *given: Any, **named: Any) -> Any:
        """Open a database that uses the fixed date. The arguments are those of `source.open`."""
        return _DatedDatabase(self.source.open(*given, **named), self.source.dialect, self.today)


class _DatedDatabase:
    scope = None  # results are not cached

    def __init__(self, database: Any, dialect: str, today: str) -> None:
        self._database, self._dialect, self._today = database, dialect, today

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._database, name)
        return partial(self._run, found) if name in ("execute", "query", "run", "scan") else found

    def __enter__(self) -> _DatedDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def _run(self, run: Callable[..., Result], given: str | Iterable[str], *more: Any, **named: Any) -> Any:
        texts = [given] if isinstance(given, str) else given
        try:
            dated = [at_date(text, self._today, self._dialect) for text in texts]
        except ClockError as error:
            message = (
                f"the date is fixed at {self._today}, which cannot replace {error}: write the date itself"
            )
            return QueryError("denied", message, repeatable=True)
        return run(dated[0] if isinstance(given, str) else dated, *more, **named)


Dialect: TypeAlias = Literal["sqlite", "postgres"]
"""The database engines, by the names that sqlglot gives to their dialects."""

DIALECTS: Final = get_args(Dialect)


def open_source(
    folder: Path | str,
    dialect: str = "sqlite",
    *,
    dsn: str | None = None,
    tell: Callable[[str], object] | None = None,
    today: str | None = None,
) -> DatabaseSource:
    """Return a source for the databases in a folder, on SQLite or PostgreSQL.

    On SQLite, the source opens the files in the folder. On PostgreSQL, it loads each database from the folder
    into the server when the database is first needed.

    Args:
        folder: the benchmark's folder of databases.
        dialect: `sqlite` or `postgres`.
        dsn: the connection string of a PostgreSQL server. The default is the value of the environment
            variable BIRDENV_DSN; if that is not set, birdenv starts its embedded server.
        tell: a function to call with progress messages while databases are loaded into PostgreSQL.
        today: a date such as `2025-02-19` to use as the current date in SQL; None to use the real date.

    Raises:
        InputError: the dialect is unknown, `dsn` is given with `sqlite`, the folder does not exist, or the
            server cannot be used (see `find_server`).
        InfrastructureError: the server cannot be reached.
    """
    if today is not None:
        return cast(DatabaseSource, DatedSource(open_source(folder, dialect, dsn=dsn, tell=tell), today))
    if dialect not in DIALECTS:
        raise InputError(f"dialect {dialect!r} is unknown; choose from {', '.join(DIALECTS)}")
    if dialect == "sqlite":
        if dsn is not None:
            raise InputError("a DSN is only for PostgreSQL: leave it out, or choose the 'postgres' dialect")
        source = SqliteSource(folder)
        dumps = dump_places(source.root)
        if dumps and not source.names():
            raise InputError(
                f"{folder} contains no SQLite databases, but {dumps[0]} contains PostgreSQL dumps: use "
                "--dialect postgres (in Python, dialect='postgres')"
            )
        return source
    from birdenv.databases.postgres import PostgresFolderSource, find_server

    return PostgresFolderSource(find_server(dsn), folder, tell)
