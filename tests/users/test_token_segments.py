"""The published cut of gold SQL: the vectors of BIRD-Interact §8."""

from __future__ import annotations

import pytest

from birdenv.users._token_segments import token_segments


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


def test_clauses_and_ids() -> None:
    parts = token_segments(["SELECT a FROM t ORDER BY a", "SELECT 1; 'x"])
    assert [part.id for part in parts] == ["T1", "T2", "T3", "T4", "T5"]
    assert [part.clause for part in parts] == ["select", "from", "order", "statement", "statement"]
