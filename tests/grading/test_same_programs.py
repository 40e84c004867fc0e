"""Texts that compile to the same program are executed once, and only those."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from written_databases import write_database

from birdenv.databases import QueryResult, Result, SqliteSource
from birdenv.grading import ExGrader, Pair, ResultStore, score_pairs
from birdenv.grading import _same_programs as same_programs
from birdenv.grading._same_programs import program_of

NAMES = "SELECT name FROM item WHERE price > 1"


@pytest.fixture
def program(root: Path) -> Callable[[str], Any]:
    def compiled(sql: str) -> Any:
        with SqliteSource(root).open("shop") as database:
            listing = database.execute(f"EXPLAIN {sql}")
        assert isinstance(listing, QueryResult), listing
        return program_of(sql, listing)

    return compiled


@pytest.mark.parametrize(
    "other",
    [
        "select  NAME from item where price > 1",
        "SELECT i.name AS n FROM item AS i WHERE i.price > 1 -- the dear ones",
        "SELECT `name` FROM [item] WHERE (price) > (1)",
    ],
)
def test_spelling_is_no_part_of_a_program(program: Callable[[str], Any], other: str) -> None:
    assert program(NAMES) is not None
    assert program(NAMES) == program(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (NAMES, "SELECT name FROM item WHERE price > 2"),
        (NAMES, "SELECT name FROM item WHERE price >= 1"),
        (NAMES, "SELECT id FROM item WHERE price > 1"),
        (NAMES, "SELECT DISTINCT name FROM item WHERE price > 1"),
        (NAMES, f"{NAMES} LIMIT 3"),
        (f"{NAMES} ORDER BY name", f"{NAMES} ORDER BY name DESC"),
        (f"{NAMES} ORDER BY name", f"{NAMES} ORDER BY name COLLATE NOCASE"),
        (f"{NAMES} ORDER BY name", f"{NAMES} ORDER BY name NULLS LAST"),
        ("SELECT 'a' FROM item", "SELECT 'A' FROM item"),
        ("SELECT 1 FROM item", "SELECT '1' FROM item"),
        ("SELECT 1 FROM item", "SELECT 1.0 FROM item"),
        ("SELECT 1 FROM item", "SELECT 9007199254740993 FROM item"),
        ("SELECT 9007199254740992 FROM item", "SELECT 9007199254740993 FROM item"),
        ("SELECT sum(price) FROM item", "SELECT total(price) FROM item"),
        ("SELECT sum(price) FROM item", "SELECT sum(DISTINCT price) FROM item"),
        ("SELECT CAST(price AS INTEGER) FROM item", "SELECT CAST(price AS TEXT) FROM item"),
        ("SELECT name FROM item", "SELECT day FROM sale"),
        # equal in the 16 digits that a listing shows
        ("SELECT 100.0 FROM item", "SELECT 100.00000000000001 FROM item"),
        ("SELECT price * 1e0 FROM item", "SELECT price * 1.0000000000000002 FROM item"),
        ("SELECT 18446744073709551616 FROM item", "SELECT 18446744073709555712 FROM item"),
    ],
)
def test_what_may_return_something_else_is_another_program(
    program: Callable[[str], Any], one: str, other: str
) -> None:
    assert program(one) != program(other)


def test_the_filter_of_a_join_is_shown_in_full(tmp_path: Path) -> None:
    write_database(
        tmp_path,
        "joined",
        "CREATE TABLE a (x, y); CREATE TABLE b (x, y); CREATE TABLE c (x, y);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
        " INSERT INTO a SELECT i, i FROM n;"
        "INSERT INTO b SELECT x, y FROM a; INSERT INTO c SELECT x, y FROM a LIMIT 10; ANALYZE;",
    )
    sql = "SELECT count(*) FROM a JOIN b ON a.x = b.x JOIN c ON b.y = c.y WHERE c.x > 3"
    with SqliteSource(tmp_path).open("joined") as database:
        listing = database.execute(f"EXPLAIN {sql}")
    assert isinstance(listing, QueryResult)
    if not any(row[1] == "Blob" for row in listing.rows):
        pytest.skip("this SQLite plans the join without a filter")
    assert program_of(sql, listing) is not None


@pytest.mark.parametrize(
    "sql", ["SELECT x'00' FROM item", "SELECT x'' FROM item", "SELECT value FROM json_each('[1]')"]
)
def test_what_a_listing_does_not_show_has_no_program(program: Callable[[str], Any], sql: str) -> None:
    assert program(sql) is None


def test_two_reals_that_look_the_same_have_no_program(program: Callable[[str], Any]) -> None:
    """Which of them stands where cannot be seen."""
    assert program("SELECT 100.0, 100.00000000000001 FROM item") is None


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is scanned, in order; everything counts as slow."""
    from birdenv.databases import SqliteDatabase

    monkeypatch.setattr(same_programs, "_SLOW_SECONDS", 0.0)
    statements: list[str] = []
    scan = SqliteDatabase.scan

    def watched(self: SqliteDatabase, sql: str, seer: Any) -> Result:
        statements.append(sql)
        return scan(self, sql, seer)

    monkeypatch.setattr(SqliteDatabase, "scan", watched)
    return statements


