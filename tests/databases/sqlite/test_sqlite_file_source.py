"""One file of any name as a source."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from birdenv.databases import QueryError, QueryResult
from birdenv.databases.sqlite import SqliteFileSource
from birdenv.errors import InputError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some data?.db"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE t (x); INSERT INTO t VALUES (1), (2);")
    connection.close()
    return path


def test_every_id_is_the_file(file: Path) -> None:
    source = SqliteFileSource(file)
    assert source.names() == ["some data?"]
    for db_id in ("", "superhero", "../x"):
        with source.open(db_id) as database:
            result = database.query("SELECT count(*) FROM t")
        assert isinstance(result, QueryResult)
        assert list(result.rows) == [(2,)]
    assert source.path("any") == file


def test_a_statement_that_nothing_stops_is_over(file: Path) -> None:
    from birdenv.databases import Limits

    with SqliteFileSource(file).open("", Limits(seconds=0.3)) as database:
        endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT count(*) FROM r"
        result = database.query(endless)
        assert isinstance(result, QueryError)
        assert result.kind == "timeout"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no"),
        (b"", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (b"x", "not"),
    ],
)
def test_unusable_files(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "x.sqlite"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=says):
        SqliteFileSource(path)
