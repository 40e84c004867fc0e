"""Opening a folder's databases on one engine or the other."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from birdenv.databases import DatabaseSource, QueryResult, SqliteSource, open_source
from birdenv.errors import InfrastructureError, InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in BIRD's layout with one database."""
    (tmp_path / "opened_shop").mkdir()
    connection = sqlite3.connect(tmp_path / "opened_shop" / "opened_shop.sqlite")
    connection.executescript("CREATE TABLE item (id INTEGER, name TEXT); INSERT INTO item VALUES (1, 'pen')")
    connection.close()
    return tmp_path


def check_contract(source: DatabaseSource) -> None:
    """What everybody outside the room relies on."""
    assert "opened_shop" in source.names()
    source.check("opened_shop")
    digest = source.digest("opened_shop")
    assert len(digest) == 64 and digest == source.digest("opened_shop")
    with source.open("opened_shop") as database:
        assert isinstance(database.execute("DELETE FROM item"), QueryResult)
    with source.open("opened_shop") as database:
        result = database.query("SELECT id, name FROM item")
    assert isinstance(result, QueryResult) and list(result.rows) == [(1, "pen")]
    text = source.schema_text("opened_shop")
    assert "CREATE TABLE" in text and "item" in text and text.endswith(";")
    config = source.config()
    assert config["engine"] == source.engine and config["db_dir"]
    assert "image" in config and "isolation" not in config
    with pytest.raises(InputError, match="nowhere"):
        source.check("nowhere")


def test_a_sqlite_folder(folder: Path) -> None:
    source = open_source(folder)
    assert isinstance(source, SqliteSource)
    check_contract(source)


def test_the_same_folder_on_postgres(folder: Path, postgres_dsn: str) -> None:
    told: list[str] = []
    source = open_source(folder, "postgres", tell=told.append)
    check_contract(source)
    assert told == [
        "Loading opened_shop into PostgreSQL (only needed once) ...",
        "Loaded opened_shop: 1 tables, 1 rows",
    ]
    assert source.config()["dialect"] == "postgres"
    assert "PASSWORD" not in str(source.config()).upper()


@pytest.mark.parametrize(
    ("dialect", "dsn", "told"),
    [
        ("mysql", None, "dialect 'mysql' is unknown; choose from sqlite, postgres"),
        (
            "sqlite",
            "postgresql:///x",
            "a DSN is only for PostgreSQL: leave it out, or choose the 'postgres' dialect",
        ),
    ],
)
def test_what_does_not_fit_together(folder: Path, dialect: str, dsn: str | None, told: str) -> None:
    with pytest.raises(InputError, match=f"^{told}$"):
        open_source(folder, dialect, dsn=dsn)


def test_a_server_that_does_not_answer(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="cannot connect to the PostgreSQL server"):
        open_source(folder, "postgres", dsn=f"host='{tmp_path}' user=nobody")


def test_no_folder(tmp_path: Path, postgres_dsn: str) -> None:
    for dialect in ("sqlite", "postgres"):
        with pytest.raises(InputError, match="there is no database directory"):
            open_source(tmp_path / "none", dialect)
