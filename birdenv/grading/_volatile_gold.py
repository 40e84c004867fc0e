"""Does the benchmark's own SQL read the clock or random numbers?

Where the engine does not say that a statement is repeatable, this is asked of golds: SQLite says it of
queries on the file as it is, never of what writes or comes after, nor of any date function; PostgreSQL says
it of nothing. It is never asked of predictions: SQL can hide what it reads.
"""

from __future__ import annotations

from functools import lru_cache

from birdenv.sql import may_change


@lru_cache(maxsize=4096)
def reads_clock(sql: str) -> bool:
    """Tell whether the result may change from one run to the next, by the text and on the safe side.

    `'now'` counts wherever it stands. The answers are remembered: ask about the benchmark's own SQL only.
    """
    return may_change(sql)
