"""Databases that the benchmark fills: golds find in them what they ask for; they are the same everywhere."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from birdenv_baselines.bench._filled_databases import Filling, build_filled
from birdenv_baselines.bench._gold_literals import demands
from birdenv_baselines.bench._schemas import Schema, read_schemas

pytestmark = pytest.mark.slow

LIBRARY: dict[str, Any] = {
    "db_id": "library",
    "table_names_original": ["Author", "book", "loan"],
    "column_names_original": [
        [-1, "*"],
        [0, "id"],
        [0, "name"],
        [0, "born"],
        [1, "isbn"],
        [1, "author id"],
        [1, "pages"],
        [2, "isbn"],
        [2, "day"],
        [2, "fee"],
    ],
    "column_types": ["text", "number", "text", "text", "text", "number", "number", "text", "text", "number"],
    "primary_keys": [1, 4, [7, 8]],
    "foreign_keys": [[5, 1], [7, 4]],
}
GOLDS = (
    "SELECT name FROM author WHERE id = 77",
    "SELECT T2.pages FROM Author AS T1 JOIN book AS T2 ON T1.id = T2.`author id` JOIN loan AS T3"
    " ON T3.isbn = T2.isbn WHERE T1.name = 'Ada' AND T2.pages > 900 AND T3.fee BETWEEN 1.5 AND 1.75",
    "SELECT isbn FROM book WHERE isbn = 'X-1' AND pages < -5",
    "SELECT isbn FROM book WHERE isbn IN ('X-1', 'X-2')",
    "SELECT count(*) FROM Author WHERE strftime('%Y', born) = '1815' HAVING count(*) > 0",
    "SELECT name FROM Author WHERE name LIKE 'Bo_b%' AND born < '1700-01-01'",
    'SELECT name FROM Author WHERE name = "Grace"',
)
FILLING = Filling("library", 0.1, {"loan": 1_000}, {"Author.name": 0, "loan.day": 0})


@pytest.fixture
def library(tmp_path: Path) -> Schema:
    file = tmp_path / "tables.json"
    file.write_text(json.dumps([LIBRARY]), encoding="utf-8")
    return read_schemas(file)["library"]


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("SELECT 1 FROM author WHERE NAME = 'Ada'", {("Author", "name"): ["Ada"]}),
        ("SELECT 1 FROM Author a WHERE 'Ada' = a.name", {("Author", "name"): ["Ada"]}),
        ("SELECT 1 FROM book WHERE pages >= 10", {("book", "pages"): [11]}),
        ("SELECT 1 FROM book WHERE pages < -1.5", {("book", "pages"): [-2.5]}),
        ("SELECT 1 FROM Author WHERE born > '1999-12-31'", {("Author", "born"): ["2000-12-31"]}),
        ("SELECT 1 FROM book WHERE pages IN (1, 2) OR pages = 3", {("book", "pages"): [1, 2, 3]}),
        ("SELECT 1 FROM book WHERE pages BETWEEN 5 AND 9", {("book", "pages"): [5, 9]}),
        ("SELECT 1 FROM Author WHERE name LIKE '%a_b%'", {("Author", "name"): ["aab"]}),
        ('SELECT 1 FROM Author WHERE name = "Ada"', {("Author", "name"): ["Ada"]}),
        ("SELECT 1 FROM Author WHERE strftime('%m', born) = '03'", {("Author", "born"): ["2012-03-01"]}),
        ("SELECT 1 FROM Author WHERE substr(born, 1, 4) = '1815'", {("Author", "born"): ["1815-06-15"]}),
        ("SELECT 1 FROM Author WHERE CAST(born AS INT) = 3", {("Author", "born"): [3]}),
        (
            "SELECT (SELECT max(fee) FROM loan WHERE day = 'x') FROM book WHERE pages = 1",
            {("loan", "day"): ["x"], ("book", "pages"): [1]},
        ),
        ("SELECT sum(CASE WHEN pages = 1 THEN 1 END) FROM book", {("book", "pages"): [1]}),
        ("SELECT 1 FROM book WHERE nonsense = 1 AND pages + fee = 2", {}),
    ],
)
def test_what_a_query_asks_for(library: Schema, sql: str, values: dict[tuple[str, str], list[Any]]) -> None:
    assert demands(sql, library).values == values


def test_columns_that_a_query_equates_are_a_join(library: Schema) -> None:
    found = demands("SELECT 1 FROM book b, loan l WHERE b.isbn = l.isbn", library)
    assert (found.values, found.joins) == ({}, [(("book", "isbn"), ("loan", "isbn"))])


def test_tables_have_their_keys_and_no_other_index(library: Schema, tmp_path: Path) -> None:
    target = tmp_path / "library" / "library.sqlite"
    build_filled(target, FILLING, library, GOLDS)
    with closing(sqlite3.connect(target)) as connection:
        keys = {
            table.name: [
                name for _, name, *_, place in connection.execute(f"PRAGMA table_info({table.name})") if place
            ]
            for table in library.tables
        }
        indexes = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'index'").fetchall()
        (kind,) = connection.execute("SELECT typeof(id) FROM Author").fetchone()
    assert keys == {"Author": ["id"], "book": ["isbn"], "loan": ["isbn", "day"]}
    assert indexes == [(None,), (None,)]
    assert kind == "integer"


@pytest.mark.parametrize("gold", GOLDS)
def test_every_gold_finds_something(library: Schema, tmp_path: Path, gold: str) -> None:
    target = tmp_path / "library" / "library.sqlite"
    build_filled(target, FILLING, library, GOLDS)
    with closing(sqlite3.connect(target)) as connection:
        assert connection.execute(gold).fetchall()


def test_references_lead_somewhere(library: Schema, tmp_path: Path) -> None:
    target = tmp_path / "library" / "library.sqlite"
    build_filled(target, FILLING, library, GOLDS)
    with closing(sqlite3.connect(target)) as connection:
        lost = connection.execute(
            'SELECT count(*) FROM book WHERE "author id" NOT IN (SELECT id FROM Author)'
        ).fetchone()
        loans = connection.execute("SELECT count(*) FROM loan JOIN book USING (isbn)").fetchone()
        assert lost == (0,)
        assert loans == connection.execute("SELECT count(*) FROM loan").fetchone()
        assert loans > (200,)


_BUILD = """
import json, sys
from pathlib import Path
from birdenv_baselines.bench._filled_databases import Filling, build_filled
from birdenv_baselines.bench._schemas import read_schemas
folder, golds = Path(sys.argv[1]), json.loads(sys.argv[2])
schema = read_schemas(folder / "tables.json")["library"]
filling = Filling("library", 0.1, {"loan": 1_000}, {"Author.name": 40})
build_filled(folder / sys.argv[3] / "library" / "library.sqlite", filling, schema, golds)
"""


def test_the_same_bytes_in_every_process(library: Schema, tmp_path: Path) -> None:
    digests = set()
    for seed in ("0", "1", "77"):
        subprocess.run(
            [sys.executable, "-c", _BUILD, str(tmp_path), json.dumps(GOLDS), seed],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
        digests.add(hashlib.sha256((tmp_path / seed / "library" / "library.sqlite").read_bytes()).hexdigest())
    assert len(digests) == 1


def test_a_database_that_is_there_is_left_alone(library: Schema, tmp_path: Path) -> None:
    target = tmp_path / "library" / "library.sqlite"
    build_filled(target, FILLING, library, GOLDS)
    before = target.stat().st_mtime_ns
    build_filled(target, FILLING, library, ())
    assert target.stat().st_mtime_ns == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["library", "tables.json"]
