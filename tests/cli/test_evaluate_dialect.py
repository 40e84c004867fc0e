"""`birdenv evaluate --dialect`: PostgreSQL's SQL on PostgreSQL, and a word where it ran on SQLite."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birdenv.files import write_records

Command = Callable[..., Any]

PAIRS = [
    ("SELECT count(*)::int FROM members", "select count(*) :: int from members;"),
    ("SELECT count(*)::int FROM members", "SELECT string_agg('x', '') FROM members"),
    (
        "SELECT title, price FROM titles AS t JOIN copies AS c ON t.title_id = c.title_id",
        "SELECT t.title, c.price FROM titles AS t JOIN copies AS c ON t.title_id = c.title_id",
    ),
    ("SELECT 1", "DELETE FROM members"),
    ("SELECT 1", "SELECT total(1) FROM members"),
    ("SELECT 1", "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT count(*) FROM r"),
]


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "run" / "run_1"
    folder.mkdir(parents=True)
    write_records(
        folder / "pairs.jsonl",
        [{"db_id": "library", "gold_sql": gold, "predicted_sql": pred} for gold, pred in PAIRS],
    )
    return folder


def details(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "eval" / "details.jsonl").read_text().splitlines()]


def summary(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "eval" / "eval_summary.json").read_text())
    return found


@pytest.mark.parametrize("named", [pytest.param("by the option", marks=pytest.mark.slow), "by the variable"])
def test_a_folder_on_postgres(
    birdenv: Command,
    postgres_dsn: str,
    demo: Path,
    run_dir: Path,
    named: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = ["--db", demo, "--dialect", "postgres", "--exec-timeout", "1", "-p", 2]
    if named == "by the option":
        monkeypatch.delenv("BIRDENV_DSN")
        where += ["--dsn", postgres_dsn]
    ran = birdenv("evaluate", "--run-dir", run_dir, *where)
    assert ran.code == 0 and "Note" not in ran.err, ran.err
    records = details(run_dir)
    assert [record["bucket"] for record in records] == "ok mismatch ok non_select pred_fail timeout".split()
    assert [record["em"] for record in records] == [True] + 5 * [False]
    assert "function total(integer) does not exist" in records[4]["error"]
    found = summary(run_dir)
    assert found["versions"]["engine"].startswith("PostgreSQL ")
    assert (found["config"]["dialect"], found["config"]["database"]) == ("postgres", str(demo))


def test_what_a_run_on_postgres_exports(
    birdenv: Command, postgres_dsn: str, demo: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run" / "run_1"
    on_postgres = ("--dialect", "postgres")
    ran = birdenv(
        *("bird", *on_postgres, "--agent", "oracle", "-n", 8, "-o", tmp_path / "out"),
        *("--export-pairs", folder),
    )
    assert ran.code == 0, ran.err
    ran = birdenv("evaluate", "--run-dir", folder, "--db", demo, *on_postgres)
    assert ran.code == 0, ran.err
    assert "\nESM - 8/8 100.0% (of attempted: 8/8 100.0%)\n" in ran.out
    assert summary(folder)["versions"]["engine"].startswith("PostgreSQL ")


def test_without_queries_the_dialect_counts_and_no_server(
    birdenv: Command, demo: Path, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL's quotes in dollars are text, SQLite's are not."""
    monkeypatch.setenv("BIRDENV_DSN", "postgresql://nobody@127.0.0.1:1/nowhere")
    write_records(
        run_dir / "pairs.jsonl",
        [{"db_id": "library", "gold_sql": "SELECT $$a  B$$", "predicted_sql": "SELECT $$A B$$"}],
    )
    ems = []
    for options in (["--dialect", "postgres"], ["--dialect", "postgres", "--db", demo], []):
        ran = birdenv("evaluate", "--run-dir", run_dir, "--no-esm", "--em-level", "folded", *options)
        assert ran.code == 0, ran.err
        ems.append((details(run_dir)[0]["em"], summary(run_dir)["config"]["dialect"]))
    assert ems == [(False, "postgres"), (False, "postgres"), (True, "sqlite")]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--dialect", "mysql"], "--dialect 'mysql' is unknown; choose from sqlite, postgres"),
        (["--dialect", "sqlite", "--dsn", "postgresql:///x"], "--dialect postgres"),
        (["--dsn", "postgresql:///x"], "--dialect postgres"),
        (["--dialect", "postgres", "--db", "FILE"], "loads databases from a folder"),
        (["--dialect", "postgres", "--dsn", "nonsense"], "not a PostgreSQL connection string"),
    ],
)
def test_options_that_do_not_fit(
    birdenv: Command, demo: Path, run_dir: Path, options: list[str], told: str
) -> None:
    file = demo / "library" / "library.sqlite"
    arguments = [str(file) if part == "FILE" else part for part in options]
    ran = birdenv("evaluate", "--run-dir", run_dir, "--db", demo, *arguments)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert told in ran.err
    assert not (run_dir / "eval").exists()


def test_pairs_without_a_database_and_a_dialect_without_one(
    birdenv: Command, postgres_dsn: str, demo: Path, run_dir: Path
) -> None:
    ran = birdenv("evaluate", "--run-dir", run_dir, "--dialect", "postgres")
    assert ran.code == 2 and "specify --dsn (PostgreSQL) or --db" in ran.err
    write_records(run_dir / "pairs.jsonl", [{"gold_sql": "SELECT 1", "predicted_sql": "SELECT 1"}])
    ran = birdenv("evaluate", "--run-dir", run_dir, "--db", demo, "--dialect", "postgres")
    assert ran.code == 2 and "--dsn, without --db" in ran.err


def test_a_server_out_of_reach_is_exit_code_3(birdenv: Command, demo: Path, run_dir: Path) -> None:
    nobody = f"host='{run_dir}' user=nobody"
    ran = birdenv("evaluate", "--run-dir", run_dir, "--db", demo, "--dialect", "postgres", "--dsn", nobody)
    assert ran.code == 3
    assert ran.err.startswith("Error: cannot connect to the PostgreSQL server at ")
    assert not (run_dir / "eval").exists()
