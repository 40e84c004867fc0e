"""What grading needs of a source of databases: fresh private copies, results as values."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Protocol

from birdenv.databases import DatabaseState, Limits, QueryError, Result

__all__ = ["Database", "Source"]


class Database(Protocol):
    """One private copy of a database; closing it throws every change away."""

    def query(self, sql: str) -> Result:
        """Run one plain query that only reads; anything else gives a `QueryError`."""

    def run(self, statements: Iterable[str]) -> Result:
        """Run scripts up to the first error; otherwise the result of the last statement."""

    def state(self, like: DatabaseState | None = None) -> DatabaseState | QueryError:
        """Schema and contents as committed, after a rollback; no contents if the schema is not `like`'s."""

    def __enter__(self) -> Database: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Source(Protocol):
    """Databases by id. Opening one gives a pristine copy, whatever was done to earlier ones."""

    @property
    def dialect(self) -> str:
        """The SQL dialect by sqlglot's name: `sqlite`, `postgres`."""

    @property
    def engine(self) -> str:
        """The engine and its version."""

    def open(self, db_id: str, limits: Limits) -> Database:
        """A fresh private copy; raises `InputError` if there is no such database."""

    def digest(self, db_id: str) -> str:
        """A digest of the pristine contents."""
