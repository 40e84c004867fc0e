"""`birdenv doctor`."""

from __future__ import annotations

import importlib.metadata
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birdenv.cli import _doctor
from birdenv.databases.postgres.server import _programs
from birdenv.databases.sqlite import _health
from birdenv.databases.sqlite.images import _image_kinds as _images
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
    for kind in ("memory-map", "copy"):
        assert f"  {kind}" in done.out
    assert "\nWorker processes: work\n" in done.out


def test_doctor_reports_what_does_not_work(
    birdenv: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("no room")

    def no_worker(*_: object) -> None:
        raise InputError("no worker process can be started: no processes left")

    for image in ("MappedImage", "CopiedImage"):
        monkeypatch.setattr(_images, image, broken)
    monkeypatch.setattr(_health, "ProcessDatabase", no_worker)
    done = birdenv("doctor")
    assert done.code == 1
    assert "chosen" not in done.out
    assert done.out.count("no room") == 2
    assert "no processes left" in done.out


def test_doctor_says_where_episodes_can_be_played(
    birdenv: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = birdenv("doctor")
    assert "Engines (--engine): processes, ray, threads" in done.out
    monkeypatch.setattr(_doctor, "version", _missing)
    assert (
        "ray         not installed: pip install 'birdenv[ray]' (in a clone: -e '.[ray]')"
        in birdenv("doctor").out
    )


def _missing(name: str) -> str:
    raise importlib.metadata.PackageNotFoundError(name)


def test_doctor_without_databases(birdenv: Callable[..., Any], tmp_path: Path) -> None:
    done = birdenv("doctor", tmp_path)
    assert (done.code, done.err) == (2, f"Error: {tmp_path} contains no databases\n")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without the extra."""
    monkeypatch.setattr(_programs, "_PACKAGE", "no_such_package")
    monkeypatch.delenv("BIRDENV_DSN", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def postgres_line(ran: Any) -> str:
    assert ran.code == 0, ran.err
    line: str = ran.out.splitlines()[-1]
    return line


def test_doctor_on_a_machine_without_postgres(birdenv: Callable[..., Any], bare: Path) -> None:
    server = postgres_line(birdenv("doctor"))
    assert server.startswith(
        "PostgreSQL (--dialect postgres): none: PostgreSQL 18 or newer is not installed: "
    )
    assert "pip install -U 'birdenv[postgres]'" in server and "BIRDENV_DSN" in server


def test_doctor_names_the_extra(
    birdenv: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = _programs._PACKAGE
    pytest.importorskip(package)
    version = _programs.find_binaries().version
    monkeypatch.delenv("BIRDENV_DSN", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert postgres_line(birdenv("doctor")) == (
        f"PostgreSQL (--dialect postgres): birdenv's embedded server, PostgreSQL {version} from the "
        "`postgres` extra"
    )
    assert not list(tmp_path.glob("birdenv/postgres-*"))


@pytest.mark.parametrize(
    ("dsn", "says"),
    [
        (
            "postgresql://me:hunter2@127.0.0.1:1/x",
            "the server that BIRDENV_DSN names: user=me host=127.0.0.1",
        ),
        ("hunter2", "none: BIRDENV_DSN: the DSN is not a PostgreSQL connection string"),
    ],
)
def test_doctor_names_the_server_of_the_variable(
    birdenv: Callable[..., Any], bare: Path, monkeypatch: pytest.MonkeyPatch, dsn: str, says: str
) -> None:
    monkeypatch.setenv("BIRDENV_DSN", dsn)
    ran = birdenv("doctor")
    assert postgres_line(ran).startswith(f"PostgreSQL (--dialect postgres): {says}")
    assert "hunter2" not in ran.out + ran.err


def test_where_benchmark_data_are_looked_for(birdenv: Callable[..., Any], demo: Path) -> None:
    ran = birdenv("doctor")
    assert f"Benchmark data: the demo, in {demo}, unless a command names others" in ran.out
    assert "birdenv bird TASK_FILE FOLDER" in ran.out
    assert "published at https://github.com/bird-bench/mini_dev" in ran.out
