"""SQL whose compiling, which nothing can stop, would take too long or too much is refused with a sentence."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from birdenv.databases.sqlite.guard._compiling import besides_literals
from birdenv.databases.sqlite.guard._expansion import KnownViews, expansion
from growth import LINEAR, growth

from birdenv.databases import QueryError, QueryResult, SqliteSource


def balanced(terms: list[str], operator: str) -> str:
    while len(terms) > 1:
        odd = terms[-1:] if len(terms) % 2 else []
        terms = [f"({a}{operator}{b})" for a, b in zip(terms[::2], terms[1::2], strict=False)] + odd
    return terms[0]


SLOW = {
    "conditions": "SELECT 1 FROM t WHERE " + balanced([f"a={i}" for i in range(40_000)], " AND "),
    "sums": "SELECT " + balanced([f"a+{i}" for i in range(40_000)], "+") + " FROM t",
    "windows": "SELECT " + balanced([f"sum(a-{i})over()" for i in range(20_000)], "+") + " FROM t",
    "strings": "SELECT " + balanced([f"a||'{i}'" for i in range(40_000)], "||") + " FROM t",
    "hidden": 'SELECT "\'" AS b, ' + balanced([f"a -{i}" for i in range(40_000)], "-") + ' AS "\'" FROM t',
}
SLOW["many windows"] = "SELECT " + ",".join(f"sum(a) OVER (ORDER BY a*{i})" for i in range(1_600)) + " FROM t"
LONG = "INSERT INTO t VALUES " + ",".join(f"({i}, -{i}.5e3, 'it''s {i}', x'00', NULL)" for i in range(20_000))


@pytest.mark.every(3)
@pytest.mark.parametrize("name", SLOW)
def test_long_chains_of_terms_are_refused(source: SqliteSource, name: str) -> None:
    with source.open("shop") as database:
        for run in (database.execute, database.query):
            error = run(SLOW[name])
            assert isinstance(error, QueryError)
            assert (error.kind, "to compile" in error.message) == ("too_large", True)


@pytest.mark.slow
def test_long_lists_of_literals_are_not(source: SqliteSource) -> None:
    with source.open("shop") as database:
        assert isinstance(database.execute("CREATE TABLE t(a, b, c, d, e)"), QueryResult)
        assert len(LONG) > 200_000 and isinstance(database.execute(LONG), QueryResult)
        numbers = ",".join(map(str, range(40_000)))
        assert isinstance(database.query(f"SELECT a FROM t WHERE a IN ({numbers})"), QueryResult)


def test_the_word_over_in_texts_is_no_window(source: SqliteSource) -> None:
    with source.open("shop") as database:
        sql = f"SELECT '{'over ' * 600}' AS a /* {'over ' * 600} */"
        assert isinstance(database.query(sql), QueryResult)


def test_the_look_at_a_text_is_linear() -> None:
    for piece in ("'", '"', "/*", "a+1 ", "- ", "1e", "["):
        assert growth(besides_literals, lambda n, piece=piece: piece * n, 2_000) < LINEAR  # type: ignore[misc]


def chain(step: str, steps: int = 26, begin: str = "SELECT 1 AS a") -> str:
    """Common table expressions, each of which uses the one before."""
    each = "".join(f", a{i + 1} AS ({step.format(f'a{i}')})" for i in range(steps))
    return f"WITH a0 AS ({begin}){each} SELECT * FROM a{steps}"


def nested(step: str, steps: int = 26) -> str:
    sql = "SELECT 1 AS a"
    for _ in range(steps):
        sql = step.format(f"({sql})")
    return sql


MULTIPLIED = {
    "tables": chain("SELECT x.a FROM {0} x, {0} y"),
    "joins": chain("SELECT x.a FROM {0} AS x JOIN {0} AS y USING (a)"),
    "quoted": chain("SELECT 1 AS a FROM \"{0}\", '{0}', [{0}], `{0}`", 13),
    "in": chain("SELECT 1 AS a FROM {0} WHERE 1 IN {0}"),
    "in parentheses": chain("SELECT 1 AS a FROM ({0} x JOIN ({0} y))"),
    "columns": chain("SELECT a+a AS a FROM {0}"),
    "columns, not kept": chain("SELECT a+a AS a FROM {0}").replace(" AS (", " AS NOT MATERIALIZED ("),
    "columns, renamed": chain("SELECT a+a FROM {0}").replace(" AS (", "(a) AS ("),
    "scalars": chain("SELECT (SELECT a FROM {0})+(SELECT a FROM {0}) AS a"),
    "pushed down": chain("SELECT DISTINCT a+a AS a FROM {0}") + " WHERE a > 1",
    "unions": chain("SELECT a FROM {0} UNION ALL SELECT a+1 FROM {0}"),
    "subqueries": nested("SELECT a+a a FROM {0}"),
    "inner names": nested("SELECT * FROM (WITH a AS {0} SELECT a.a FROM a, a b)"),
    "alias": f"SELECT max({','.join('a' * 90)}) AS x FROM t WHERE x IN ({','.join('x' * 9_000)})",
    "stars": "SELECT " + ",".join(["EXISTS (SELECT * FROM t)"] * 1_000),
    "named as a keyword": chain("SELECT 1 AS a FROM {0}, {0} b").replace("a3", "materialized"),
}
READABLE = {
    "a chain": chain("SELECT a, a+1 AS b, CASE WHEN a > 1 THEN a END AS c FROM {0} WHERE a < 3", 8),
    "used twice": chain("SELECT x.a FROM {0} x JOIN {0} y ON x.a = y.a", 6),
    "itself": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 9) SELECT * FROM n",
    "wide": "SELECT " + ",".join(f"(SELECT max(a+{i}) FROM t AS t{i}) AS m{i}" for i in range(60)),
}


@pytest.mark.contains("S48")
@pytest.mark.parametrize("name", MULTIPLIED)
def test_what_multiplies_itself_is_refused(source: SqliteSource, name: str) -> None:
    with source.open("shop") as database:
        for run in (database.execute, database.query):
            error = run(MULTIPLIED[name])
            assert isinstance(error, QueryError)
            assert (error.kind, "when SQLite compiles it" in error.message) == ("too_large", True)


@pytest.mark.parametrize("name", READABLE)
def test_what_people_write_is_not(source: SqliteSource, name: str) -> None:
    with source.open("shop") as database:
        assert isinstance(database.execute("CREATE TABLE t(a)"), QueryResult)
        assert isinstance(database.query(READABLE[name]), QueryResult)


def views(steps: int) -> Iterable[str]:
    for i in range(steps):
        yield f"CREATE VIEW a{i + 1} AS SELECT x.a FROM a{i} x JOIN main.a{i} y"


@pytest.mark.contains("S48")
def test_views_multiply_too_in_whichever_order_they_are_made(source: SqliteSource) -> None:
    with source.open("shop") as database:
        for sql in [*reversed(list(views(9))), "CREATE VIEW a0 AS SELECT 1 AS a"]:
            assert isinstance(database.execute(sql), QueryResult)
        assert isinstance(database.query("SELECT 1 FROM a6"), QueryResult)
        many = "SELECT 1 FROM " + ",".join(f"a9 b{i}" for i in range(40))
        assert "compiles it" in getattr(database.query(many), "message", "")
        for sql in ("BEGIN", "DROP VIEW a5"):
            assert isinstance(database.execute(sql), QueryResult)
        assert getattr(database.execute(many), "kind", "") == "missing"
        assert isinstance(database.execute("ROLLBACK"), QueryResult)
        assert "compiles it" in getattr(database.execute(many), "message", "")


def test_a_look_at_what_texts_become_is_linear() -> None:
    for piece in ("(SELECT a FROM t) ", "a AS (WITH ", "((", "x, a.b AS c ", "SELECT * FROM a, ", "'"):
        looks = lambda sql: expansion(sql, {})  # noqa: E731
        assert growth(looks, lambda n, piece=piece: piece * n, 1_000) < LINEAR  # type: ignore[misc]


def test_views_of_views_without_end_are_too_large() -> None:
    many = KnownViews((f"v{i}", f"CREATE VIEW v{i} AS SELECT * FROM v{i + 1}") for i in range(5_000))
    assert many.may_make_too_large("SELECT * FROM v0")
