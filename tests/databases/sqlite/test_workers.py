"""Statements in worker processes: what nothing can stop there is killed, and costs its own episode only."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from database_files import fingerprint, write_database

from birdenv.databases import Checkpoint, EpisodeDatabase, Limits, QueryError, QueryResult, SqliteSource
from birdenv.databases.sqlite import _process_database as pool
from birdenv.databases.sqlite._worker import decoded

LIMITS = Limits(seconds=0.5)
UNSTOPPABLE = "SELECT length(printf('%.*c', 2000000000, 'x'))"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
CUSTOMERS = "SELECT count(*) FROM customers"


@pytest.fixture
def workers(source: SqliteSource) -> SqliteSource:
    return SqliteSource(source.root)


@pytest.fixture
def episode(workers: SqliteSource) -> Iterator[EpisodeDatabase]:
    with workers.open("shop", LIMITS) as database:
        yield database


def value(database: EpisodeDatabase, sql: str) -> object:
    result = database.execute(sql)
    assert isinstance(result, QueryResult), result
    return result.rows[0][0]


def error(database: EpisodeDatabase, sql: str) -> QueryError:
    result = database.execute(sql)
    assert isinstance(result, QueryError), result
    return result


def process_of(database: EpisodeDatabase) -> int:
    """The worker that holds the episode's image."""
    return database._worker.pid  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1, 2.5, 'a', x'00ff', NULL, 9e999, -9e999, 9223372036854775807",
        "SELECT CAST(x'ff41' AS TEXT), 'a' || char(0) || 'b', ''",
        "SELECT * FROM nowhere",
        "SELEC",
        "",
        "PRAGMA table_info(customers)",
        "INSERT INTO customers (name) VALUES ('New') RETURNING *",
        "DELETE FROM orders",
        "ATTACH '/tmp/x' AS x",
        "INSERT INTO customers VALUES (1, 'Ada', NULL)",
        "WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c LIMIT 500) SELECT x FROM c",
    ],
)
def test_the_answers_are_those_of_an_episode_in_this_process(
    source: SqliteSource, workers: SqliteSource, sql: str
) -> None:
    with source.open("shop", LIMITS) as here, workers.open("shop", LIMITS) as there:
        for rows in (None, 3):
            assert there.execute(sql, rows) == here.execute(sql, rows)
        assert there.query(sql) == here.query(sql)
        assert there.run([sql, CUSTOMERS]) == here.run([sql, CUSTOMERS])
        assert there.state() == here.state()
        assert there.is_private == here.is_private


def test_what_nothing_can_interrupt_is_killed_and_the_episode_is_told(
    workers: SqliteSource, episode: EpisodeDatabase
) -> None:
    before = fingerprint(workers.path("shop"))
    with workers.open("shop", LIMITS) as neighbour:
        neighbour.execute("DELETE FROM orders")
        began = time.monotonic()
        killed = error(episode, UNSTOPPABLE)
        assert time.monotonic() - began < LIMITS.wall_seconds + 4, "a loaded machine gets some slack"
        assert killed.kind == "timeout"
        assert "time by ending the process" in killed.message
        assert "lost" not in killed.message, "there was nothing to lose yet"
        assert value(episode, CUSTOMERS) == 3
        assert value(neighbour, "SELECT count(*) FROM orders") == 0
    assert fingerprint(workers.path("shop")) == before


@pytest.mark.kills
def test_a_killed_episode_goes_on_from_its_last_checkpoint(episode: EpisodeDatabase) -> None:
    episode.execute("INSERT INTO customers (name) VALUES ('Kept')")
    assert isinstance(episode.checkpoint(), Checkpoint)
    episode.execute("INSERT INTO customers (name) VALUES ('Lost')")
    assert value(episode, CUSTOMERS) == 5
    assert "since its last checkpoint is lost" in error(episode, UNSTOPPABLE).message
    assert value(episode, CUSTOMERS) == 4


