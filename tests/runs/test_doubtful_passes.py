"""The summary counts passes that spell rows out, or that leave another state than the gold's."""

from __future__ import annotations

from pathlib import Path

import pytest
from arenas import c_interact, play, tasks_of

from birdenv.databases import QueryResult
from birdenv.dialogue import Move, View
from birdenv.tasks.interact._doubtful_passes import doubtful_notes, doubtful_passes, reads_no_table


def test_rows_that_are_spelled_out_are_counted(demo: Path, tmp_path: Path) -> None:
    arena = c_interact(demo, 1)
    [task] = tasks_of(arena)
    with arena._tasks.source.open(task.public.database) as database:  # type: ignore[attr-defined]
        gold = database.execute(task.private.brief.gold[0])
    assert isinstance(gold, QueryResult) and gold.rows

    def literal(cell: object) -> str:
        return "'" + str(cell).replace("'", "''") + "'" if isinstance(cell, str) else str(cell)

    rows = ", ".join(f"({', '.join(map(literal, row))})" for row in gold.rows)

    def spells_out(view: View) -> Move:
        return Move("submit_sql", f"SELECT * FROM (VALUES {rows}) AS v")

    directory = play(arena, spells_out, tmp_path)
    text = (directory.path / "summary.txt").read_text()
    assert "1 submission(s) that passed read no table: their rows are spelled out." in text


def test_honest_runs_say_nothing_of_it(demo: Path, tmp_path: Path) -> None:
    directory = play(c_interact(demo), "oracle", tmp_path)
    assert "that passed" not in (directory.path / "summary.txt").read_text()
    assert "passes_" not in (directory.path / "overall.json").read_text()


def test_another_state_is_counted() -> None:
    entry = {"kind": "submission", "status": "passed", "flags": ["state_disagrees"]}
    counts = doubtful_passes([], [{"log": [entry, entry | {"status": "wrong_result"}, {"kind": "answer"}]}])
    assert counts == {"passes_in_another_state": 1}
    assert doubtful_notes(counts) == [
        "1 submission(s) that passed left another state than the gold's, which no test case looked at."
    ]


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT 1", True),
        ("VALUES (1, 2)", True),
        ("SELECT 1 UNION SELECT 2", True),
        ("WITH x AS (SELECT 1) SELECT (SELECT count(*) FROM t) FROM x", False),
        ("UPDATE t SET a = 1", False),
        ("SELEC", False),
        ("(" * 5000, False),
    ],
)
def test_what_reads_no_table(sql: str, says: bool) -> None:
    assert reads_no_table(sql) is says
