"""The summary counts passes that spell rows out, or that leave another state than the gold's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from arenas import a_interact, bird, c_interact, plan_of, play, tasks_of

from birdenv.databases import QueryResult
from birdenv.dialogue import Arena, Move
from birdenv.errors import InputError, SettingError
from birdenv.grading import reads_no_table
from birdenv.runs import prepare
from birdenv.runs.summaries import compare, comparison_text, read_run
from birdenv.statistics import counted
from birdenv.tasks.sql._doubtful_passes import doubtful_notes, doubtful_passes


def spelled_out(arena: Arena) -> str:
    """A query that writes down the rows of the first task's gold."""
    [task] = tasks_of(arena)
    with arena._tasks.source.open(task.public.database) as database:  # type: ignore[attr-defined]
        gold = database.execute(
            task.private.brief.gold[0] if arena.game.name != "bird" else task.private.gold[0]
        )
    assert isinstance(gold, QueryResult) and gold.rows

    def literal(cell: object) -> str:
        return "'" + str(cell).replace("'", "''") + "'" if isinstance(cell, str) else str(cell)

    rows = ", ".join(f"({', '.join(map(literal, row))})" for row in gold.rows)
    return f"SELECT * FROM (VALUES {rows}) AS v"


GAMES = [c_interact, a_interact, bird]


@pytest.mark.parametrize("game", GAMES)
def test_rows_that_are_spelled_out_are_counted(demo: Path, tmp_path: Path, game: Any) -> None:
    arena = game(demo, 1)
    sql = spelled_out(arena)
    directory = play(arena, lambda view: Move("submit_sql", sql), tmp_path)
    text = (directory.path / "summary.txt").read_text()
    assert "1 submission that passed read no table: their rows are literals." in text
    assert "fail_doubtful" not in text + (directory.path / "config.json").read_text()


@pytest.mark.parametrize("game", GAMES)
def test_the_setting_fails_them_and_is_on_record(demo: Path, tmp_path: Path, game: Any) -> None:
    lenient, careful = game(demo, 1), game(demo, 1, fail_doubtful=True)
    sql = spelled_out(lenient)
    runs = [
        play(arena, lambda view: Move("submit_sql", sql), tmp_path / name)
        for arena, name in ((lenient, "a"), (careful, "b"))
    ]
    [record] = runs[1].read("runs").values()
    passes = [attempt["status"] for attempt in record.get("attempts", ())] or [record["result"]["verdict"]]
    assert set(passes) == {"wrong_result"} and record.get("reward", 0) == 0
    assert runs[1].read_config()["fail_doubtful"] is True
    overall = json.loads((runs[1].path / "overall.json").read_text())
    assert overall["fail_doubtful"] is True and overall["failed_as_doubtful"] == len(passes)
    text = (runs[1].path / "summary.txt").read_text()
    assert (
        "fail_doubtful True" in text
        and f"{counted(len(passes), 'submission')} would have passed, but" in text
    )
    assert "that passed read no table" not in text
    compared = compare([read_run(run.path) for run in runs])
    assert "A and B differ in the setting fail_doubtful (None and True)" in comparison_text(compared)
    again = game(demo, 1)
    with pytest.raises(InputError, match="fail_doubtful"):
        prepare(runs[1], plan_of(again, "oracle").config(), resume=True)


@pytest.mark.parametrize(
    ("game", "profile"), [(c_interact, "shell"), (c_interact, "adk"), (a_interact, "adk")]
)
def test_published_profiles_judge_as_published(demo: Path, game: Any, profile: str) -> None:
    with pytest.raises(SettingError, match="requires the 'strict' profile"):
        game(demo, 1, profile=profile, fail_doubtful=True)
    game(demo, 1, profile=profile).close()


@pytest.mark.every(3)
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.slow
def test_the_oracle_passes_under_the_setting(demo: Path, tmp_path: Path, game: Any) -> None:
    directory = play(game(demo, fail_doubtful=True), "oracle", tmp_path)
    text = (directory.path / "summary.txt").read_text()
    assert "would have passed" not in text
    figures = json.loads((directory.path / "overall.json").read_text())["figures"]
    first = next(iter(figures.values()))
    assert first["value"] == 1.0


@pytest.mark.slow
def test_honest_runs_say_nothing_of_it(demo: Path, tmp_path: Path) -> None:
    directory = play(c_interact(demo), "oracle", tmp_path)
    assert "that passed" not in (directory.path / "summary.txt").read_text()
    assert "passes_" not in (directory.path / "overall.json").read_text()


def test_another_state_is_counted() -> None:
    entry = {"kind": "submission", "status": "passed", "flags": ["state_disagrees"]}
    counts = doubtful_passes([], [{"log": [entry, entry | {"status": "wrong_result"}, {"kind": "answer"}]}])
    assert counts == {"passes_in_another_state": 1}
    assert doubtful_notes(counts) == [
        "1 submission that passed left a different state from the gold SQL, which no test noticed."
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
