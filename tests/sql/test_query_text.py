"""One plain query, and on one line."""

import pytest

from birdenv.grading.em_esm._exact_match import em_key
from birdenv.sql import is_single_query, one_line


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1", True),
        ("(SELECT 1)", True),
        ("((select 1) UNION (select 2))", True),
        ("VALUES (1)", True),
        ("TABLE t", True),
        ("WITH a AS (SELECT 1) SELECT * FROM a", True),
        ("-- c\n/* d */ SELECT 1 ; ; -- e", True),
        ("SELECT ';'", True),
        ("WITH x AS (DELETE FROM t RETURNING 1) SELECT 1", True),  # only the server can tell
        ("SELECT 'unterminated", True),
        ("selectx", False),
        ("SELECT 1; DROP TABLE t", False),
        ("SELECT 1; SELECT 2", False),
        ("DELETE FROM t", False),
        ("EXPLAIN SELECT 1", False),
        ("PRAGMA user_version", False),
        ("SET x = 1", False),
        ("-- only a comment", False),
        (";", False),
        ("", False),
        ("Here is the query: SELECT 1", False),
        ("I can't", False),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_is_single_query(sql: str, expected: bool, dialect: str) -> None:
    assert is_single_query(sql, dialect) is expected


def test_semicolons_in_dollar_quotes_end_nothing() -> None:
    assert is_single_query("SELECT $$;$$", "postgres")
    assert is_single_query(r"SELECT E'\'; DROP TABLE t'", "postgres")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1", "SELECT 1"),
        ("SELECT  1 -- as it is", "SELECT  1 -- as it is"),
        ("SELECT a,\n  b\nFROM t", "SELECT a, b FROM t"),
        ("SELECT 1 -- one\n, 2 -- two", "SELECT 1 , 2"),
        ("-- first\nSELECT 1", "SELECT 1"),
        ("SELECT 1 /* a\nb */ , 2", "SELECT 1 , 2"),
        ("SELECT 'a--b'\n, 1", "SELECT 'a--b' , 1"),
        ("SELECT 'a\u2028b\f\v\0'", "SELECT 'a\u2028b\f\v\0'"),
        ("SELECT 'a\nb'", "SELECT 'a b'"),
        ("it's\nprose", "it's prose"),
        ("\ufeffSELECT 1\r\r", "SELECT 1"),
    ],
)
def test_one_line(sql: str, expected: str) -> None:
    assert one_line(sql, "sqlite") == expected


def test_one_line_keeps_the_query() -> None:
    sql = "SELECT /* x */ a -- y\n  , 'b--c' AS d\nFROM t\n"
    assert em_key(one_line(sql, "sqlite"), "sqlite") == em_key(sql, "sqlite")
