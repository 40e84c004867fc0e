"""A small shop on real SQLite, and a source that counts what is opened on it."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from local_graders import CountingSource
from postgres_source import postgres_source
from written_databases import write_database

from birdenv.databases import DatabaseSource

SHOP = """
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL);
INSERT INTO item VALUES (1, 'pen', 1.5), (2, 'ink', 4.25), (3, 'pen', 2.0), (4, NULL, NULL);
CREATE TABLE sale (item_id INTEGER, day TEXT);
INSERT INTO sale VALUES (1, '2024-01-01'), (1, '2024-01-02'), (2, '2024-01-02');
CREATE VIEW cheap AS SELECT name FROM item WHERE price < 2;
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_database(tmp_path, "shop", SHOP)
    return tmp_path


@pytest.fixture
def source(root: Path) -> Iterable[CountingSource]:
    before = (root / "shop" / "shop.sqlite").read_bytes()
    yield CountingSource(root)
    assert (root / "shop" / "shop.sqlite").read_bytes() == before, "grading changed the source file"


@pytest.fixture(scope="session")
def shop_on_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterable[DatabaseSource]:
    root: Path = tmp_path_factory.mktemp("shop")
    write_database(root, "shop", SHOP)
    with postgres_source(root, "shop") as found:
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> DatabaseSource:
    """The shop on each engine."""
    name = "source" if request.param == "sqlite" else "shop_on_postgres"
    found: DatabaseSource = request.getfixturevalue(name)
    return found
