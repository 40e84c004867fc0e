"""`--dialect postgres`: the commands on a PostgreSQL server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from samples import EVERY_TWENTIETH

from birdenv.demo import DEMO_BIRD_FILE, DEMO_C_INTERACT_FILE
from birdenv.files import read_records, write_records

Birdenv = Callable[..., Any]
TASKS = ("--instance", "library_4", "--instance", "library_M_2", "--instance", "bikeshare_M_3")


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "latest" / "runs.jsonl").read_text().splitlines()]


@pytest.mark.slow
def test_c_interact_resumed_and_graded_again(birdenv: Birdenv, postgres_dsn: str, tmp_path: Path) -> None:
    """A Query with PostgreSQL's own words, an archive table, and a trigger with its function."""
    options = ("--dialect", "postgres", "--agent", "oracle", *TASKS)
    ran = birdenv("c-interact", *options, "-o", tmp_path)
    assert ran.code == 0, ran.err
    assert [record["reward"] for record in records(tmp_path)] == [1.0, 1.0, 1.0]
    config = json.loads((tmp_path / "latest" / "config.json").read_text())
    assert config["dialect"] == "postgres" and config["engine"].startswith("PostgreSQL ")
    assert config["engine"] in ran.out and config["engine"] in birdenv("summary", tmp_path).out
    assert birdenv("c-interact", *options, "-r", tmp_path / "latest").code == 0
    assert birdenv("c-interact", "-r", tmp_path).code == 0, "the options are the run's own"
    other = birdenv("c-interact", "--dialect", "sqlite", "-r", tmp_path)
    assert other.code == 2 and "dialect: postgres then, None now" in other.err
    again = birdenv("regrade", tmp_path / "latest")
    assert again.code == 0, again.err
    figures = json.loads((tmp_path / "latest" / "regraded.json").read_text())["figures"]
    assert {figure["mean_reward"] for figure in figures.values()} == {1.0}


@pytest.mark.slow
def test_bird_and_the_golds_of_the_demo(
    birdenv: Birdenv, postgres_dsn: str, demo: Path, tmp_path: Path
) -> None:
    ran = birdenv("bird", "--dialect", "postgres", "--agent", "oracle", "-n", 10, "-p", 2, "-o", tmp_path)
    assert ran.code == 0, ran.err
    assert json.loads((tmp_path / "latest" / "overall.json").read_text())["figures"]["ex"]["value"] == 1.0
    again = birdenv("regrade", tmp_path / "latest")
    assert again.code == 0 and "Judged differently: 0" in again.out
    checked = birdenv("self-check", demo / DEMO_BIRD_FILE, demo, "--dialect", "postgres")
    assert checked.code == 0 and "42/42 golds pass their own grading" in checked.out


@pytest.mark.slow
def test_a_interact(birdenv: Birdenv, postgres_dsn: str, tmp_path: Path) -> None:
    ran = birdenv("a-interact", "--dialect", "postgres", "--agent", "oracle", *TASKS, "-o", tmp_path)
    assert ran.code == 0, ran.err
    assert [record["reward"] for record in records(tmp_path)] == [1.0, 1.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("step", EVERY_TWENTIETH)
def test_data_verify(birdenv: Birdenv, postgres_dsn: str, demo: Path, tmp_path: Path, step: int) -> None:
    """The oracle's run proves the golds and the test cases on the engine that they are for."""
    chosen = read_records(demo / DEMO_C_INTERACT_FILE)[::step]
    file = tmp_path / "tasks.jsonl"
    write_records(file, chosen)
    ran = birdenv("data", "verify", file, "--dir", demo, "--dialect", "postgres")
    assert ran.code == 0, ran.out
    assert f"oracle passed: {len(chosen)}" in ran.out


@pytest.mark.parametrize("workers", [1, 3])
def test_score(birdenv: Birdenv, postgres_dsn: str, demo: Path, workers: int, tmp_path: Path) -> None:
    gold = "SELECT count(*) FROM members WHERE card_status = 'active'"
    predictions = {
        "SELECT count(*) FILTER (WHERE card_status = 'active') FROM members": (1, ""),
        "SELECT count(*) FROM members": (0, ""),
        "SELECT total(1) FROM members": (0, "function total(integer) does not exist"),
        "DELETE FROM members": (0, "only a plain query"),
    }
    pairs = tmp_path / "pairs.jsonl"
    write_records(
        pairs, [{"db_id": "library", "gold_sql": gold, "predicted_sql": sql} for sql in predictions]
    )
    out = tmp_path / "scored.jsonl"
    options = ("--dialect", "postgres", "-p", workers, "--out", out)
    ran = birdenv("score", pairs, demo, *options)
    assert ran.code == 0, ran.err
    for line, (ex, reason) in zip(out.read_text().splitlines(), predictions.values(), strict=True):
        record = json.loads(line)
        assert record["ex"] == record["ex_bird"] == ex and reason in record["reason"], record


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--dialect", "mysql"), "--dialect 'mysql' is unknown; choose from sqlite, postgres"),
        (
            ("--dsn", "postgresql:///x"),
            "a DSN is only for PostgreSQL: leave it out, or choose the 'postgres' dialect",
        ),
        (("--dialect", "postgres", "--dsn", "nonsense"), "the DSN is not a PostgreSQL connection string"),
    ],
)
@pytest.mark.parametrize("command", ["c-interact", "bird"])
def test_options_that_do_not_fit(
    birdenv: Birdenv, command: str, options: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    ran = birdenv(command, *options, "-o", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err and ran.err.count("\n") == 1


def test_a_server_out_of_reach_is_exit_code_3(birdenv: Birdenv, tmp_path: Path) -> None:
    nobody = f"host='{tmp_path}' user=nobody"
    ran = birdenv("c-interact", "--dialect", "postgres", "--dsn", nobody, "-o", tmp_path / "runs")
    assert ran.code == 3
    assert ran.err.startswith("Error: cannot connect to the PostgreSQL server at ")
    assert not (tmp_path / "runs").exists()
