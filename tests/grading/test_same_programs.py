"""Texts that compile to the same program are executed once, and only those."""

from __future__ import annotations

import os
import random
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from written_databases import write_database

from birdenv.databases import QueryResult, Result, SqliteSource
from birdenv.grading import ExGrader, Pair, ResultStore, score_pairs
from birdenv.grading import _statements as same_programs
from birdenv.grading._statements import program_of

NAMES = "SELECT name FROM item WHERE price > 1"


@pytest.fixture
def program(root: Path) -> Callable[[str], Any]:
    def compiled(sql: str) -> Any:
        with SqliteSource(root).open("shop") as database:
            listing = database.execute(f"EXPLAIN {sql}")
            definitions = database.query("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
        assert isinstance(listing, QueryResult), listing
        assert isinstance(definitions, QueryResult), definitions
        return program_of(sql, listing, [text for (text,) in definitions.rows])

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
        ("SELECT price * 1e0 FROM item", "SELECT price * 1.0000000001 FROM item"),
        ("SELECT price * 1.5 FROM item", "SELECT price * -1.5 FROM item"),
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
    assert program_of(sql, listing, []) is not None


@pytest.mark.parametrize(
    "sql", ["SELECT x'00' FROM item", "SELECT x'' FROM item", "SELECT value FROM json_each('[1]')"]
)
def test_what_a_listing_does_not_show_has_no_program(program: Callable[[str], Any], sql: str) -> None:
    assert program(sql) is None


@pytest.mark.parametrize(
    "sql",
    [
        # equal to 100.0 and to each other in the 16 digits that a listing shows
        "SELECT 100.00000000000001 FROM item",
        "SELECT 100.0, 100.00000000000001 FROM item",
        "SELECT 18446744073709551616 FROM item",
        # shown without a sign
        "SELECT atan2(0.0, 0.0) FROM item",
        "SELECT atan2(0.0, -0.0) FROM item",
        "SELECT -1e-400 FROM item",
    ],
)
def test_a_real_that_is_not_shown_in_full_has_no_program(program: Callable[[str], Any], sql: str) -> None:
    assert program(sql) is None


@pytest.mark.parametrize(
    ("one", "other"), [("100.0", "100.00000000000001"), ("atan2(0.0, 0.0)", "atan2(0.0, -0.0)")]
)
def test_reals_of_views_are_not_taken_for_each_other(
    tmp_path: Path, executed: list[str], one: str, other: str
) -> None:
    """They stand in the program and not in the SQL."""
    views = f"CREATE VIEW a AS SELECT {one} AS x; CREATE VIEW b AS SELECT {other} AS x"
    write_database(tmp_path, "seen", views)
    ask = "SELECT x > 100 OR x > 3 AND x < 4 FROM"
    pairs = [Pair("seen", (f"{ask} b",), sql) for sql in ("SELECT 7", f"{ask} a", f"{ask} b AS c")]
    assert [verdict.ex for verdict in score_pairs(pairs, SqliteSource(tmp_path))] == [False, False, True]


PLACE = re.compile(r"\{(\w)\}")
# A statement is a form with a choice for each of its places.
CHOICES = {
    "n": "a b c d x".split(),
    "v": [
        *"1 1.0 -1 100.0 100.00000000000001 0.0 -0.0 '1' 'a' 'A' x'61' x'00' x'0001' NULL 1e400".split(),
        *"9007199254740992 9007199254740993 9223372036854775807 9223372036854775808".split(),
        "'a '",
    ],
    "o": "= == < <= > >= <> IS + - * / || LIKE GLOB AND OR".split(),
    "k": ["", "COLLATE NOCASE", "COLLATE RTRIM", "COLLATE BINARY"],
    "s": ["", "ASC", "DESC", "NULLS FIRST", "NULLS LAST", "DESC NULLS LAST"],
    "f": "abs typeof lower hex quote round likely".split(),
    "g": "sum total avg min max count group_concat".split(),
    "t": "INTEGER TEXT REAL NUMERIC BLOB".split(),
    "d": ["", "DISTINCT"],
    "l": ["", "LIMIT 2", "LIMIT 3", "LIMIT 2 OFFSET 1"],
    "u": ["UNION", "UNION ALL", "EXCEPT", "INTERSECT"],
    "j": ["JOIN", "LEFT JOIN", "CROSS JOIN"],
    "w": ["", "ROWS 1 PRECEDING", "GROUPS 1 PRECEDING", "RANGE CURRENT ROW", "ROWS 1 PRECEDING EXCLUDE TIES"],
    "e": ["!", "a", "_"],
    "y": ["", "MATERIALIZED", "NOT MATERIALIZED"],
    "m": ["AS z", "z", "", "AS other"],
}
FORMS = [
    "SELECT {d} {n} {m}, {v} FROM few AS b WHERE {n} {o} {v} {k} ORDER BY {n} {k} {s} {l}",
    "SELECT {f}({n}), CAST({v} AS {t}) {m} FROM few AS b WHERE {n} IN ({v}, {v}) OR {n} < {v} {l}",
    "SELECT {g}({d} {n}), {n} FROM few AS b GROUP BY {n} {k} HAVING {g}({n}) {o} {v} ORDER BY 1 {s}",
    "SELECT {n}, {g}({n}) OVER (ORDER BY {n} {s} {w}) FROM few AS b",
    "SELECT {n} FROM few AS b {u} SELECT y FROM keyed ORDER BY 1 {k} {s} {l}",
    "SELECT b.x {m}, p.y FROM few AS b {j} keyed AS p ON p.x {o} b.{n} {k} WHERE {n} {o} {v}",
    "WITH q AS {y} (SELECT {n} AS p FROM few {l}) SELECT p {o} {v} {m} FROM q",
    "SELECT {n} {m} FROM few AS b WHERE {n} LIKE {v} ESCAPE '{e}' OR EXISTS (SELECT 1 FROM keyed WHERE x)",
]
SMALL = """
CREATE TABLE few (a INTEGER PRIMARY KEY, b TEXT COLLATE NOCASE, c REAL, d, x AS (c * 2.5));
INSERT INTO few (b, c, d) VALUES ('a', 1, 1), ('A', 1.5, '1'), (NULL, NULL, x'61'),
    ('a ', -1, 9007199254740993), ('b', 100, 'a'), ('1', 0, NULL);
CREATE TABLE keyed (x TEXT, y, PRIMARY KEY (x, y)) WITHOUT ROWID;
INSERT INTO keyed VALUES ('1', 1), ('a', 'A'), ('2', 2.5);
CREATE INDEX dear ON few (c) WHERE c > 1; CREATE INDEX low ON few (lower(b));
"""


def statement(form: str, picks: Sequence[int]) -> str:
    left = iter(picks)
    return PLACE.sub(lambda place: CHOICES[place[1]][next(left) % len(CHOICES[place[1]])], form)


@pytest.mark.parametrize("form", FORMS)
def test_equal_programs_return_equal_rows(small: Callable[[str], tuple[Any, str] | None], form: str) -> None:
    """Of statements that differ in one place."""
    chance = random.Random(form)
    places, equal = len(PLACE.findall(form)), 0
    for _ in range(1_000):
        picks = [chance.randrange(720) for _ in range(places)]
        one = statement(form, picks)
        picks[chance.randrange(places)] += chance.choice((1, -1, chance.randrange(720)))
        other = statement(form, picks)
        found, expected = small(one), small(other)
        if one != other and found is not None and expected is not None and found[0] == expected[0]:
            equal += 1
            assert found[1] == expected[1], (one, other)
    assert equal, "or nothing was tried"


@pytest.fixture(scope="module")
def small() -> Iterator[Callable[[str], tuple[Any, str] | None]]:
    """The program of a statement and its rows, as text, which tells 0.0 from -0.0; None if it has none."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SMALL)
        schema = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
        definitions = [text for (text,) in connection.execute(schema)]

        def compiled(sql: str) -> tuple[Any, str] | None:
            try:
                cursor = connection.execute(f"EXPLAIN {sql}")
                listing = QueryResult(tuple(column[0] for column in cursor.description), cursor.fetchall())
                rows = repr(connection.execute(sql).fetchall())
            except sqlite3.Error:
                return None
            program = program_of(sql, listing, definitions)
            return None if program is None else (program, rows)

        yield compiled


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is scanned, in order; everything counts as slow."""
    from birdenv.databases import SqliteDatabase

    monkeypatch.setattr(same_programs, "_SLOW_SECONDS", 0.0)
    statements: list[str] = []
    scan = SqliteDatabase.scan

    def watched(self: SqliteDatabase, sql: str, sink: Any) -> Result:
        statements.append(sql)
        return scan(self, sql, sink)

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


def test_a_file_that_has_changed_is_read_again(root: Path, executed: list[str]) -> None:
    grader = ExGrader(SqliteSource(root), same_programs=True)
    texts = ("SELECT count(*) FROM item", "SELECT COUNT(*) FROM item", "select count(*) from item")
    assert [grader.grade("shop", ["SELECT 4"], sql).ex for sql in texts[:2]] == [True, True]
    assert executed == [texts[0]]
    path = root / "shop" / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("DELETE FROM item WHERE id = 1")
    os.utime(path, ns=(1, 1))
    assert not grader.grade("shop", ["SELECT 4"], texts[2]).ex
    assert executed == [texts[0], texts[2]]
