"""The statements that made an episode's database what it is: to make it again where it was lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from birdenv.databases import EpisodeDatabase, QueryError, Result

_LEAVES_NOTHING: Final = ("timeout", "too_large", "denied", "syntax")
"""Errors of statements that are not run again: they took what they were allowed to, or did nothing."""


class PastStatements:
    """Remembers the statements that must run again to restore a database, and their number after each move.

    As long as an episode has no image of its own, its statements have changed nothing, so none is remembered.
    """

    def __init__(self) -> None:
        self._past: list[str | None] = []  # None: what was committed was put aside, all else was lost

    def ran(self, sql: str, result: Result, database: EpisodeDatabase) -> int:
        """Remember a statement that has just run; returns how many are remembered."""
        if not database.is_private:
            self._past.clear()
        elif not isinstance(result, QueryError) or result.kind not in _LEAVES_NOTHING:
            self._past.append(sql)
        return len(self._past)

    def recall(self, sql: str, count: int) -> None:
        """Remember a statement that ran in another process; `count` is what `ran` returned there."""
        self._past.append(sql)
        del self._past[count:]

    def set_aside(self) -> None:
        """Remember that the committed state was set aside."""
        if self._past:
            self._past.append(None)

    def clear(self) -> None:
        """Forget all: the database begins anew."""
        self._past.clear()

    def run_again(
        self, execute: Callable[[str], object], set_aside: Callable[[], None] = lambda: None
    ) -> None:
        """Bring a database back, whatever each statement says this time."""
        for sql in self._past:
            if sql is None:
                set_aside()
            else:
                execute(sql)
