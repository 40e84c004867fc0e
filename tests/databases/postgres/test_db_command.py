"""`birdenv db`, as typed."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from postgres_server import start_postgres

from birdenv.cli import main
from birdenv.databases.postgres import Cluster, PostgresServer


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Ran]


@pytest.fixture
def db(
    server: PostgresServer,
    server_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    """`db("load", ...)` on the server of this test process, or the one of a cache."""
    monkeypatch.delenv("BIRDENV_DSN", raising=False)

    def call(*arguments: object, cache: Path = server_cache) -> Ran:
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
        monkeypatch.setattr(sys, "argv", ["birdenv", "db", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return Ran(int(end.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    """Two SQLite databases in BIRD's layout, and a file that is none."""
    for name, rows in (("north", 3), ("south", 2)):
        (tmp_path / name).mkdir()
        with sqlite3.connect(tmp_path / name / f"{name}.sqlite") as connection:
            connection.execute("CREATE TABLE town (id INTEGER PRIMARY KEY, built DATE)")
            connection.executemany("INSERT INTO town (built) VALUES (?)", [("long ago",)] * rows)
        connection.close()
    (tmp_path / "west").mkdir()
    (tmp_path / "west" / "west.sqlite").write_text("no database")
    return tmp_path


@pytest.mark.slow
def test_load_status_and_verify(db: Command, databases: Path, tmp_path: Path) -> None:
    some = ["--database", "north", "--database", "south"]
    loaded = db("load", "--from-sqlite", databases, *some)
    assert loaded.code == 0, loaded.err
    assert (
        "north: 1 tables, 3 rows\n"
        "    town.built: declared as DATE, loaded as text: 'long ago' does not fit date" in loaded.out
    )
    assert "2 of 2 loaded" in loaded.out
    assert "north: 1 tables, 3 rows (already loaded)" in db("load", "--from-sqlite", databases, *some).out
    status = db("status")
    assert status.out.startswith("PostgreSQL ")
    assert any(line.split()[:3] == ["south", "1", "2"] for line in status.out.splitlines())
    held = tmp_path / "held.json"
    assert db("verify", *some, "--write", held).code == 0
    assert json.loads(held.read_text()) == {"north": {"town": 3}, "south": {"town": 2}}
    held.write_text('{"north": {"town": 4}}')
    wrong = db("verify", "--database", "north", "--expect", held)
    assert wrong.code == 1
    assert "table 'town' has 3 rows, expected 4 (by --expect)" in wrong.out


def test_one_that_cannot_be_loaded_is_named_and_the_others_are_loaded(db: Command, databases: Path) -> None:
    loaded = db("load", "--from-sqlite", databases)
    assert loaded.code == 1
    assert "west: NOT loaded: " in loaded.err
    assert "2 of 3 loaded" in loaded.out


def test_a_set_that_is_not_whole_is_told(db: Command, databases: Path, tmp_path: Path) -> None:
    expected = tmp_path / "expected.json"
    expected.write_text('{"north": {"town": 3}, "south": {"town": 5}, "east": {"town": 1}}')
    loaded = db("load", "--from-sqlite", databases, "--expect", expected)
    assert loaded.code == 1
    assert "database 'south' was not loaded because it would be incomplete" in loaded.err
    assert "database 'east' is expected but not loaded" in loaded.out
    lite = db("verify", "--expect", "lite")
    assert lite.code == 1
    assert " of 18 databases are missing: " in lite.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["load", "no/such/folder"], "no/such/folder: no such file or folder"),
        (["load", "--from-sqlite", "no/such/folder"], "there is no database directory at"),
        (
            ["load", "{}", "--from-sqlite", "--database", "mars"],
            "--database 'mars' is not available; available: north",
        ),
        (["load", "{}"], "contains no dumps: expected folders named <db>_template"),
        (["verify", "--expect", "{}/none.json"], "none.json: no such file"),
        (["verify", "--expect", "{}/wrong.json"], "table 'town': expected a number of rows, found 'many'"),
        (["status", "--dsn", "mysql://nonsense"], "not a PostgreSQL connection string"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(
    db: Command, databases: Path, arguments: list[str], message: str
) -> None:
    (databases / "wrong.json").write_text('{"north": {"town": "many"}}')
    ran = db(*(argument.format(databases) for argument in arguments))
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_a_server_out_of_reach(db: Command) -> None:
    ran = db("status", "--dsn", "postgresql://x:hidden@/y?host=/no/folder")
    assert ran.code == 3
    assert "cannot connect to the PostgreSQL server" in ran.err
    assert ran.err.count("\n") == 1
    assert "hidden" not in ran.err


@pytest.mark.slow
def test_start_and_stop(db: Command, cache: Path) -> None:
    started = db("start", cache=cache)
    assert started.code == 0, started.err
    assert "stop it with `birdenv db stop`" in started.out
    assert Cluster().is_running()
    assert "runs until `birdenv db stop`" in db("status", cache=cache).out
    assert db("stop", cache=cache).out == "Stopped.\n"
    assert not Cluster().is_running()
    assert db("stop", cache=cache).out == "The server was not running.\n"


@pytest.mark.slow
def test_another_server_is_not_started_or_stopped(db: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRDENV_DSN", start_postgres().reader)
    assert "which birdenv does not start or stop" in db("stop").err
    assert "own server" not in db("status").out
