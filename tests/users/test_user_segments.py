"""Gold SQL in labelled parts."""

from __future__ import annotations

import pytest

from birdenv.users.segments import segments, token_segments


def parts(sql: str) -> list[tuple[str, str]]:
    return [(part.id, part.sql) for part in segments((sql,)) if part.clause != "statement"]


def test_a_query_is_cut_into_its_clauses() -> None:
    sql = (
        "WITH c AS (SELECT a, SUM(b) AS s FROM t GROUP BY a) SELECT DISTINCT c.a, c.s * 2 AS double FROM c "
        "LEFT JOIN u ON u.x = c.a WHERE (c.s > 3 AND u.y IN (SELECT z FROM w WHERE q = 'k')) "
        "ORDER BY double DESC, a LIMIT 5 OFFSET 2"
    )
    assert parts(sql) == [
        ("S1.cte.1", "c AS (SELECT a, SUM(b) AS s FROM t GROUP BY a)"),
        ("S2.select", "a, SUM(b)"),  # a letter is no name
        ("S2.select.1", "a"),
        ("S2.select.2", "SUM(b) AS s"),
        ("S2.from", "FROM t"),
        ("S2.group", "GROUP BY a"),
        ("S1.distinct", "DISTINCT"),
        ("S1.select", "a, double"),
        ("S1.select.1", "c.a"),
        ("S1.select.2", "c.s * 2 AS double"),
        ("S1.from", "FROM c"),
        ("S1.join.1", "LEFT JOIN u ON u.x = c.a"),
        ("S1.where.1", "WHERE c.s > 3"),
        ("S1.where.2", "WHERE u.y IN (SELECT z FROM w WHERE q = 'k')"),
        ("S1.order", "ORDER BY double DESC, a"),
        ("S1.limit", "LIMIT 5 OFFSET 2"),
        ("S3.select", "z"),
        ("S3.select.1", "z"),
        ("S3.from", "FROM w"),
        ("S3.where.1", "WHERE q = 'k'"),
    ]


@pytest.mark.parametrize(
    ("sql", "ids"),
    [
        (
            "SELECT a FROM t UNION ALL SELECT b FROM u ORDER BY 1",
            {"S1.set", "S2.select.1", "S3.select.1", "S1.order"},
        ),
        (
            "UPDATE s SET c = 1, d = c WHERE d < 0 AND e",
            {"S1.assign.1", "S1.assign.2", "S1.where.1", "S1.where.2"},
        ),
        ("INSERT INTO t (a, b) VALUES (1, 'z')", {"S1.columns", "S1.values"}),
        ("DELETE FROM t WHERE p = 1", {"S1.delete", "S1.where.1"}),
        ("ALTER TABLE t ADD COLUMN c TEXT", {"S1.alter"}),
        ("INSERT INTO t (a, b) SELECT a, 2 FROM u", {"S1.columns", "S1.assign.1"}),
        ("CREATE TRIGGER g AFTER UPDATE OF a ON t BEGIN UPDATE t SET a = 5; END", {"S1.trigger"}),
        ("CREATE VIEW v AS SELECT a FROM t WHERE b > 1", {"S1.create", "S2.select.1", "S2.where.1"}),
        ("CREATE TABLE t (id INTEGER, v REAL)", {"S1.create", "S1.column.1", "S1.column.2"}),
        ("SELECT a FROM t GROUP BY a HAVING COUNT(*) > 1 AND MIN(b) < 2", {"S1.having.1", "S1.having.2"}),
        ("SELECT 1; SELECT 2", {"S1.select.1", "S2.select.1"}),
    ],
)
def test_other_statements_have_their_parts(sql: str, ids: set[str]) -> None:
    assert ids <= {name for name, _ in parts(sql)}


@pytest.mark.parametrize("sql", ["SELEC ((", "SELECT 'open", "", "(" * 3000])
def test_what_cannot_be_parsed_is_one_statement_or_nothing(sql: str) -> None:
    assert parts(sql) == []


def test_ids_are_unique() -> None:
    found = [
        part.id
        for part in segments(("SELECT a FROM t; SELECT b FROM (SELECT b FROM u) AS v", "SELECT c FROM w"))
    ]
    assert len(found) == len(set(found))


def test_statements_that_stay_unparsed_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    trigger = "CREATE TRIGGER t AFTER UPDATE OF a ON b WHEN NEW.a < 4 BEGIN UPDATE b SET a = 5; END"
    assert segments((trigger,))
    assert not caplog.records


@pytest.mark.parametrize(
    ("sql", "slices"),
    [
        (
            "SELECT a FROM t LEFT JOIN u ON x WHERE b GROUP BY a LIMIT 5",
            ["SELECT a", "FROM t LEFT", "JOIN u ON x", "WHERE b", "GROUP BY a", "LIMIT 5"],
        ),
        ("UPDATE s SET c=1 WHERE d<0", ["WHERE d<0"]),
        ("INSERT INTO t(a) VALUES (1)", ["INSERT INTO t(a) VALUES (1)"]),
        ("DELETE FROM t USING u WHERE p", ["FROM t USING u", "WHERE p"]),
        ("CREATE VIEW v AS SELECT a FROM t", ["SELECT a", "FROM t"]),
        ("WITH c AS (SELECT 1) SELECT * FROM c", ["SELECT 1)", "SELECT *", "FROM c"]),
        ("", [""]),
        ("SELECT 'a", ["SELECT 'a"]),
    ],
)
def test_slices_run_from_keyword_to_keyword(sql: str, slices: list[str]) -> None:
    assert [part.sql for part in token_segments([sql])] == slices


def test_slices_have_clauses_and_ids() -> None:
    parts = token_segments(["SELECT a FROM t ORDER BY a", "SELECT 1; 'x"])
    assert [part.id for part in parts] == ["T1", "T2", "T3", "T4", "T5"]
    assert [part.clause for part in parts] == ["select", "from", "order", "statement", "statement"]


def test_golds_are_cut_as_they_are_written() -> None:
    sql = (
        "SELECT substr(a, 1, 4) AS y, IFNULL(b, 0) FROM t "
        "WHERE c IS NOT NULL AND d NOT IN (1, 2) AND e NOT LIKE 'x%' AND f NOT BETWEEN 1 AND 2 AND NOT g"
    )
    assert [text for name, text in parts(sql) if ".where." in name] == [
        "WHERE c IS NOT NULL",
        "WHERE d NOT IN (1, 2)",
        "WHERE e NOT LIKE 'x%'",
        "WHERE f NOT BETWEEN 1 AND 2",
        "WHERE NOT g",
    ]
    assert [text for name, text in parts(sql) if ".select." in name] == [
        "substr(a, 1, 4) AS y",
        "IFNULL(b, 0)",
    ]
