"""What grading needs of a source of databases: fresh private copies, results as values."""

from __future__ import annotations

from typing import Protocol

from birdenv.databases import EpisodeDatabase, Limits

__all__ = ["Source"]


class Source(Protocol):
    """Databases by id. Opening one gives a pristine copy, whatever was done to earlier ones."""

    @property
    def dialect(self) -> str:
        """The SQL dialect by sqlglot's name: `sqlite`, `postgres`."""

    @property
    def engine(self) -> str:
        """The engine and its version."""

    def open(self, db_id: str, limits: Limits) -> EpisodeDatabase:
        """A fresh private copy; raises `InputError` if there is no such database."""

    def digest(self, db_id: str) -> str:
        """A digest of the pristine contents."""
