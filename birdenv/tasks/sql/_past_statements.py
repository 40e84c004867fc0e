"""Record the statements that may have changed an episode's database, to restore it if it is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from birdenv.databases import EpisodeDatabase, QueryError, Result

_LEAVES_NOTHING: Final = ("timeout", "too_large", "denied", "syntax")
"""The kinds of errors of statements that are not run again: they did nothing, or exceeded their limits."""


class PastStatements:
    """The statements in an episode that must be rerun to restore its database.

    Statements are recorded only after the episode has a private copy of the database. Before that, they
    cannot have changed anything.
    """

    def __init__(self) -> None:
        self._past: list[str | None] = []  # None stands for `set_aside`

    def ran(self, sql: str, result: Result, database: EpisodeDatabase) -> int:
        """Record a statement that has just run, and return the total number of recorded statements."""
        if not database.is_private:
            self._past.clear()
        elif not isinstance(result, QueryError) or result.kind not in _LEAVES_NOTHING:
            self._past.append(sql)
        return len(self._past)

    def recall(self, sql: str, count: int) -> None:
        """Record a statement that a resumed episode ran in an earlier process.

        Args:
            sql: the statement that ran.
            count: the number that `ran` returned in that process. If more statements are recorded, only the
                first `count` of them are kept.
        """
        self._past.append(sql)
        del self._past[count:]

    def set_aside(self) -> None:
        """Record that the database was closed at this point, and that uncommitted changes were lost."""
        if self._past:
            self._past.append(None)

    def clear(self) -> None:
        """Discard all recorded statements, because the episode continues with a fresh database."""
        self._past.clear()

    def run_again(
        self, execute: Callable[[str], object], set_aside: Callable[[], None] = lambda: None
    ) -> None:
        """Rerun the recorded statements to restore the database. Their results are ignored.

        Args:
            execute: a function that runs one statement.
            set_aside: a function that closes the database and keeps its committed changes.
        """
        for sql in self._past:
            if sql is None:
                set_aside()
            else:
                execute(sql)
