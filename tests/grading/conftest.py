"""A small shop on real SQLite, and a source that counts what is opened on it."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest

from birdenv.databases import Limits, SqliteDatabase, SqliteSource

SHOP = """
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL);
INSERT INTO item VALUES (1, 'pen', 1.5), (2, 'ink', 4.25), (3, 'pen', 2.0), (4, NULL, NULL);
CREATE TABLE sale (item_id INTEGER, day TEXT);
INSERT INTO sale VALUES (1, '2024-01-01'), (1, '2024-01-02'), (2, '2024-01-02');
CREATE VIEW cheap AS SELECT name FROM item WHERE price < 2;
"""


class CountingSource(SqliteSource):
    """Remembers each opening: what was asked of a database, in order."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.opened = 0

    def open(self, db_id: str, limits: Limits | None = None) -> SqliteDatabase:
        self.opened += 1
        return super().open(db_id, limits)


def write_database(root: Path, name: str, script: str) -> Path:
    path = root / name / f"{name}.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_database(tmp_path, "shop", SHOP)
    return tmp_path


@pytest.fixture
def source(root: Path) -> Iterable[CountingSource]:
    before = (root / "shop" / "shop.sqlite").read_bytes()
    yield CountingSource(root)
    assert (root / "shop" / "shop.sqlite").read_bytes() == before, "grading changed the source file"
