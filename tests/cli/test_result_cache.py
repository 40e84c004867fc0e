"""`--cache` and `--paranoid`: what is kept, where, and what is said of it."""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    file = tmp_path / "databases" / "shop" / "shop.sqlite"
    file.parent.mkdir(parents=True)
    connection = sqlite3.connect(file)
    connection.executescript("CREATE TABLE item (name); INSERT INTO item VALUES ('pen'), ('ink')")
    connection.close()
    return file.parent.parent


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    gold = "SELECT name FROM item"
    predictions = [gold, "SELECT name FROM item ORDER BY 1", "SELECT date('now')", "SELECT nam FROM item"]
    path = tmp_path / "pairs.jsonl"
    lines = [{"db_id": "shop", "gold_sql": gold, "predicted_sql": sql} for sql in predictions]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "birdenv" / "results.sqlite"


def counts(executed: int, found: int) -> str:
    return f"Statements executed: {executed}; results known from before: {found} "


@pytest.mark.parametrize("isolation", ["inline", "process"])
@pytest.mark.parametrize("processes", [1, 2])
def test_what_is_known_is_not_executed_again(
    birdenv: Command, databases: Path, pairs: Path, home: Path, tmp_path: Path, processes: int, isolation: str
) -> None:
    options = ("--cache", tmp_path / "mine", "-p", processes, "--isolation", isolation)
    first, second = (birdenv("score", pairs, databases, *options) for _ in range(2))
    assert (first.code, second.code, first.err, second.err) == (0, 0, "", "")
    store = tmp_path / "mine" / "results.sqlite"
    assert counts(4, 0) + f"({store})" in first.out
    assert counts(1, 3) in second.out, "the clock is read every time"
    assert first.out.split("Statements")[0] == second.out.split("Statements")[0]
    assert "2/4  50.0 %" in first.out
    assert not home.exists()


def test_without_the_option_nothing_is_kept(
    birdenv: Command, databases: Path, pairs: Path, home: Path
) -> None:
    for _ in range(2):
        ran = birdenv("score", pairs, databases)
        assert (ran.code, ran.err) == (0, "")
        assert "2/4  50.0 %" in ran.out
        assert "Statements" not in ran.out
    assert not home.exists()
    alone = birdenv("score", pairs, databases, "--paranoid", 1)
    assert alone.code == 2
    assert "name its folder with --cache" in alone.err


@pytest.mark.every(2)
@pytest.mark.parametrize("isolation", ["inline", "process"])
def test_a_paranoid_user_sees_that_the_cache_is_wrong(
    birdenv: Command, databases: Path, pairs: Path, tmp_path: Path, isolation: str
) -> None:
    options = ("--cache", tmp_path / "mine", "--isolation", isolation)
    birdenv("score", pairs, databases, *options)
    checked = birdenv("score", pairs, databases, *options, "--paranoid", 1)
    assert (checked.code, checked.err) == (0, "")
    assert counts(4, 3) in checked.out
    connection = sqlite3.connect(tmp_path / "mine" / "results.sqlite")
    for key, value in connection.execute("SELECT key, value FROM result").fetchall():
        body = value[4:].replace(b"ink", b"inj")
        forged = struct.pack("<I", zlib.crc32(body)) + body
        connection.execute("UPDATE result SET value = ? WHERE key = ?", (forged, key))
    connection.commit()
    connection.close()
    wrong = birdenv("score", pairs, databases, *options, "--paranoid", 1)
    assert wrong.code == 2
    assert "the cache is wrong" in wrong.err


def test_evaluate_and_self_check_use_it_too(birdenv: Command, databases: Path, tmp_path: Path) -> None:
    run, cache = tmp_path / "run", tmp_path / "mine"
    run.mkdir()
    (run / "gold.txt").write_text("SELECT name FROM item\n")
    (run / "preds.txt").write_text("SELECT name FROM item ORDER BY 1\n")
    evaluate = ("evaluate", "--run_dir", run, "--db", databases / "shop" / "shop.sqlite", "--cache", cache)
    assert "results known from before: 0" in birdenv(*evaluate).out
    assert "Statements executed: 0;" in birdenv(*evaluate).out
    tasks = tmp_path / "tasks.json"
    task = {"question_id": 0, "db_id": "shop", "question": "Which?", "SQL": "SELECT count(*) FROM item"}
    tasks.write_text(json.dumps([task | {"evidence": "", "difficulty": "simple"}]))
    check = ("self-check", tasks, databases, "--cache", cache)
    assert "Statements executed: 1; results known from before: 1 " in birdenv(*check).out
    assert "Statements executed: 0; results known from before: 2 " in birdenv(*check).out


def test_a_folder_that_cannot_be_used_is_told_and_done_without(
    birdenv: Command, databases: Path, pairs: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for processes in (1, 2):
        ran = birdenv("score", pairs, databases, "--cache", tmp_path / "file", "-p", processes)
        assert ran.code == 0
        assert "2/4  50.0 %" in ran.out
        assert ran.err.count("results are not kept") == 1
        assert "Statements" not in ran.out


def test_a_full_disk_costs_the_cache_only(
    birdenv: Command, databases: Path, pairs: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite itself refuses more pages than there are."""
    options = ("--isolation", "inline", "--cache", home.parent)
    birdenv("score", pairs, databases, *options)
    connect = sqlite3.connect

    def full(path: Any, *arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(path, *arguments, **options)
        if str(path) == str(home):
            connection.execute("PRAGMA max_page_count = 1").fetchall()
        return connection

    records = [json.loads(line) for line in pairs.read_text().splitlines()]
    long = [
        record | {"predicted_sql": f"SELECT '{n * 'x' + 20_000 * 'y'}'"} for n, record in enumerate(records)
    ]
    pairs.write_text("".join(json.dumps(record) + "\n" for record in long))
    monkeypatch.setattr(sqlite3, "connect", full)
    ran = birdenv("score", pairs, databases, *options)
    assert ran.code == 0
    assert "0/4  0.0 %" in ran.out
    assert "full" in ran.err


def test_another_programs_database_is_refused(
    birdenv: Command, databases: Path, pairs: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    connection = sqlite3.connect(folder / "results.sqlite")
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    ran = birdenv("score", pairs, databases, "--cache", folder)
    assert ran.code == 2
    assert "name another file" in ran.err