ANSWERS = [
    "SELECT id FROM item WHERE price > 1",
    "SELECT i.id AS x FROM item i WHERE i.price > 1",
    NAMES.lower(),
    f"{NAMES}  ",
    "SELECT id  FROM item WHERE price > 1",
    "SELECT nam FROM item",
    f"{NAMES} AND random() IS NOT NULL",
    f"{NAMES.lower()} AND random() IS NOT NULL",
]


def test_answers_of_one_program_are_executed_once(source: Any, executed: list[str]) -> None:
    pairs = [Pair("shop", (NAMES,), sql) for sql in ANSWERS]
    verdicts = score_pairs(pairs, source)
    assert executed == [ANSWERS[0], *ANSWERS[5:]], "the gold's too, and those that may change each time"
    alone = ExGrader(source)
    for pair, verdict in zip(pairs, verdicts, strict=True):
        expected = alone.grade(*pair)
        assert (verdict.ex, verdict.ex_bird, verdict.status, verdict.reason, verdict.flags) == (
            expected.ex,
            expected.ex_bird,
            expected.status,
            expected.reason,
            expected.flags,
        )


def test_one_answer_to_a_question_is_not_compiled_twice(source: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(same_programs, "_SLOW_SECONDS", 0.0)
    monkeypatch.setattr(same_programs, "program_of", lambda *_: pytest.fail("EXPLAIN was run"))
    score_pairs([Pair("shop", (NAMES,), "SELECT 1"), Pair("shop", ("SELECT 2",), "SELECT 3")], source)


def test_scoring_again_executes_nothing(source: Any, executed: list[str], tmp_path: Path) -> None:
    pairs = [Pair("shop", (NAMES,), sql) for sql in ANSWERS[:6]]
    for count in (3, 0):  # the gold, the first answer and the one that fails
        with ResultStore(tmp_path / "results.sqlite") as store:
            before = score_pairs(pairs, source, store=store)
            assert store.executed == count
    for pair, verdict in zip(pairs, before, strict=True):
        assert verdict.ex == ExGrader(source).grade(*pair).ex


def test_a_stored_answer_is_no_gold(source: Any, executed: list[str], tmp_path: Path) -> None:
    """The names of its columns, which may be sort keys, are another text's."""
    answers = ["SELECT price AS a FROM item", "SELECT price AS b FROM item"]
    with ResultStore(tmp_path / "results.sqlite") as store:
        score_pairs([Pair("shop", (NAMES,), sql) for sql in answers], source, store=store)
        assert executed == answers[:1]
        grader = ExGrader(source, store=store)
        verdict = grader.grade("shop", [answers[1]], "SELECT price AS c FROM item")
    assert verdict.gold_result is not None
    assert verdict.gold_result.columns == ("b",)


def test_many_questions_on_many_databases(tmp_path: Path, executed: list[str]) -> None:
    """The same texts mean something else on another database."""
    for name, price in (("one", 1), ("two", 2)):
        write_database(
            tmp_path, name, f"CREATE TABLE item (name, price); INSERT INTO item VALUES ('x', {price})"
        )
    answers = ["SELECT price FROM item", "select price from item", "SELECT price  FROM item"]
    pairs = [
        Pair(name, (gold,), sql)
        for name in ("one", "two")
        for gold in ("SELECT 1", "SELECT 2")
        for sql in answers
    ]
    verdicts = score_pairs(pairs, SqliteSource(tmp_path))
    assert [verdict.ex for verdict in verdicts] == [True] * 3 + [False] * 6 + [True] * 3
    assert len(executed) == 4
