"""Loading on a server that is not birdenv's: an administrator's, and a role's that may do less."""

from __future__ import annotations

from pathlib import Path

import pytest
from postgres_server import Postgres, start_postgres

from birdenv.databases.postgres import find_dumps, find_server, find_template, load_dump, verify_template
from birdenv.errors import InputError


@pytest.fixture
def other() -> Postgres:
    return start_postgres()


@pytest.fixture
def dump_file(tmp_path: Path) -> Path:
    path = tmp_path / "elsewhere.sql"
    path.write_text("CREATE TABLE t (x integer); INSERT INTO t VALUES (1), (2);")
    return path


def test_another_server_takes_templates_too(other: Postgres, dump_file: Path) -> None:
    (dump,) = find_dumps(dump_file)
    with find_server(other.admin) as server:
        assert load_dump(server, dump).tables == {"t": 2}
        template = find_template(server, "elsewhere")
        assert verify_template(server, template) == []
        assert load_dump(server, dump).skipped


def test_a_role_that_may_not_make_databases_is_told(other: Postgres, dump_file: Path) -> None:
    (dump,) = find_dumps(dump_file)
    with (
        find_server(other.reader) as server,
        pytest.raises(InputError, match=r"permission denied to create database.*CREATEDB"),
    ):
        load_dump(server, dump, again=True)


def test_a_database_that_was_not_loaded_is_named(other: Postgres) -> None:
    with (
        find_server(other.admin) as server,
        pytest.raises(InputError, match=r"'nothing' is not loaded .*birdenv db load"),
    ):
        find_template(server, "nothing")
