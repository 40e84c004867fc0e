"""An image put aside: its changes, and what its connection counted, as values.

What an episode sees of its connection, besides the settings and temporary tables that it made itself, are
three counters: `changes()`, `total_changes()` and `last_insert_rowid()`. SQLite sets them only by inserting
rows; so another connection gets them by inserting as many into a database that is gone afterwards.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final, NamedTuple

from birdenv.databases._results import Checkpoint

MOST_CHANGES: Final = 10_000
"""Rows that a connection may have changed to be put aside: counting so many again takes some milliseconds."""

MOST_BYTES: Final = 64 * 2**20
"""Of changed pages, to be put aside."""

_COUNT: Final = """
INSERT INTO counted.{} WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
SELECT CASE WHEN ?2 < 0 THEN ?2 + ?1 - i ELSE ?2 - ?1 + i END FROM n
"""


class Counters(NamedTuple):
    """`total_changes()`, `changes()` and `last_insert_rowid()` of a connection."""

    total: int
    latest: int
    rowid: int


@dataclass(frozen=True, slots=True)
class ParkedImage:
    """What an episode goes on from, in another process or later."""

    start: Checkpoint
    counters: Counters


def read_counters(connection: sqlite3.Connection) -> Counters:
    """Read the counters; raises `OverflowError` where they cannot be set again."""
    found = connection.execute("SELECT total_changes(), changes(), last_insert_rowid()").fetchone()
    counters = Counters(*found)
    if counters.total > MOST_CHANGES or counters.latest > counters.total:
        raise OverflowError("the connection has counted too much")
    if counters.rowid and not counters.total:
        raise OverflowError("the connection has counted what is nowhere")
    return counters


def set_counters(connection: sqlite3.Connection, counters: Counters) -> None:
    """Set the counters of a new connection."""
    total, latest, rowid = counters
    if not total:
        return
    connection.execute("ATTACH ':memory:' AS counted").close()
    try:
        for name, rows in (("earlier", total - latest), ("latest", latest)):
            connection.execute(f"CREATE TABLE counted.{name} (id INTEGER PRIMARY KEY)").close()
            if rows:
                connection.execute(_COUNT.format(name), (rows, rowid)).close()
        if not latest:
            connection.execute("DELETE FROM counted.latest WHERE 0").close()
    finally:
        connection.execute("DETACH counted").close()
