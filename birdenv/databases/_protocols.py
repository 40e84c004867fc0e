"""The interfaces that every engine implements: databases for episodes, and sources that open them.

`dump_places` finds the folders that contain a benchmark's PostgreSQL dumps.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Protocol, Self

from birdenv.databases._limits import Limits
from birdenv.databases._results import Checkpoint, DatabaseState, QueryError, Result, RowSink, Scope

DUMP_FOLDERS: Final = ("postgre_table_dumps", "postgre_table_dumps_full")
"""Names under which the authors of BIRD-Interact publish their folder of `<db>_template` folders."""


def dump_places(folder: Path) -> list[Path]:
    """Return the folders in or near `folder` that contain PostgreSQL dumps, starting with the nearest.

    A dump is a folder named `<db>_template`. The search covers `folder` and any folders inside or beside it
    that are named in `DUMP_FOLDERS`.
    """
    beside = (near / name for near in (folder, folder.parent) for name in DUMP_FOLDERS)
    return [place for place in (folder, *beside) if any(each.is_dir() for each in place.glob("*_template"))]


class EpisodeDatabase(Protocol):
    """A private, writable database for one episode, with limits on every statement.

    Errors in SQL are returned as a `QueryError`, never raised.
    """

    @property
    def is_private(self) -> bool:
        """Return whether the episode has changed the database, and therefore works on its own copy."""

    @property
    def scope(self) -> Scope | None:
        """Return everything that determines the results of statements on this database.

        A statement marked as `repeatable` returns the same result on all databases with the same scope. The
        scope is None if it is unknown, or if the episode works on its own copy.
        """

    def execute(self, sql: str, rows: int | None = None) -> Result:
        """Run one statement of any kind, for example one that an agent submitted.

        `rows` is the maximum number of rows to fetch. If it is None, only the database's limit applies.
        """

    def query(self, sql: str, rows: int | None = None) -> Result:
        """Run one query that only reads, as grading does. Refuse any other statement.

        For `rows`, see `execute`.
        """

    def run(self, statements: Iterable[str]) -> Result:
        """Run SQL scripts in order, and stop at the first error.

        A script can contain several statements. Return the error or, if there was none, the result of the
        last statement.
        """

    def state(self, like: DatabaseState | None = None) -> DatabaseState | QueryError:
        """Roll back any open transaction, and return the committed schema and contents.

        `like` is a state to compare with. If the schemas differ, the contents are not read, because the
        states are already known to differ.
        """

    def checkpoint(self) -> Checkpoint | QueryError:
        """Roll back any open transaction and return a checkpoint of the committed contents."""

    def restore(self, checkpoint: Checkpoint) -> QueryError | None:
        """Restore the contents from a checkpoint. Return an error if this fails."""

    def close(self) -> None:
        """Close the database, and discard the episode's changes. Closing again does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ScannedDatabase(EpisodeDatabase, Protocol):
    """A database that can stream the rows of a query."""

    def scan(self, sql: str, sink: RowSink) -> Result:
        """Run a query as `query` does, but stream its rows to `sink` until `sink` needs no more."""


_DEFAULT_LIMITS: Final = Limits()


class DatabaseSource(Protocol):
    """A thread-safe collection of databases that can be opened by id for episodes.

    All episodes on a database start from the same contents. The implementations are `SqliteSource` and
    `PostgresSource`.
    """

    @property
    def dialect(self) -> str:
        """Return the name of the SQL dialect, as sqlglot spells it: `sqlite` or `postgres`."""

    @property
    def engine(self) -> str:
        """Return the name and version of the engine, because results can differ between versions."""

    def scope(self, db_id: str, limits: Limits) -> Scope:
        """Return everything that determines the results of statements on an unchanged database.

        Raises the same errors as `check`.
        """

    def names(self) -> list[str]:
        """Return the sorted ids of the databases that can be opened."""

    def check(self, db_id: str) -> None:
        """Raise `InputError` with the reason if the database cannot be opened."""

    def digest(self, db_id: str) -> str:
        """Return the hexadecimal SHA-256 of a database's contents. Raises the same errors as `check`."""

    def open(self, db_id: str, limits: Limits = _DEFAULT_LIMITS) -> EpisodeDatabase:
        """Open a database with its original contents for one episode, with limits on each statement.

        Raises the same errors as `check`, and `InfrastructureError` if a server cannot be reached.
        """

    def schema_text(self, db_id: str) -> str:
        """Return the CREATE TABLE statements of a database in creation order.

        Raises the same errors as `open`.
        """

    def close(self) -> None:
        """Release all resources that the source holds for episodes. Closing again does nothing.

        A closed source cannot open databases. All open sources are closed when the process ends.
        """

    def config(self) -> dict[str, Any]:
        """Return a description of the source for a run's configuration.

        The values are plain data without secrets, and do not change while the source is in use.
        """
