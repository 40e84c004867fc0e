"""Clones: made ahead, dropped with their roles, and swept when their process was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pg_shop import ELSEWHERE, kind, load_shop, rows
from postgres_server import Postgres, start_postgres

from birdenv.databases import QueryResult
from birdenv.databases.postgres import PostgresServer, PostgresSource, find_dumps, find_server, load_dump
from birdenv.errors import InputError

WRITE = "CREATE TABLE t AS SELECT 1 AS a"


@pytest.fixture(scope="module")
def shop(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> PostgresServer:
    load_shop(server, tmp_path_factory.mktemp("shop"))
    return server


@pytest.fixture
def ours(shop: PostgresServer) -> Callable[[], set[str]]:
    """Databases and roles that episodes have at the moment."""

    def names() -> set[str]:
        with shop.connect() as connection:
            found = connection.execute(
                "SELECT datname FROM pg_database WHERE starts_with(datname, 'birdenv-episode-')"
                " UNION ALL SELECT rolname FROM pg_roles WHERE starts_with(rolname, 'birdenv-agent-')"
            )
            return {name for (name,) in found.fetchall()}

    return names


@pytest.fixture
def source(shop: PostgresServer) -> Iterator[PostgresSource]:
    with PostgresSource(shop, warm=0) as source:
        yield source


def test_a_clone_goes_with_its_role(
    source: PostgresSource, ours: Callable[[], set[str]], wait_until: Any
) -> None:
    before = ours()
    with source.open("shop") as database:
        database.execute("SELECT 1")
        assert ours() == before
        database.execute(WRITE)
        assert len(ours() - before) == 2
    wait_until(lambda: ours() == before)


def test_clones_are_made_ahead(shop: PostgresServer, ours: Callable[[], set[str]], wait_until: Any) -> None:
    before = ours()
    with PostgresSource(shop, warm=2) as source:
        with source.open("shop") as database:
            assert kind(database.execute(WRITE)) == "ok"
        for _ in range(3):
            wait_until(lambda: len(_ready(source)) == 2)
            ready = _ready(source)
            with source.open("shop") as database:
                database.execute(WRITE)
                assert database._private.clone.name == ready[0]  # type: ignore[union-attr]
    assert ours() == before


def _ready(source: PostgresSource) -> list[str]:
    return [clone.name for clones in list(source._pool._ready.values()) for clone in clones]


def test_closing_a_source_drops_everything(shop: PostgresServer, ours: Callable[[], set[str]]) -> None:
    before = ours()
    source = PostgresSource(shop, warm=1)
    database, other = source.open("shop"), source.open("shop")
    database.execute(WRITE)
    kept = database.checkpoint()
    other.restore(kept)  # type: ignore[arg-type]
    other.execute(WRITE.replace("t ", "u "))
    source.close()
    assert ours() == before
    with pytest.raises(ValueError, match="this source of databases is closed"):
        source.open("shop").execute(WRITE)
    source.close()
    database.close()


def test_many_threads(source: PostgresSource) -> None:
    seen: list[Any] = []

    def work(number: int) -> None:
        for _ in range(3):
            with source.open("shop") as database:
                database.run([f"CREATE TABLE t AS SELECT {number} AS a"])
                seen.append((number, rows(database.query("SELECT a FROM t"))))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == sorted((number, [(number,)]) for number in range(6) for _ in range(3))


KILLED = """
import os, signal, sys
from birdenv.databases.postgres import PostgresSource, find_server
source = PostgresSource(find_server(), warm=1)
database = source.open("shop")
database.run(["CREATE TABLE t (a int)"])
kept = database.checkpoint()
database.run(["BEGIN; INSERT INTO t VALUES (1)"])
print(database._private.clone.name, flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_what_a_killed_process_left_is_swept(
    shop: PostgresServer, server_cache: Path, ours: Callable[[], set[str]], wait_until: Any
) -> None:
    before = ours()
    environment = {**os.environ, "XDG_CACHE_HOME": str(server_cache)}
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )
    assert child.stdout is not None
    name = child.stdout.readline().strip()
    assert name in ours()
    with PostgresSource(shop) as neighbour:
        neighbour.open("shop").close()
        assert name in ours(), "a living process keeps what it has"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.communicate()

    def is_swept() -> bool:
        with PostgresSource(shop) as later:
            later.check("shop")
            return ours() == before

    wait_until(is_swept)


