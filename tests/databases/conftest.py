"""A small source of databases in BIRD's layout, and the real data where it is at hand."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from attacked import Attacked
from database_files import write_database

from birdenv.databases import Limits, SqliteSource
from birdenv.databases.sqlite import LocalSource, _source
from birdenv.databases.sqlite._process_database import ProcessDatabase


@pytest.fixture
def source(tmp_path: Path) -> SqliteSource:
    write_database(tmp_path / "databases", "shop")
    return SqliteSource(tmp_path / "databases")


@pytest.fixture
def database(source: SqliteSource) -> Iterator[ProcessDatabase]:
    with source.open("shop", Limits(seconds=5)) as opened:
        yield opened


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], ProcessDatabase]]:
    """`opened(script)`: an episode on a new database that the script made."""
    databases: list[ProcessDatabase] = []

    def make(script: str) -> ProcessDatabase:
        name = f"made{len(databases)}"
        write_database(tmp_path / "made", name, script)
        databases.append(SqliteSource(tmp_path / "made").open(name))
        return databases[-1]

    yield make
    for each in databases:
        each.close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current and the temporary folder of this test; what episodes need has a place of its own."""
    monkeypatch.setenv("BIRDENV_SCRATCH", tempfile.gettempdir())
    for name in ("here", "temporary"):
        (tmp_path / "place" / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "place" / "here")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "place" / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path / "place"


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], LocalSource]:
    """`local(root)`: databases whose statements run in this very process, as they do in a worker."""
    monkeypatch.setattr(_source, "limit_process", lambda *_: None)
    return lambda root: LocalSource(root, None, "auto")


@pytest.fixture
def attack(folder: Path) -> Iterator[Callable[..., Attacked]]:
    """`attack(door)`: an episode to attack; afterwards nothing shows outside of it."""
    with ExitStack() as after:

        def make(door: str) -> Attacked:
            write_database(folder / "databases", "shop")
            attacked = Attacked(SqliteSource(folder / "databases"), folder, door)
            after.callback(attacked.close)
            after.enter_context(attacked.untouched())
            return attacked

        yield make


@pytest.fixture(scope="session")
def mini_dev() -> Path:
    root = Path(__file__).resolve().parents[2]
    data = Path(os.environ.get("BIRDENV_SHARED_DATA", root.parent / "shared" / "data")) / "mini_dev"
    if not data.is_dir():
        pytest.skip(f"no BIRD mini-dev data at {data} (set BIRDENV_SHARED_DATA)")
    return data
