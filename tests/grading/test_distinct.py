"""Which DISTINCT is taken out, and that nothing else changes."""

import pytest

from birdenv.grading.compare._sql_cuts import without_outer_distinct

REMOVED = {
    "SELECT DISTINCT a FROM t": "SELECT  a FROM t",
    "select\ndistinct\ng from t": "select\n\ng from t",
    "SELECT DISTINCT(a), b FROM t;": "SELECT (a), b FROM t;",
    "/* DISTINCT */ SELECT /* x */ DISTINCT -- y\n a FROM t -- z": (
        "/* DISTINCT */ SELECT /* x */  -- y\n a FROM t -- z"
    ),
    "SELECT DISTINCT 'é 😀 DISTINCT' AS \"distinct\"": "SELECT  'é 😀 DISTINCT' AS \"distinct\"",
    "SELECT 'é😀', 1": "SELECT 'é😀', 1",
    "WITH c AS (SELECT DISTINCT a FROM t) SELECT DISTINCT a FROM c": (
        "WITH c AS (SELECT DISTINCT a FROM t) SELECT  a FROM c"
    ),
    "(SELECT DISTINCT a FROM t)": "(SELECT  a FROM t)",
    "SELECT DISTINCT COUNT(DISTINCT a) FROM t": "SELECT  COUNT(DISTINCT a) FROM t",
    "SELECT DISTINCT a FROM (SELECT a FROM t UNION SELECT b FROM u)": (
        "SELECT  a FROM (SELECT a FROM t UNION SELECT b FROM u)"
    ),
}

UNCHANGED = [
    "SELECT a FROM t",
    "SELECT DISTINCT ON (a) a, b FROM t",
    "SELECT COUNT(DISTINCT g) FROM t",
    "SELECT COUNT( DISTINCT g) FROM t",
    "SELECT a FROM t WHERE a IS DISTINCT FROM b",
    "SELECT a FROM (SELECT DISTINCT a FROM t)",
    "SELECT DISTINCT a FROM t UNION SELECT DISTINCT b FROM u",
    "(SELECT DISTINCT a FROM t) EXCEPT SELECT b FROM u",
    "SELECT DISTINCT a FROM t; SELECT DISTINCT b FROM u",
    "CREATE TABLE x AS SELECT DISTINCT a FROM t",
    "INSERT INTO x SELECT DISTINCT a FROM t",
    "WITH c AS (SELECT 1) INSERT INTO x SELECT DISTINCT a FROM c",
    "SELECT DISTINCT 'never closed",
    "this is no SQL",
    "",
]


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
@pytest.mark.parametrize("sql", REMOVED)
def test_the_outermost_distinct_goes(sql: str, dialect: str) -> None:
    assert without_outer_distinct(sql, dialect) == REMOVED[sql]


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
@pytest.mark.parametrize("sql", UNCHANGED)
def test_everything_else_stays(sql: str, dialect: str) -> None:
    assert without_outer_distinct(sql, dialect) == sql


def test_quoted_identifiers_of_sqlite() -> None:
    assert without_outer_distinct("SELECT DISTINCT `a b`, [x)] FROM t", "sqlite") == (
        "SELECT  `a b`, [x)] FROM t"
    )
