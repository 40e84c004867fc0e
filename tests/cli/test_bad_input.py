"""Unusable input: one line that says what to do, exit code 2, nothing written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birdenv.benchmarks import DEMO_BIRD_FILE

Command = Callable[..., Any]


@pytest.fixture
def copy(demo: Path, tmp_path: Path) -> Path:
    """A copy of the demo that a test may damage."""
    return Path(shutil.copytree(demo, tmp_path / "copy"))


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "output"


def refused(ran: Any, *says: str) -> None:
    assert ran.code == 2, ran
    assert ran.err.startswith("Error: "), ran.err
    assert ran.err.count("\n") == 1
    for part in says:
        assert part in ran.err


def with_db_id(copy: Path, db_id: str) -> Path:
    tasks = json.loads((copy / DEMO_BIRD_FILE).read_text())
    tasks[0]["db_id"] = db_id
    path = copy / "changed.json"
    path.write_text(json.dumps(tasks))
    return path


def test_missing_database(birdenv: Command, copy: Path, output: Path) -> None:
    next(copy.glob("*/library.sqlite")).unlink()
    refused(birdenv("bird", copy / DEMO_BIRD_FILE, copy, "-o", output), "library")
    assert not output.exists()


def test_lfs_pointer_in_place_of_a_database(birdenv: Command, copy: Path, output: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"
    (copy / "library" / "library.sqlite").write_text(pointer)
    refused(birdenv("bird", copy / DEMO_BIRD_FILE, copy, "-o", output), "git lfs pull")
    refused(birdenv("c-interact", copy, "--database", "library", "-o", output), "git lfs pull")
    assert not output.exists()


def test_corrupt_database(birdenv: Command, copy: Path, output: Path) -> None:
    path = copy / "library" / "library.sqlite"
    path.write_bytes(path.read_bytes()[:16] + b"\x55" * 5000)
    refused(birdenv("bird", copy / DEMO_BIRD_FILE, copy, "-o", output), "library")
    assert not output.exists()


def test_truncated_task_file(birdenv: Command, copy: Path, output: Path) -> None:
    path = copy / DEMO_BIRD_FILE
    path.write_text(path.read_text()[:-40])
    refused(birdenv("bird", path, copy, "-o", output), "cut off")
    lines = copy / "c_interact.jsonl"
    lines.write_text(lines.read_text()[:-40])
    refused(birdenv("c-interact", copy, "-o", output), "cut off")


@pytest.mark.parametrize("db_id", ["nowhere", "../library", "/etc", "library/../library", "", "..", "a\x00b"])
def test_database_names(birdenv: Command, copy: Path, output: Path, db_id: str) -> None:
    refused(birdenv("bird", with_db_id(copy, db_id), copy, "-o", output))
    assert not output.exists()


@pytest.mark.parametrize("db_id", ["nowhere", "../library"])
def test_database_names_in_c_interact(birdenv: Command, copy: Path, output: Path, db_id: str) -> None:
    path = copy / "c_interact.jsonl"
    task = json.loads(path.read_text().splitlines()[0]) | {"selected_database": db_id}
    path.write_text(json.dumps(task) + "\n")
    refused(birdenv("c-interact", copy, "-o", output), db_id)
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--difficulty", "hard"], "simple, moderate, challenging"),
        (["--database", "nowhere"], "library"),
        (["--instance", "9999"], "--instance"),
        (["--offset", "5000"], "no tasks to run"),
        (["--agent", "gpt"], "asks-first, human, never-asks, oracle, predictions, random"),
        (["--agent", "no.such.module:Agent"], "known agents"),
        (["--agent", "predictions"], "predictions:FILE"),
        (["--agent", "predictions:/no/such/file"], "no such file"),
        (["--predictions-order", "2023"], "2024"),
        (["--sql-timeout", "0"], "more than 0"),
        (["--resume", "/no/such/run"], "not a run directory"),
    ],
)
def test_options_of_bird(birdenv: Command, output: Path, arguments: list[str], says: str) -> None:
    refused(birdenv("bird", *arguments, "-o", output), says)
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--profile", "loose"], "strict, shell, adk"),
        (["--user", "gpt"], "rule"),
        (["--difficulty", "Extreme"], "Easy"),
        (["/no/such/folder"], "no such directory"),
        (["--data", "/no/such/file"], "no such file"),
        (["--agent", "human", "-p", "2"], "--parallel"),
    ],
)
def test_options_of_c_interact(birdenv: Command, output: Path, arguments: list[str], says: str) -> None:
    refused(birdenv("c-interact", *arguments, "-o", output), says)
    assert not output.exists()


@pytest.mark.parametrize(
    "option", [["--limit", "0"], ["--limit", "-1"], ["--offset", "-1"], ["--parallel", "0"]]
)
def test_numbers_out_of_range(birdenv: Command, output: Path, option: list[str]) -> None:
    ran = birdenv("bird", *option, "-o", output)
    assert ran.code == 2
    assert "Invalid value" in ran.err
    assert not output.exists()


def test_one_of_two_paths(birdenv: Command, copy: Path) -> None:
    refused(birdenv("bird", copy / DEMO_BIRD_FILE), "DB_DIR")


def test_unwritable_output(birdenv: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(birdenv("bird", "-n", "1", "-o", tmp_path / "file"), "cannot write")


def test_resume_with_other_data(birdenv: Command, copy: Path, output: Path) -> None:
    assert birdenv("bird", copy / DEMO_BIRD_FILE, copy, "-n", "2", "-o", output).code == 0
    before = {path: path.read_bytes() for path in (output / "latest").iterdir()}
    tasks = json.loads((copy / DEMO_BIRD_FILE).read_text())
    tasks[0]["question"] += " Really?"
    (copy / DEMO_BIRD_FILE).write_text(json.dumps(tasks))
    again = birdenv("bird", copy / DEMO_BIRD_FILE, copy, "-n", "2", "--resume", output / "latest")
    refused(again, "data_sha256", "start a new run")
    assert {path: path.read_bytes() for path in (output / "latest").iterdir()} == before


def test_position_keyed_predictions_need_the_2024_order(
    birdenv: Command, shared_data: Path, output: Path
) -> None:
    data = shared_data / "mini_dev"
    agent = f"predictions:{data / 'predictions' / 'predict_mini_dev_gpt-4_sqlite.json'}"
    ran = birdenv(
        "bird",
        data / "mini_dev_sqlite.json",
        data / "dev_databases",
        "--database",
        "superhero",
        "--agent",
        agent,
    )
    refused(ran, "2024", "--predictions-order")


def test_score_input(birdenv: Command, demo: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text('{"db_id": "library", "gold_sql": "SELECT 1"}\n')
    refused(birdenv("score", pairs, demo, "--out", tmp_path / "out.jsonl"), "predicted_sql")
    assert not (tmp_path / "out.jsonl").exists()
