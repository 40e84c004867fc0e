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

    A dump is a folder named `<db>_template`. The search covers `folder` itself, and the folders named in
    `DUMP_FOLDERS` inside it or beside it.
    """
    beside = (near / name for near in (folder, folder.parent) for name in DUMP_FOLDERS)
    return [place for place in (folder, *beside) if any(each.is_dir() for each in place.glob("*_template"))]


class EpisodeDatabase(Protocol):
    """A database that belongs to one episode, which may change it freely, within limits on every statement.

    SQL never raises an exception: errors are returned as `QueryError`.
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

        `rows` is the maximum number of rows to fetch; None applies only the limit of the database.
        """

    def query(self, sql: str, rows: int | None = None) -> Result:
        """Run one plain query, and refuse any other statement. Grading uses this.

        `rows` is as in `execute`.
        """

    def run(self, statements: Iterable[str]) -> Result:
        """Run SQL scripts in order. A script can have several statements.

        Return the first error, which ends the run, or otherwise the result of the last statement.
        """

    def state(self, like: DatabaseState | None = None) -> DatabaseState | QueryError:
        """Roll back any open transaction, and return the committed schema and contents.

        `like` is a state to compare with. If its schema differs from that of this database, the contents are
        not read, because the two states are already known to differ.
        """

    def checkpoint(self) -> Checkpoint | QueryError:
        """Roll back any open transaction and return a checkpoint of the committed contents."""

    def restore(self, checkpoint: Checkpoint) -> QueryError | None:
        """Restore the contents of a checkpoint. Return None, or an error if this fails."""

    def close(self) -> None:
        """Discard the episode's changes. Closing again does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ScannedDatabase(EpisodeDatabase, Protocol):
    """A database that can pass rows to a receiver while the query is still running."""

    def scan(self, sql: str, sink: RowSink) -> Result:
        """Run a query as `query` does, passing its rows to `sink` until `sink` needs no more rows."""


_DEFAULT_LIMITS: Final = Limits()


class DatabaseSource(Protocol):
    """A thread-safe set of databases, each with an id, that can be opened for episodes.

    Every episode on a database starts from the same contents. The implementations are `SqliteSource` and
    `PostgresSource`.
    """

    @property
    def dialect(self) -> str:
        """Return the name of the SQL dialect, as sqlglot spells it: `sqlite` or `postgres`."""

    @property
    def engine(self) -> str:
        """Return the engine and its version, because results may differ between versions."""

    def scope(self, db_id: str, limits: Limits) -> Scope:
        """Return everything that determines the results of statements on an unchanged database.

        Raises the same errors as `check`.
        """

    def names(self) -> list[str]:
        """Return the ids of the databases that can be opened, sorted."""

    def check(self, db_id: str) -> None:
        """Raise `InputError` with the reason if the database cannot be opened."""

    def digest(self, db_id: str) -> str:
        """Return the SHA-256 of a database's contents in hexadecimal. Raises the same errors as `check`."""

    def open(self, db_id: str, limits: Limits = _DEFAULT_LIMITS) -> EpisodeDatabase:
        """Return a database for one episode, with the original contents and with limits on each statement.

        Raises the same errors as `check`, and `InfrastructureError` if a server cannot be reached.
        """

    def schema_text(self, db_id: str) -> str:
        """Return the CREATE TABLE statements of a database, in the order in which its tables were created.

        Raises the same errors as `open`.
        """

    def close(self) -> None:
        """Release all resources that the source holds for episodes. Closing again does nothing.

        A closed source cannot open databases. When the process ends, any open sources are closed.
        """

    def config(self) -> dict[str, Any]:
        """Return a description of the source for a run's configuration.

        It consists of plain values, contains no secrets, and does not change while the source is in use.
        """
