"""The statements that changed an episode's database, kept so that a lost database can be restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from birdenv.databases import EpisodeDatabase, QueryError, Result

_LEAVES_NOTHING: Final = ("timeout", "too_large", "denied", "syntax")
"""The kinds of errors after which a statement is not run again: it did nothing, or used up its limits."""


class PastStatements:
    """Records the statements that must run again to restore a lost database.

    As long as an episode has no private copy of the database, the episode's statements have changed nothing,
    so they are not recorded.
    """

    def __init__(self) -> None:
        self._past: list[str | None] = []  # None stands for `set_aside`

    def ran(self, sql: str, result: Result, database: EpisodeDatabase) -> int:
        """Record a statement that has just run, and return the number of recorded statements."""
        if not database.is_private:
            self._past.clear()
        elif not isinstance(result, QueryError) or result.kind not in _LEAVES_NOTHING:
            self._past.append(sql)
        return len(self._past)

    def recall(self, sql: str, count: int) -> None:
        """Record a statement that ran in another process, where `ran` returned this `count`."""
        self._past.append(sql)
        del self._past[count:]

    def set_aside(self) -> None:
        """Record that the committed state was set aside (see `EpisodeDatabase`)."""
        if self._past:
            self._past.append(None)

    def clear(self) -> None:
        """Forget all statements, because the database starts afresh."""
        self._past.clear()

    def run_again(
        self, execute: Callable[[str], object], set_aside: Callable[[], None] = lambda: None
    ) -> None:
        """Restore a database by running the statements again, whatever their results are this time.

        Args:
            execute: runs a statement.
            set_aside: sets the committed state aside.
        """
        for sql in self._past:
            if sql is None:
                set_aside()
            else:
                execute(sql)
