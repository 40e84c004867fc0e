"""The EM key: what does not matter is gone, and no literal is ever touched."""

from __future__ import annotations

import pytest
from postgres_server import start_postgres

from birdenv.databases import QueryResult
from birdenv.databases.postgres import PostgresQueries
from birdenv.grading.em_esm._exact_match import KEYWORDS, EmLevel, em_key, em_keys


@pytest.mark.parametrize(
    ("a", "b", "dialect", "lowest"),
    [
        # The level from which on both have the same key; empty if none has.
        ("SELECT 1", " SELECT 1\n", "sqlite", "strict"),
        ("SELECT 1", "select  1 ;", "sqlite", "conservative"),
        ("SELECT a,b FROM t", "SELECT a , b\nFROM t -- all", "sqlite", "conservative"),
        ("SELECT a FROM t", "SELECT /* x */ a FROM t", "postgres", "conservative"),
        ("SELECT a", "SELECT /* x /* y */ z */ a", "postgres", "conservative"),
        ("SELECT COUNT( * ) FROM t", "SELECT COUNT(*) FROM t", "sqlite", "conservative"),
        ("SELECT a FROM t", "SELECT A FROM T", "sqlite", "folded"),
        ("SELECT count(*) FROM t", "SELECT COUNT(*) FROM t", "sqlite", "folded"),
        ("SELECT `a` FROM [t]", "SELECT a FROM t", "sqlite", "folded"),
        ('SELECT t."A" FROM "t"', 'SELECT t.a FROM "t"', "sqlite", "folded"),
        ('SELECT "a" FROM t', "SELECT a FROM t", "postgres", "folded"),
        ("SELECT 1 WHERE a <> b", "SELECT 1 WHERE a != b", "postgres", "folded"),
        ("SELECT 1 WHERE a == b", "SELECT 1 WHERE a = b", "sqlite", "folded"),
        ("SELECT 'a--b', x", "SELECT 'a', x", "sqlite", ""),
        ("SELECT 'a  b'", "SELECT 'a b'", "sqlite", ""),
        ("SELECT 'select'", "SELECT 'SELECT'", "sqlite", ""),
        ("SELECT 'a\nb'", "SELECT 'a b'", "postgres", ""),
        (r"SELECT E'a\'--' , 1", r"SELECT E'a\'--' , 2", "postgres", ""),
        ("SELECT $$a -- b$$", "SELECT $$a$$", "postgres", ""),
        ("SELECT x'ab'", "SELECT x 'ab'", "sqlite", ""),
        ('SELECT "A" FROM t', "SELECT a FROM t", "postgres", ""),
        ('SELECT "Bob" FROM t', "SELECT Bob FROM t", "sqlite", ""),
        ('SELECT "order" FROM t', "SELECT order FROM t", "postgres", ""),
        ("SELECT `order` FROM t", "SELECT order FROM t", "sqlite", ""),
        ("SELECT a, b", "SELECT b, a", "sqlite", ""),
        ("SELECT a AS x", "SELECT a AS y", "sqlite", ""),
        ("SELECT 1", "SELECT 1.0", "sqlite", ""),
    ],
)
def test_from_which_level_on_two_queries_match(a: str, b: str, dialect: str, lowest: str) -> None:
    levels: list[EmLevel] = ["strict", "conservative", "folded"]
    same = [level for level in levels if em_key(a, dialect, level) == em_key(b, dialect, level)]
    assert same == (levels[levels.index(lowest) :] if lowest else [])  # type: ignore[arg-type]


def test_conservative_spelling() -> None:
    sql = "select T1.Name, `Order` from t as T1 where T1.order = 'from' -- end"
    assert em_key(sql, "sqlite") == "SELECT T1 . Name , `Order` FROM t AS T1 WHERE T1 . order = 'from'"


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_a_quote_that_never_ends(dialect: str) -> None:
    assert em_key("  select  'Women's' --  ", dialect) == "select  'Women's' --"


def test_keywords_are_the_servers() -> None:
    answer = PostgresQueries(start_postgres().admin).query("SELECT word FROM pg_get_keywords()")
    assert isinstance(answer, QueryResult)
    assert {word for (word,) in answer.rows} == KEYWORDS["postgres"]
    assert len(KEYWORDS["sqlite"]) == 147


@pytest.mark.parametrize(
    ("gold", "pred", "same"),
    [
        ('SELECT "Name" FROM "Item"', "SELECT name FROM item", True),
        ("SELECT T.name FROM item AS T", 'SELECT "T"."name" FROM "item" AS "T"', True),
        ('SELECT a FROM t WHERE a = "Bob"', 'SELECT a FROM t WHERE a = "bob"', False),
        ("SELECT a FROM t WHERE a = 'Bob'", 'SELECT a FROM t WHERE a = "Bob"', False),
    ],
)
def test_names_in_double_quotes_on_sqlite(gold: str, pred: str, same: bool) -> None:
    """A word in double quotes may be a string there: it is a name if a query of the pair says so."""
    keys = em_keys(gold, pred, "sqlite", "folded")
    assert (keys[0] == keys[1]) is same
    assert len(set(em_keys(gold, pred, "sqlite"))) == 2
