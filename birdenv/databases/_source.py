"""What a source of databases is to everybody outside this room, whatever engine runs the SQL."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final, Protocol

from birdenv.databases._episode_database import EpisodeDatabase
from birdenv.databases._limits import Limits

__all__ = ["DatabaseSource"]

_DEFAULT_LIMITS: Final = Limits()


class DatabaseSource(Protocol):
    """Databases by id, to open episodes on; what a database holds at its opening never changes.

    `SqliteSource` and `PostgresSource` are the ones there are. May be used by several threads.
    """

    @property
    def dialect(self) -> str:
        """The SQL dialect by sqlglot's name: `sqlite`, `postgres`."""

    @property
    def engine(self) -> str:
        """The engine and its version: results may differ between versions."""

    def names(self) -> list[str]:
        """The ids of the databases that can be opened, sorted."""

    def check(self, db_id: str) -> None:
        """Raise `InputError` that says what is wrong unless the database can be opened."""

    def digest(self, db_id: str) -> str:
        """SHA-256 in hexadecimal of the contents; raises as `check` does."""

    def version(self, db_id: str) -> Hashable:
        """What tells the contents from others, in this process; cheaper than `digest`. Raises as `check`."""

    def open(self, db_id: str, limits: Limits = _DEFAULT_LIMITS) -> EpisodeDatabase:
        """A database for one episode, private and pristine; `limits` hold for each statement.

        Raises as `check` does, and `InfrastructureError` where a server is out of reach.
        """

    def schema_text(self, db_id: str) -> str:
        """The CREATE TABLE statements, in the order in which the tables were made; raises as `open`."""

    def close(self) -> None:
        """Let go of what it holds for episodes, of which no more are opened; closing again does nothing.

        The end of the process does it as well.
        """

    def config(self) -> dict[str, Any]:
        """What a run writes down about the source: plain values, no secrets, and none that change by use."""
