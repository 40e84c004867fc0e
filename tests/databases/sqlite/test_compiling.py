"""Flat SQL whose compiling, which nothing can stop, would take a minute, is refused with a sentence."""

from __future__ import annotations

import pytest
from growth import LINEAR, growth

from birdenv.databases import QueryError, QueryResult, SqliteSource
from birdenv.databases.sqlite.guard._compiling import besides_literals


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
