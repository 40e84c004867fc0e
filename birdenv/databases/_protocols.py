"""The interfaces of episode databases and of database sources, which are the same for every engine.

`dump_places` finds the PostgreSQL dumps of a folder.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, Final, Protocol, Self

from birdenv.databases._limits import Limits
from birdenv.databases._results import Checkpoint, DatabaseState, QueryError, Result, RowSink, Scope

DUMP_FOLDERS: Final = ("postgre_table_dumps", "postgre_table_dumps_full")
"""Names under which the authors of BIRD-Interact publish their folder of `<db>_template` folders."""


def dump_places(folder: Path) -> list[Path]:
    """Return the folders of PostgreSQL dumps (`<db>_template`) that belong to a folder, nearest first.

    Candidates are `folder` itself, and the folders inside or beside `folder` that `DUMP_FOLDERS` names.
    """
    beside = (near / name for near in (folder, folder.parent) for name in DUMP_FOLDERS)
    return [place for place in (folder, *beside) if any(each.is_dir() for each in place.glob("*_template"))]


class EpisodeDatabase(Protocol):
    """One episode's database: private and fully writable, with limits on every statement.

    No SQL raises an exception: errors are returned as `QueryError`.
    """

    @property
    def is_private(self) -> bool:
        """Return whether the episode has written something, and therefore has its own database copy."""

    @property
    def scope(self) -> Scope | None:
        """Return everything that results on this database depend on, or None.

        None means that this is unknown, or that the episode has its own copy.

        A statement marked as `repeatable` returns the same result on all databases with the same scope.
        """

    def execute(self, sql: str, rows: int | None = None) -> Result:
        """Run one statement of any kind, as the agent does."""

    def query(self, sql: str, rows: int | None = None) -> Result:
        """Run one plain query, which may only read, as grading does."""

    def run(self, statements: Iterable[str]) -> Result:
        """Run scripts until the first error. Return this error, or else the result of the last statement."""

    def state(self, like: DatabaseState | None = None) -> DatabaseState | QueryError:
        """Roll back any open transaction, and return the committed schema and contents.

        The contents are not read if `like` has a different schema, because the states differ anyway.
        """

    def checkpoint(self) -> Checkpoint | QueryError:
        """Roll back any open transaction, and return the committed contents as a value."""

    def restore(self, checkpoint: Checkpoint) -> QueryError | None:
        """Go back to the contents of a checkpoint. Return an error if that fails, or else None."""

    def close(self) -> None:
        """Discard the episode's changes. Closing again does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ScannedDatabase(EpisodeDatabase, Protocol):
    """A database that can pass rows to a grader while the query is still running."""

    def scan(self, sql: str, sink: RowSink) -> Result:
        """Run a query as `query` does. Pass rows to the sink as they arrive, until the sink needs no more."""


_DEFAULT_LIMITS: Final = Limits()


class DatabaseSource(Protocol):
    """A set of databases, each with an id, on which episodes can be opened. Thread-safe.

    Every episode on a database starts from the same contents. The implementations are `SqliteSource` and
    `PostgresSource`.
    """

    @property
    def dialect(self) -> str:
        """Return the SQL dialect by sqlglot's name: `sqlite` or `postgres`."""

    @property
    def engine(self) -> str:
        """Return the engine and its version, because results may differ between versions."""

    def scope(self, db_id: str, limits: Limits) -> Scope:
        """Return everything that results on an unchanged database depend on.

        Raises the same errors as `check`.
        """

    def names(self) -> list[str]:
        """Return the ids of the databases that can be opened, sorted."""

    def check(self, db_id: str) -> None:
        """Raise `InputError` with the reason if the database cannot be opened."""

    def digest(self, db_id: str) -> str:
        """Return the SHA-256 of a database's contents in hexadecimal. Raises the same errors as `check`."""

    def version(self, db_id: str) -> Hashable:
        """Return a value that identifies the contents within this process. It costs less than `digest`.

        Raises the same errors as `check`.
        """

    def open(self, db_id: str, limits: Limits = _DEFAULT_LIMITS) -> EpisodeDatabase:
        """Return a private, unchanged database for one episode. The limits apply to each statement.

        Raises the same errors as `check`, and `InfrastructureError` if a server cannot be reached.
        """

    def schema_text(self, db_id: str) -> str:
        """Return the CREATE TABLE statements, in the order in which the tables were created.

        Raises the same errors as `open`.
        """

    def close(self) -> None:
        """Release everything that the source holds for episodes. Closing again does nothing.

        A closed source opens no more episodes. Sources that are still open at the end of the process are
        closed then.
        """

    def config(self) -> dict[str, Any]:
        """Return a description of the source, which becomes part of a run's configuration.

        It consists of plain values, contains no secrets, and does not change while the source is used.
        """
