"""Limits count the processor time that a statement used itself; the wall clock is the last resort."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from database_files import write_database

from birdenv.databases import Limits, QueryError, QueryResult, Result, Row, SqliteSource
from birdenv.databases.sqlite import LocalSource

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
ROWS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000) SELECT i FROM n"
LIMITS = Limits(seconds=0.2)


def message(result: Result) -> str:
    assert isinstance(result, QueryError)
    return result.message


class Waiting:
    """A sink that waits at every batch of rows, as a busy machine lets statements wait."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def begin(self, columns: tuple[str, ...]) -> None:
        self.rows = 0

    def see(self, rows: list[Row]) -> bool:
        self.rows += len(rows)
        time.sleep(self.seconds)
        return True


@pytest.fixture
def source(tmp_path: Path, local: Callable[[Path], LocalSource]) -> LocalSource:
    write_database(tmp_path, "town", "CREATE TABLE a (b)")
    return local(tmp_path)


def test_a_statement_that_is_kept_waiting_is_not_late(source: LocalSource) -> None:
    sink = Waiting(0.003)  # a hundred batches
    with source.open("town", LIMITS) as database:
        end = database.scan(ROWS, sink)
    assert isinstance(end, QueryResult), end
    assert (sink.rows, end.elapsed > LIMITS.seconds) == (3000, True)


@pytest.mark.slow
def test_after_four_times_the_limit_the_wall_clock_ends_it(source: LocalSource) -> None:
    with source.open("town", LIMITS) as database:
        end = database.scan(ROWS, Waiting(LIMITS.wall_seconds))
    assert isinstance(end, QueryError)
    assert (end.kind, end.message.split(" by killing")[0]) == ("timeout", "stopped after 0.8 s of wall time")


@pytest.mark.slow
@pytest.mark.every(2)
def test_a_statement_that_works_is_ended_by_its_processor_time(source: LocalSource) -> None:
    with SqliteSource(source.root).open("town", LIMITS) as database:
        end = message(database.query(ENDLESS))
        script = message(database.run([ENDLESS.replace("FROM n)", "FROM n LIMIT 100000)")] * 1_000))
    # The wall clock's word is for a machine on which even this statement got less than a quarter of a core.
    assert end in ("stopped after 0.2 s of CPU time", "stopped after 0.8 s of wall time")
    assert script.removesuffix(" for all statements together") in (
        "stopped after 0.8 s of CPU time",
        "stopped after 3.2 s of wall time",
    )
