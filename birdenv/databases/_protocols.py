"""What every episode database and every source of databases can do, on whatever engine, wherever it runs.

`dump_places` says where a folder keeps dumps of PostgreSQL, which a source of the other engine cannot read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self

from birdenv.databases._limits import Limits
from birdenv.databases._results import Checkpoint, DatabaseState, QueryError, Result, RowSink, Scope

DUMP_FOLDERS: Final = ("postgre_table_dumps", "postgre_table_dumps_full")
"""Names of the folder of `<db>_template` folders that the authors of BIRD-Interact give out."""


def dump_places(folder: Path) -> list[Path]:
    """Return where dumps of PostgreSQL are (`<db>_template` folders) that belong to a folder: itself, or
    folders of the authors' names in it or beside it; the nearest first.
    """
    beside = (near / name for near in (folder, folder.parent) for name in DUMP_FOLDERS)
    return [place for place in (folder, *beside) if any(each.is_dir() for each in place.glob("*_template"))]


class EpisodeDatabase(Protocol):
    """One episode's database: private, fully writable, every statement under limits; SQL never raises."""

    @property
    def is_private(self) -> bool:
        """Return whether the episode has an image of its own by now."""

    @property
    def scope(self) -> Scope | None:
        """Return what results depend on here; None for a private database, or if that is not known.

        Statements marked as `repeatable` give the same on all databases of equal scope.
        """

    def execute(self, sql: str, rows: int | None = None) -> Result:
        """Run one statement of any kind, as the agent's own."""

    def query(self, sql: str, rows: int | None = None) -> Result:
        """Run one plain query that only reads, as grading does."""

    def run(self, statements: Iterable[str]) -> Result:
        """Run scripts up to the first error; otherwise the result of the last statement."""

    def state(self, like: DatabaseState | None = None) -> DatabaseState | QueryError:
        """Return schema and contents as committed, after a rollback; no contents if the schema is not
        `like`'s.
        """

    def checkpoint(self) -> Checkpoint | QueryError:
        """Return what is committed, as a value, after a rollback."""

    def restore(self, checkpoint: Checkpoint) -> QueryError | None:
        """Continue from a checkpoint."""

    def close(self) -> None:
        """Throw the episode's changes away; closing again does nothing."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class ScannedDatabase(EpisodeDatabase, Protocol):
    """A database whose rows can be seen as they come, for graders."""

    def scan(self, sql: str, sink: RowSink) -> Result:
        """Run a query as `query` does, and show its rows to the sink as they come, until it has seen
        enough.
        """


_DEFAULT_LIMITS: Final = Limits()


class DatabaseSource(Protocol):
    """Databases by id, to open episodes on; what a database holds at its opening never changes.

    `SqliteSource` and `PostgresSource` are the ones there are. May be used by several threads.
    """

    @property
    def dialect(self) -> str:
        """Return the SQL dialect by sqlglot's name: `sqlite`, `postgres`."""

    @property
    def engine(self) -> str:
        """Return the engine and its version: results may differ between versions."""

    def scope(self, db_id: str, limits: Limits) -> Scope:
        """Return what results on a fresh database depend on; raises as `check` does."""

    def names(self) -> list[str]:
        """Return the ids of the databases that can be opened, sorted."""

    def check(self, db_id: str) -> None:
        """Raise `InputError` that says what is wrong unless the database can be opened."""

    def digest(self, db_id: str) -> str:
        """Return the SHA-256 in hexadecimal of the contents; raises as `check` does."""

    def version(self, db_id: str) -> Hashable:
        """Return what tells the contents from others, in this process; cheaper than `digest`. Raises as
        `check`.
        """

    def open(self, db_id: str, limits: Limits = _DEFAULT_LIMITS) -> EpisodeDatabase:
        """Return a database for one episode, private and pristine; `limits` hold for each statement.

        Raises as `check` does, and `InfrastructureError` where a server is out of reach.
        """

    def schema_text(self, db_id: str) -> str:
        """Return the CREATE TABLE statements, in the order in which the tables were made; raises as
        `open`.
        """

    def close(self) -> None:
        """Release what the source holds for episodes. No more can be opened; closing again does nothing.

        The end of the process does the same.
        """

    def config(self) -> dict[str, Any]:
        """Return what a run writes down about the source: plain values, no secrets, and none that change by
        use.
        """
