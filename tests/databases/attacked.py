"""An episode under attack: what every attack must leave as it was, and how soon it must be over."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from database_files import fingerprint

from birdenv.databases import EpisodeDatabase, Limits, QueryError, QueryResult, Result, SqliteSource

DOORS = ("grading", "grading what was written", "agent", "agent that wrote before")
"""Where SQL comes in: `query` and `execute`, each before and after the episode has an image of its own."""

SECONDS = 0.15
GRACE = 1.0
SLACK = 3.0  # by the wall clock, for a machine that does other things besides
LIMITS = Limits(seconds=SECONDS, rows=1_000, bytes=20_000_000)
NEIGHBOURS = "SELECT id, name, city FROM customers ORDER BY id"


class Attacked:
    """An episode on `shop`, and a neighbour on the same file that wrote something of its own."""

    def __init__(self, source: SqliteSource, folder: Path, door: str = "agent") -> None:
        self.source = source
        self.shop = source.path("shop")
        self.folder = folder
        self.elsewhere = folder / "elsewhere.db"
        self.is_grading = door.startswith("grading")
        self._reading = source.open("shop")
        self._writing = source.open("shop")
        self._writing.execute("INSERT INTO customers VALUES (9, 'Neighbour', NULL)")
        self.database: EpisodeDatabase = source.open("shop", LIMITS)
        if "wr" in door:
            assert isinstance(self.database.execute("CREATE TABLE moved (a)"), QueryResult)

    def run(self, sql: str) -> Result:
        """The answer, which is there in time."""
        began = time.monotonic()
        result = (self.database.query if self.is_grading else self.database.execute)(sql)
        taken = time.monotonic() - began
        assert taken < LIMITS.wall_seconds + GRACE + SLACK, f"{taken:.1f} s for {sql[:200]}"
        return result

    def close(self) -> None:
        for database in (self.database, self._reading, self._writing):
            database.close()

    def neighbours(self) -> list[list[tuple[object, ...]]]:
        """What the neighbours and a new episode see."""
        with self.source.open("shop") as new:
            return [rows(each.query(NEIGHBOURS)) for each in (self._reading, self._writing, new)]

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """Nothing that happens inside shows outside of the episode."""
        before, there, seen = fingerprint(self.shop), listing(self.folder), self.neighbours()
        assert seen[0] == seen[2] != seen[1]
        yield
        assert self.neighbours() == seen
        assert fingerprint(self.shop) == before
        assert listing(self.folder) == there
        assert self.database.query("SELECT 1") == QueryResult(("1",), [(1,)]), "usable afterwards"


def listing(folder: Path) -> list[str]:
    """Every file and folder below one, with the sizes of files."""
    return sorted(
        f"{Path(place) / name}: {(Path(place) / name).stat().st_size if name in files else 'folder'}"
        for place, folders, files in os.walk(folder)
        for name in folders + files
    )


def kind(result: Result) -> str:
    return result.kind if isinstance(result, QueryError) else "ok"


def rows(result: Result) -> list[tuple[object, ...]]:
    assert isinstance(result, QueryResult), result
    return list(result.rows)
