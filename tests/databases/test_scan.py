"""Rows shown a batch at a time, as graders see them in a worker: those of `query`, until it is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from sys import getsizeof
from typing import Any

import pytest
from database_files import write_database

from birdenv.databases import Limits, QueryError, QueryResult
from birdenv.databases.sqlite import LocalSource, SqliteDatabase

LIMITS = Limits(seconds=0.5)
COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n{}) SELECT i, 'row ' || i FROM n"


class Seen:
    """Keeps what it is shown, and has seen enough after so many rows."""

    def __init__(self, enough: float = float("inf")) -> None:
        self.enough = enough
        self.begun: list[tuple[str, ...]] = []
        self.rows: list[Any] = []
        self.batches = 0

    def begin(self, columns: tuple[str, ...]) -> None:
        self.begun.append(columns)
        self.rows = []

    def see(self, rows: list[Any]) -> bool:
        self.rows += rows
        self.batches += 1
        return len(self.rows) < self.enough


@pytest.fixture
def source(tmp_path: Path, local: Callable[[Path], LocalSource]) -> LocalSource:
    write_database(tmp_path / "databases", "shop")
    return local(tmp_path / "databases")


@pytest.fixture
def database(source: LocalSource) -> Iterator[SqliteDatabase]:
    with source.open("shop", LIMITS) as opened:
        yield opened


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM customers",
        "SELECT * FROM customers WHERE 0",
        "SELECT 1, 2.5, 'a', x'00ff', NULL, 9e999",
        COUNT.format(" WHERE i < 1023"),
        COUNT.format(" WHERE i < 1024"),
        COUNT.format(" WHERE i < 1025"),
        COUNT.format(" WHERE i < 5000"),
        "SELECT nothing",
        "SELEC",
        "",
        "-- none",
        "DELETE FROM customers",
        "SELECT 1; SELECT 2",
        "SELECT CAST(x'ff41' AS TEXT)",
        "SELECT upper(hex(zeroblob(20)))",
    ],
)
def test_the_rows_are_those_of_a_query(database: SqliteDatabase, sql: str) -> None:
    expected = database.query(sql)
    seen = Seen()
    end = database.scan(sql, seen)
    if isinstance(expected, QueryError):
        assert end == expected
    else:
        assert isinstance(end, QueryResult)
        assert (end.columns, list(end.rows), end.truncated) == (expected.columns, [], False)
        assert seen.rows == list(expected.rows)
        assert seen.begun[-1] == expected.columns


def test_it_stops_when_enough_is_seen(database: SqliteDatabase) -> None:
    """The rows are endless: whoever does not stop here is late."""
    seen = Seen(3000)
    end = database.scan(COUNT.format(""), seen)
    assert isinstance(end, QueryResult) and end.truncated
    assert 3000 <= len(seen.rows) < 5000
    assert database.query("SELECT count(*) FROM customers").rows == [(3,)]  # type: ignore[union-attr]


def test_what_is_endless_is_late(database: SqliteDatabase) -> None:
    class Blind(Seen):
        def see(self, rows: list[Any]) -> bool:
            return True

    end = database.scan(COUNT.format(""), Blind())
    assert isinstance(end, QueryError) and end.kind == "timeout"


@pytest.mark.parametrize(("rows", "cut"), [(2999, True), (3000, False), (0, True)])
def test_row_limits(source: LocalSource, rows: int, cut: bool) -> None:
    with source.open("shop", Limits(rows=rows)) as database:
        seen = Seen()
        end = database.scan(COUNT.format(" WHERE i < 3000"), seen)
        assert isinstance(end, QueryResult)
        assert (end.truncated, len(seen.rows)) == (cut, min(rows, 3000))


def test_byte_limits_are_those_of_a_query(source: LocalSource) -> None:
    """Each row counts what Python takes for it, its cells and the pointer to it."""
    sql = COUNT.format(" WHERE i < 3000").replace("SELECT i, 'row ' || i", "SELECT i + 1000, 'abcd'")
    row = getsizeof((1000, "abcd")) + getsizeof(1000) + getsizeof("abcd") + 8
    for size, fits in ((3000 * row, True), (3000 * row - 1, False)):
        with source.open("shop", Limits(bytes=size)) as database:
            for result in (database.scan(sql, Seen()), database.query(sql)):
                assert isinstance(result, QueryResult) is fits
                assert fits or getattr(result, "kind", "") == "too_large"


def test_a_statement_that_starts_again_is_shown_from_its_beginning(source: LocalSource) -> None:
    """Text that is no UTF-8 is noticed in the middle of the rows."""
    sql = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)"
        " SELECT i, CASE WHEN i = 2000 THEN CAST(x'ff' AS TEXT) ELSE 'a' END FROM n"
    )
    with source.open("shop") as database:
        seen = Seen()
        end = database.scan(sql, seen)
    assert isinstance(end, QueryResult)
    assert len(seen.begun) == 2
    assert [row[0] for row in seen.rows] == list(range(1, 2501))


def test_an_episode_of_its_own_sees_what_it_wrote(database: SqliteDatabase) -> None:
    database.execute("DELETE FROM customers WHERE id > 1")
    seen = Seen()
    database.scan("SELECT id FROM customers", seen)
    assert seen.rows == [(1,)]
