"""The page of results: its figures, from a small benchmark of which they are known."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from birdenv_baselines.results import (
    SEPARATOR,
    compare,
    main,
    origin,
    p_value,
    published_systems,
    published_verdicts,
)

GOLD = "SELECT name FROM t"


@pytest.fixture
def mini_dev(tmp_path: Path) -> Path:
    """Four questions about a table with a name twice, and one whose database is not there."""
    folder = tmp_path / "shared" / "mini_dev"
    for name in ("predictions", "verdicts", "dev_databases/a"):
        (folder / name).mkdir(parents=True)
    with sqlite3.connect(folder / "dev_databases" / "a" / "a.sqlite") as connection:
        connection.executescript("CREATE TABLE t (name); INSERT INTO t VALUES ('x'), ('x'), ('y');")
    questions = [{"question_id": number, "db_id": "a", "SQL": GOLD} for number in range(4)]
    questions += [{"question_id": 4, "db_id": "missing", "SQL": GOLD}]
    (folder / "mini_dev_sqlite_2024.json").write_text(json.dumps(questions))
    answers = {"good": GOLD, "distinct": "SELECT DISTINCT name FROM t", "bad": "SELECT 1"}
    systems = {
        "b": ("good", "good", "distinct", "bad", "good"),
        "a": ("good", "bad", "bad", "bad", "good"),
    }
    for system, kinds in systems.items():
        file = {str(number): f"{answers[kind]}{SEPARATOR}a" for number, kind in enumerate(kinds)}
        (folder / "predictions" / f"predict_mini_dev_{system}_sqlite.json").write_text(json.dumps(file))
    verdicts = [
        {
            "db_id": "a",
            "system": "s",
            "question_id": 7,
            "gold_sql": GOLD,
            "predicted_sql": sql,
            "published_ex": ex,
        }
        for sql, ex in ((answers["distinct"], 1), (answers["bad"], 0), (answers["good"], 0))
    ]
    (folder / "verdicts" / "a.jsonl").write_text("\n".join(map(json.dumps, verdicts)))
    return folder


def rows(lines: list[str]) -> list[list[str]]:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return cells[2:]


def test_systems_are_ranked_and_held_against_each_other(mini_dev: Path) -> None:
    lines = published_systems(mini_dev, 1)
    assert "The answers of 2 systems, graded again on the 4 questions" in "\n".join(lines)
    first, second = rows(lines)
    assert first == ["b", "50.0 (15.0 to 85.0)", "75.0 (30.1 to 95.4)", "-1 (1.00)", "", ""]
    assert second[:4] == ["a", "25.0 (4.6 to 69.9)", "25.0 (4.6 to 69.9)", "+0 (1.00)"]
    assert second[4].startswith("-25.0 (") and second[5] == "1.00"


def test_published_verdicts_that_are_not_met_are_named(mini_dev: Path) -> None:
    assert rows(published_verdicts(mini_dev, 1)) == [["a", "1", "2 of 3", "7"]]


def test_differences_and_p_values() -> None:
    assert compare([True] * 10 + [False] * 10, [True] * 20)[0].startswith("+50.0 (+")
    assert compare([False] * 10, [True] * 10)[1] == p_value(2 / 2**10) == "0.0020"
    assert p_value(1.0) == "1.00" and p_value(0.00001) == "< 0.0001"


def test_the_page_says_where_its_figures_come_from(mini_dev: Path) -> None:
    told = "\n".join(origin(mini_dev.parent, "the command"))
    assert "| `mini_dev/dev_databases/a/a.sqlite` | `" in told
    assert "| command | `the command` |" in told and "| commit | `" in told


def test_data_that_are_missing_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--data", str(tmp_path)])
    assert "name the folder of the data with --data" in capsys.readouterr().err