@pytest.mark.slow
def test_a_killed_episode_without_a_checkpoint_goes_on_from_the_file(episode: EpisodeDatabase) -> None:
    episode.execute("DELETE FROM customers")
    error(episode, UNSTOPPABLE)
    assert value(episode, CUSTOMERS) == 3


@pytest.mark.slow
def test_sql_that_multiplies_itself_while_it_is_compiled_is_killed(episode: EpisodeDatabase) -> None:
    steps = "".join(f", a{i} AS (SELECT a.x FROM a{i - 1} a, a{i - 1} b)" for i in range(1, 30))
    assert error(episode, f"WITH a0 AS (SELECT 1 AS x){steps} SELECT * FROM a29").kind in (
        "timeout",
        "too_large",
    )
    assert value(episode, CUSTOMERS) == 3


def test_a_worker_that_dies_costs_its_own_episode(workers: SqliteSource) -> None:
    with workers.open("shop", LIMITS) as hit, workers.open("shop", LIMITS) as neighbour:
        hit.execute("DELETE FROM customers")
        neighbour.execute("DELETE FROM orders")
        os.kill(process_of(hit), signal.SIGKILL)
        died = error(hit, CUSTOMERS)
        assert (died.kind, "SIGKILL" in died.message, "is lost" in died.message) == ("engine", True, True)
        assert value(hit, CUSTOMERS) == 3
        assert value(neighbour, "SELECT count(*) FROM orders") == 0


def test_workers_are_used_again_and_keep_nothing_of_an_episode(workers: SqliteSource) -> None:
    seen = set()
    for _ in range(5):
        with workers.open("shop", LIMITS) as database:
            assert value(database, CUSTOMERS) == 3
            assert value(database, "SELECT total_changes()") == 0
            database.execute("CREATE TEMP TABLE customers (id)")
            database.execute("PRAGMA case_sensitive_like = 1")
            assert value(database, CUSTOMERS) == 0
            seen.add(process_of(database))
    assert len(seen) == 1


def test_many_reading_episodes_need_one_worker(workers: SqliteSource) -> None:
    pool.workers.close_idle()
    episodes = [workers.open("shop", LIMITS) for _ in range(20)]
    assert [value(each, CUSTOMERS) for each in episodes] == [3] * 20
    assert len(pool.workers._idle) == 1


def test_episodes_in_many_threads(workers: SqliteSource) -> None:
    failures: list[BaseException] = []

    def play(number: int) -> None:
        try:
            for turn in range(10):
                with workers.open("shop", LIMITS) as database:
                    if (number + turn) % 2:
                        database.execute(f"INSERT INTO customers (name) VALUES ('{number}')")
                    assert value(database, CUSTOMERS) == 3 + (number + turn) % 2
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=play, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_ctrl_c_while_a_statement_runs(episode: EpisodeDatabase) -> None:
    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            episode.execute(
                "SELECT count(*) FROM customers a, " + ", ".join(f"orders o{i}" for i in range(25))
            )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert value(episode, CUSTOMERS) == 3


