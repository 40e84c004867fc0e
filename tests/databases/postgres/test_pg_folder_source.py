"""A benchmark folder on PostgreSQL: databases are loaded when they are first needed, and only then."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from birdenv.databases import QueryResult, open_source
from birdenv.databases._protocols import DUMP_FOLDERS
from birdenv.databases.postgres import (
    PostgresFolderSource,
    PostgresServer,
    PostgresSource,
    find_dumps,
    load_dump,
)
from birdenv.databases.postgres.loading._templates import database_name
from birdenv.databases.postgres.server._paths import ADMIN
from birdenv.errors import InputError

TABLE = "CREATE TABLE plant (id integer, name text); INSERT INTO plant VALUES {};"


def sqlite_file(folder: Path, name: str, rows: str = "(1, 'fern'), (2, 'moss')") -> None:
    path = folder / name / f"{name}.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(TABLE.format(rows))
    connection.close()


def dump(folder: Path, name: str, rows: str = "(7, 'ivy')") -> Path:
    path = folder / f"{name}_template" / "plant.sql"
    path.parent.mkdir(parents=True)
    path.write_text(TABLE.format(rows))
    return folder


def names_of(source: PostgresSource, name: str) -> list[str]:
    with source.open(name) as database:
        result = database.query("SELECT name FROM plant ORDER BY id")
    assert isinstance(result, QueryResult), result
    return [row[0] for row in result.rows]


def test_only_what_is_needed_is_loaded_and_only_once(
    server: PostgresServer, tmp_path: Path, database_names: Callable[[], set[str]]
) -> None:
    for name in ("folder_a", "folder_b"):
        sqlite_file(tmp_path, name)
    for told in (
        ["Loading folder_a into PostgreSQL (only needed once) ...", "Loaded folder_a: 1 tables, 2 rows"],
        [],
    ):
        lines: list[str] = []
        source = PostgresFolderSource(server, tmp_path, lines.append)
        assert {"folder_a", "folder_b"} <= set(source.names())
        assert lines == []
        assert names_of(source, "folder_a") == ["fern", "moss"]
        assert lines == told
        assert database_name("folder_b") not in database_names()


def test_a_changed_file_is_loaded_again(server: PostgresServer, tmp_path: Path) -> None:
    sqlite_file(tmp_path, "folder_changed")
    first = PostgresFolderSource(server, tmp_path)
    digest = first.digest("folder_changed")
    sqlite_file(tmp_path, "folder_changed", "(1, 'reed')")
    lines: list[str] = []
    source = PostgresFolderSource(server, tmp_path, lines.append)
    assert names_of(source, "folder_changed") == ["reed"]
    assert lines == ["Loaded folder_changed: 1 tables, 1 rows"]
    assert source.digest("folder_changed") != digest


@pytest.mark.parametrize("place", ["", *DUMP_FOLDERS])
def test_the_folders_own_dump_goes_before_a_conversion(
    server: PostgresServer, tmp_path: Path, place: str
) -> None:
    name = f"folder_dump{len(place)}"
    sqlite_file(tmp_path, name)
    dump(tmp_path / place, name)
    assert names_of(PostgresFolderSource(server, tmp_path), name) == ["ivy"]


def test_a_dump_that_was_loaded_before_stays(server: PostgresServer, tmp_path: Path) -> None:
    [found] = find_dumps(dump(tmp_path / "elsewhere", "folder_kept"))
    load_dump(server, found)
    (tmp_path / "data").mkdir()
    sqlite_file(tmp_path / "data", "folder_kept")
    assert names_of(PostgresFolderSource(server, tmp_path / "data"), "folder_kept") == ["ivy"]


def test_a_partial_database_is_refused_by_name(server: PostgresServer, tmp_path: Path) -> None:
    sqlite_file(tmp_path, "folder_partial")
    PostgresFolderSource(server, tmp_path).check("folder_partial")
    with server.connect(database_name("folder_partial"), ADMIN) as connection:
        connection.execute("DELETE FROM plant WHERE id = 2")
    source = PostgresFolderSource(server, tmp_path)
    told = "'folder_partial' is incomplete .*: table 'plant' has 1 rows, expected 2; reload it"
    for _ in range(2):
        with pytest.raises(InputError, match=told):
            source.check("folder_partial")


def test_an_empty_database_is_refused_by_name(server: PostgresServer, tmp_path: Path) -> None:
    (tmp_path / "folder_empty").mkdir()
    connection = sqlite3.connect(tmp_path / "folder_empty" / "folder_empty.sqlite")
    connection.executescript("CREATE TABLE plant (id integer)")
    connection.close()
    with pytest.raises(
        InputError,
        match=r"'folder_empty' was not loaded because it would be incomplete.*its tables contain no rows",
    ):
        PostgresFolderSource(server, tmp_path).check("folder_empty")


def test_what_is_nowhere_is_told(server: PostgresServer, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'folder_nowhere' is not loaded on the PostgreSQL server"):
        PostgresFolderSource(server, tmp_path).check("folder_nowhere")


@pytest.mark.parametrize("place", [f"../{name}" for name in DUMP_FOLDERS])
def test_the_authors_folders_play_as_they_are(server: PostgresServer, tmp_path: Path, place: str) -> None:
    """A clone of the published data has `<db>/` folders without databases, and the dumps beside it."""
    name = f"beside_{place[-4:]}"
    benchmark = tmp_path / "bird-interact-lite"
    (benchmark / name).mkdir(parents=True)
    (benchmark / name / f"{name}_schema.txt").write_text("CREATE TABLE plant")
    dump(tmp_path / place[3:], name)
    source = PostgresFolderSource(server, benchmark)
    assert names_of(source, name) == ["ivy"]
    with pytest.raises(InputError, match=r"contains no SQLite databases, but .*use --dialect postgres"):
        open_source(benchmark)


def test_a_folder_whose_databases_are_elsewhere_names_the_dialect(tmp_path: Path) -> None:
    (tmp_path / "alien").mkdir()
    with pytest.raises(InputError, match=r"contains no alien\.sqlite; .* --dialect postgres"):
        open_source(tmp_path).check("alien")


def test_templates_that_the_server_holds_are_used(server: PostgresServer, tmp_path: Path) -> None:
    """As the authors' own server has them, whoever loaded them; never written to."""
    for db_id, statements in {
        "made_there": [TABLE.format("(3, 'oak')"), "CREATE TYPE mood AS ENUM ('calm')"],
        "made_empty": ["CREATE TABLE plant (id integer)"],
    }.items():
        with server.connect(user=ADMIN) as connection:
            connection.execute(f"CREATE DATABASE {db_id}_template".encode())
            with server.connect(f"{db_id}_template", ADMIN) as inside:
                for statement in statements:
                    inside.execute(statement.encode())
            connection.execute(f"ALTER DATABASE {db_id}_template IS_TEMPLATE true".encode())
    sqlite_file(tmp_path, "made_there")  # a conversion of the same is further from the original
    source = PostgresFolderSource(server, tmp_path)
    assert "made_there" in source.names()
    assert names_of(source, "made_there") == ["oak"]
    with source.open("made_there") as database:
        assert isinstance(database.execute("DELETE FROM plant"), QueryResult)
    assert names_of(source, "made_there") == ["oak"]
    digest = source.digest("made_there")
    assert PostgresSource(server).digest("made_there") == digest
    with server.connect("made_there_template", ADMIN) as inside:
        inside.execute("UPDATE plant SET name = 'elm'")
    assert PostgresSource(server).digest("made_there") != digest
    with pytest.raises(InputError, match=r"'made_empty_template' .* is empty"):
        source.check("made_empty")
