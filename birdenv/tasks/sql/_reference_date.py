"""Tasks at a reference date: which of them cannot be played at one, and what agents are told of it."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.databases import DatabaseSource, DatedSource
from birdenv.grading.sandbox import reads_clock
from birdenv.sql import ClockError, at_date


def clock_fault(sqls: Sequence[str], tests: Sequence[str], today: str, dialect: str) -> str:
    """Say why a day cannot take the place of the clock in a task's SQL and test cases; empty if it can."""
    try:
        for sql in sqls:
            at_date(sql, today, dialect)
    except ClockError as error:
        return str(error)
    return "a test case reads the clock of Python" if any(map(reads_clock, tests)) else ""


def today_words(source: DatabaseSource) -> str:
    """Return what an agent is told of the day, for the end of its instruction."""
    return f"\n\nToday is {source.today}, also for SQL." if isinstance(source, DatedSource) else ""
