"""`birdenv doctor` and `--isolation`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birdenv.databases import _health, _images
from birdenv.errors import InputError


def test_doctor_says_what_was_tried_on_the_largest_database(
    birdenv: Callable[..., Any], tmp_path: Path
) -> None:
    for name, rows in (("small", 1), ("large", 5_000)):
        (tmp_path / name).mkdir()
        connection = sqlite3.connect(tmp_path / name / f"{name}.sqlite")
        connection.execute("CREATE TABLE t (a)")
        connection.executemany("INSERT INTO t VALUES (?)", [("x" * 50,)] * rows)
        connection.commit()
        connection.close()
    done = birdenv("doctor", tmp_path)
    assert done.code == 0
    assert f"SQLite {sqlite3.sqlite_version}" in done.out
    assert "large.sqlite" in done.out
    assert done.out.count("chosen") == 1
    for kind in ("reflink", "memory-map", "deserialize", "copy"):
        assert f"  {kind}" in done.out
    assert "(isolation=process): work\n" in done.out


def test_doctor_reports_what_does_not_work(
    birdenv: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("no room")

    def no_worker(*_: object) -> None:
        raise InputError("no worker process can be started: no processes left")

    for kind in ("memory-map", "deserialize", "copy"):
        monkeypatch.setitem(_images._OPENERS, kind, broken)
    monkeypatch.setattr(_health, "RemoteDatabase", no_worker)
    done = birdenv("doctor")
    assert done.code == 1
    assert "chosen" not in done.out
    assert done.out.count("no room") == 3
    assert "no processes left" in done.out


def test_doctor_without_databases(birdenv: Callable[..., Any], tmp_path: Path) -> None:
    done = birdenv("doctor", tmp_path)
    assert (done.code, done.err) == (2, f"Error: {tmp_path} holds no database\n")


@pytest.mark.parametrize(
    ("agent", "option", "isolation"),
    [
        ("oracle", (), "inline"),
        ("oracle", ("--isolation", "process"), "process"),
        ("birdenv_agents.readings:RandomAgent", (), "process"),
        ("birdenv_agents.readings:RandomAgent", ("--isolation", "inline"), "inline"),
    ],
)
@pytest.mark.parametrize("game", ["bird", "c-interact"])
def test_sql_of_others_runs_in_worker_processes(
    birdenv: Callable[..., Any],
    tmp_path: Path,
    game: str,
    agent: str,
    option: tuple[str, ...],
    isolation: str,
) -> None:
    done = birdenv(game, "--agent", agent, "-n", "2", "--output", tmp_path, *option)
    assert done.code == 0, done.err
    config = json.loads(next(tmp_path.glob("run-*/config.json")).read_text())
    assert config["isolation"] == isolation
    assert config["engine"] == f"SQLite {sqlite3.sqlite_version}"


def test_recorded_sql_runs_in_worker_processes_too(birdenv: Callable[..., Any], tmp_path: Path) -> None:
    lines = tmp_path / "predictions.jsonl"
    lines.write_text('{"instance_id": "library_1", "sql": ["SELECT 1"]}\n')
    done = birdenv("c-interact", "--agent", f"predictions:{lines}", "-n", "2", "--output", tmp_path)
    assert done.code == 0, done.err
    assert json.loads(next(tmp_path.glob("run-*/config.json")).read_text())["isolation"] == "process"


@pytest.mark.parametrize("command", ["bird", "c-interact"])
def test_an_unknown_isolation_is_told(birdenv: Callable[..., Any], command: str) -> None:
    done = birdenv(command, "--isolation", "jail")
    assert (done.code, done.err) == (
        2,
        "Error: --isolation 'jail' is unknown; known: auto, inline, process\n",
    )


def test_the_figures_are_the_same_wherever_statements_run(
    birdenv: Callable[..., Any], tmp_path: Path
) -> None:
    runs = {}
    for isolation in ("inline", "process"):
        out = tmp_path / isolation
        done = birdenv("bird", "--agent", "never-asks", "--isolation", isolation, "--output", out, "-p", "2")
        assert done.code == 0, done.err
        runs[isolation] = next(out.glob("run-*/runs.jsonl")).read_bytes()
    assert runs["inline"] == runs["process"]