def test_a_forked_child_leaves_the_workers_of_its_parent_alone(episode: EpisodeDatabase) -> None:
    episode.execute("INSERT INTO customers (name) VALUES ('New')")
    child = os.fork()
    if not child:  # no pytest in here: it would report twice
        answer = episode.execute("SELECT 1")
        is_told = isinstance(answer, QueryError) and "forked" in answer.message
        goes_on = value(episode, CUSTOMERS) == 3
        pool.workers.close_idle()
        os._exit(0 if is_told and goes_on else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert value(episode, CUSTOMERS) == 4


ENDLESS_TABLE = f"""
CREATE VIRTUAL TABLE notes USING fts5 (body);
DROP TABLE notes_config;
CREATE VIEW notes_config AS {ENDLESS.replace("count(*)", "i AS k, i AS v")} WHERE i < 0;
"""


@pytest.mark.every(2)
@pytest.mark.contains("S46")
@pytest.mark.parametrize("sql", [ENDLESS, "SELECT count(*) FROM notes"], ids=["query", "virtual-table"])
def test_a_worker_ends_with_its_owner_while_a_statement_runs(tmp_path: Path, sql: str) -> None:
    write_database(tmp_path, "shop", f"CREATE TABLE orders (id); {ENDLESS_TABLE}")
    program = f"""
import os, signal, threading
from birdenv.databases import Limits, SqliteSource
database = SqliteSource({str(tmp_path)!r}).open("shop", Limits(seconds=600))
database.execute("DELETE FROM orders")
print(database._worker.pid, flush=True)
threading.Timer(1, os.kill, [os.getpid(), signal.SIGKILL]).start()
print(database.query({sql!r}))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert run.returncode == -signal.SIGKILL, "the statement ended by itself"
    worker = int(run.stdout)
    deadline = time.monotonic() + 10
    while _is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_running(worker)


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Bomb:
    def __reduce__(self) -> object:
        return os.system, ("touch /tmp/birdenv-was-here",)


@pytest.mark.parametrize(
    "reply",
    [
        pickle.dumps(Bomb()),
        pickle.dumps(("error", "timeout", 5, 0.0)),
        pickle.dumps(("result", ("a",), "rows", False, 0, 0.0)),
        pickle.dumps(("state", {}, {"t": ("none",)}, ())),
        pickle.dumps(("checkpoint", (1,), 0, {})),
        pickle.dumps(("unheard of",)),
        b"",
        b"\x80\x05nonsense",
        pickle.dumps(("none",))[:-3],
    ],
    ids=range(9),
)
def test_what_a_worker_sends_can_only_be_a_plain_answer(reply: bytes) -> None:
    with pytest.raises(ValueError, match="worker"):
        decoded(reply)
    assert not Path("/tmp/birdenv-was-here").exists()


def test_a_worker_that_sends_nonsense_is_ended(
    monkeypatch: pytest.MonkeyPatch, episode: EpisodeDatabase
) -> None:
    episode.execute("DELETE FROM orders")
    with monkeypatch.context() as patched:
        patched.setattr(pool.SharedWorker, "receive", lambda *_: b"\0\1" + pickle.dumps(Bomb()))
        assert "made no sense" in error(episode, CUSTOMERS).message
    assert value(episode, CUSTOMERS) == 3


def test_a_source_that_is_gone_by_the_time_is_an_input_error(workers: SqliteSource) -> None:
    from birdenv.errors import InputError

    pool.workers.close_idle()
    database = workers.open("shop", LIMITS)
    workers.path("shop").rename(workers.path("shop").with_name("elsewhere"))
    with pytest.raises(InputError, match=r"shop\.sqlite"):
        database.execute("SELECT 1")


def test_a_file_that_is_cut_short_costs_the_worker_only(workers: SqliteSource) -> None:
    """Workers read through memory maps; what is not there any more ends them."""
    path = workers.path("shop")
    contents = path.read_bytes()
    with workers.open("shop", LIMITS) as database:
        assert value(database, CUSTOMERS) == 3
        try:
            os.truncate(path, 0)
            assert error(database, "SELECT group_concat(name) FROM customers").kind == "engine"
        finally:
            path.write_bytes(contents)
    with workers.open("shop", LIMITS) as database:
        assert value(database, CUSTOMERS) == 3


def test_maps_have_so_much_room_and_give_it_back() -> None:
    program = """
import sqlite3
from birdenv.databases.sqlite import _file as mapped
connection = sqlite3.connect(":memory:")
assert mapped.map_file(connection, 5) == 0, "nothing is mapped where nobody has said so"
mapped.map_files()
assert mapped.map_file(connection, mapped.MAPPED_BYTES + 1) == 0
assert mapped.map_file(connection, mapped.MAPPED_BYTES) == mapped.MAPPED_BYTES
assert mapped.map_file(connection, 1) == 0
mapped.give_room_back(1)
assert mapped.map_file(connection, 1) == 1
"""
    subprocess.run([sys.executable, "-c", program], check=True)
