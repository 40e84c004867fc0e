"""A small source of databases in BIRD's layout, and the real data where it is at hand."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from database_files import write_database

from birdenv.databases import Limits, SqliteDatabase, SqliteSource


@pytest.fixture
def source(tmp_path: Path) -> SqliteSource:
    write_database(tmp_path / "databases", "shop")
    return SqliteSource(tmp_path / "databases")


@pytest.fixture
def database(source: SqliteSource) -> Iterator[SqliteDatabase]:
    with source.open("shop", Limits(seconds=5)) as opened:
        yield opened


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], SqliteDatabase]]:
    """`opened(script)`: an episode on a new database that the script made."""
    databases: list[SqliteDatabase] = []

    def make(script: str) -> SqliteDatabase:
        name = f"made{len(databases)}"
        write_database(tmp_path / "made", name, script)
        databases.append(SqliteSource(tmp_path / "made").open(name))
        return databases[-1]

    yield make
    for each in databases:
        each.close()


@pytest.fixture(scope="session")
def mini_dev() -> Path:
    root = Path(__file__).resolve().parents[2]
    data = Path(os.environ.get("BIRDENV_SHARED_DATA", root.parent / "shared" / "data")) / "mini_dev"
    if not data.is_dir():
        pytest.skip(f"no BIRD mini-dev data at {data} (set BIRDENV_SHARED_DATA)")
    return data