@pytest.mark.slow
def test_shared_copies_of_an_older_template_are_swept(
    shop: PostgresServer, tmp_path: Path, database_names: Any
) -> None:
    def loaded(rows_of_it: int) -> set[str]:
        file = tmp_path / "changing.sql"
        file.write_text(f"CREATE TABLE t AS SELECT generate_series(1, {rows_of_it}) AS a")
        (dump,) = find_dumps(file)
        load_dump(shop, dump)
        with PostgresSource(shop) as source, source.open("changing") as database:
            assert rows(database.query("SELECT count(*) FROM t")) == [(rows_of_it,)]
            copies = database._around.copies
        return {copies.master, copies.reading}

    first, second = loaded(1), loaded(2)
    assert first.isdisjoint(second)
    assert second <= database_names()
    assert first.isdisjoint(database_names())


def test_a_forked_child_has_its_own(source: PostgresSource) -> None:
    with source.open("shop") as database:
        database.execute("SELECT 1")
        database.execute(WRITE)
        child = os.fork()
        if not child:
            code = 1
            try:
                with source.open("shop") as own:
                    own.execute("SELECT 1")
                    own.execute("CREATE TABLE t AS SELECT 2 AS a")
                    code = 0 if own.query("SELECT a FROM t") == QueryResult(("a",), [(2,)]) else 2
                source.close()
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        assert rows(database.query("SELECT a FROM t")) == [(1,)]
        with source.open("shop") as after:
            assert rows(after.query("SELECT count(*) FROM customers")) == [(3,)]


# --- a server that is somebody else's ----------------------------------------------------------------------


@pytest.fixture
def other() -> Postgres:
    return start_postgres()


@pytest.mark.slow
def test_on_another_server_roles_have_passwords(other: Postgres, tmp_path: Path) -> None:
    with find_server(other.admin) as server:
        load_shop(server, tmp_path, ELSEWHERE)
        with PostgresSource(server, warm=1) as source, source.open(ELSEWHERE) as database:
            who = "SELECT current_user, current_setting('is_superuser'), current_setting('temp_file_limit')"
            assert rows(database.execute(who)) == [("birdenv_agent", "off", "1GB")]
            assert kind(database.execute(WRITE)) == "ok"
            assert rows(database.execute(who)) == [("birdenv_agent", "off", "1GB")]
            login = database._private.clone.owner  # type: ignore[union-attr]
            assert login.password
            assert kind(database.execute("SELECT pg_read_file('/etc/passwd')")) == "denied"
            made = database.checkpoint()
            assert database.restore(made) is None  # type: ignore[arg-type]
            assert rows(database.query("SELECT a FROM t")) == [(1,)]
        of_this_source, _, _ = login.role.rpartition("-")
        assert of_this_source.startswith("birdenv-agent-")
        with server.connect() as connection:
            roles = "SELECT rolname FROM pg_roles WHERE starts_with(rolname, %s)"
            assert connection.execute(roles, [of_this_source]).fetchall() == []


def test_a_role_that_is_no_superuser_is_not_enough(other: Postgres, tmp_path: Path) -> None:
    with find_server(other.admin) as admin:
        load_shop(admin, tmp_path, ELSEWHERE)
    refused = pytest.raises(InputError, match=r"is not a superuser.*: name one in the DSN")
    with find_server(other.reader) as server, PostgresSource(server) as source, refused:
        source.open(ELSEWHERE)
