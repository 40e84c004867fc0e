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
from birdenv.databases.sqlite._process_database import _read
from birdenv.errors import InfrastructureError
from birdenv.processes import pool as process_pool
from birdenv.processes.child import ANSWER
from birdenv.processes.messages import unpacked
from birdenv.processes.process import ChildProcess

LIMITS = Limits(seconds=0.5)
UNSTOPPABLE = "SELECT length(printf('%.*c', 2000000000, 'x'))"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
CUSTOMERS = "SELECT count(*) FROM customers"


@pytest.fixture
def episode(source: SqliteSource) -> Iterator[EpisodeDatabase]:
    with source.open("shop", LIMITS) as database:
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


def test_what_nothing_can_interrupt_is_killed_and_the_episode_is_told(
    source: SqliteSource, episode: EpisodeDatabase
) -> None:
    before = fingerprint(source.path("shop"))
    with source.open("shop", LIMITS) as neighbour:
        neighbour.execute("DELETE FROM orders")
        began = time.monotonic()
        killed = error(episode, UNSTOPPABLE)
        assert time.monotonic() - began < LIMITS.wall_seconds + 4, "a loaded machine gets some slack"
        assert killed.kind == "timeout"
        assert "time by killing the process" in killed.message
        assert "lost" not in killed.message, "there was nothing to lose yet"
        assert value(episode, CUSTOMERS) == 3
        assert value(neighbour, "SELECT count(*) FROM orders") == 0
    assert fingerprint(source.path("shop")) == before


@pytest.mark.kills
def test_a_killed_episode_goes_on_from_its_last_checkpoint(episode: EpisodeDatabase) -> None:
    episode.execute("INSERT INTO customers (name) VALUES ('Kept')")
    assert isinstance(episode.checkpoint(), Checkpoint)
    episode.execute("INSERT INTO customers (name) VALUES ('Lost')")
    assert value(episode, CUSTOMERS) == 5
    assert "since the last checkpoint of the episode are lost" in error(episode, UNSTOPPABLE).message
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


def test_a_worker_that_dies_costs_its_own_episode(source: SqliteSource) -> None:
    with source.open("shop", LIMITS) as hit, source.open("shop", LIMITS) as neighbour:
        hit.execute("DELETE FROM customers")
        neighbour.execute("DELETE FROM orders")
        os.kill(process_of(hit), signal.SIGKILL)
        died = error(hit, CUSTOMERS)
        assert (died.kind, "SIGKILL" in died.message, "are lost" in died.message) == ("engine", True, True)
        assert value(hit, CUSTOMERS) == 3
        assert value(neighbour, "SELECT count(*) FROM orders") == 0


def test_workers_are_used_again_and_keep_nothing_of_an_episode(source: SqliteSource) -> None:
    seen = set()
    for _ in range(5):
        with source.open("shop", LIMITS) as database:
            assert value(database, CUSTOMERS) == 3
            assert value(database, "SELECT total_changes()") == 0
            database.execute("CREATE TEMP TABLE customers (id)")
            database.execute("PRAGMA case_sensitive_like = 1")
            assert value(database, CUSTOMERS) == 0
            seen.add(process_of(database))
    assert len(seen) == 1


def test_many_reading_episodes_need_one_worker(source: SqliteSource) -> None:
    pool.workers.close_idle()
    episodes = [source.open("shop", LIMITS) for _ in range(20)]
    assert [value(each, CUSTOMERS) for each in episodes] == [3] * 20
    assert len(pool.workers._idle) == 1


def test_episodes_in_many_threads(source: SqliteSource) -> None:
    failures: list[BaseException] = []

    def play(number: int) -> None:
        try:
            for turn in range(10):
                with source.open("shop", LIMITS) as database:
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


@pytest.mark.slow
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
        pickle.dumps((False, Bomb())),
        pickle.dumps((False, ("error", "timeout", 5, 0.0))),
        pickle.dumps((False, ("result", ("a",), "rows", False, 0, 0.0))),
        pickle.dumps((False, ("state", {}, {"t": ("none",)}, ()))),
        pickle.dumps((False, ("checkpoint", (1,), 0, {}))),
        pickle.dumps((False, ("unheard of",))),
        pickle.dumps(("none",)),
        b"",
        b"\x80\x05nonsense",
        pickle.dumps((False, ("none",)))[:-3],
    ],
    ids=range(10),
)
def test_what_a_worker_sends_can_only_be_a_plain_answer(reply: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        _read(unpacked(reply))
    assert not Path("/tmp/birdenv-was-here").exists()


def test_a_worker_that_sends_nonsense_is_ended(
    monkeypatch: pytest.MonkeyPatch, episode: EpisodeDatabase
) -> None:
    episode.execute("DELETE FROM orders")
    with monkeypatch.context() as patched:
        patched.setattr("birdenv.processes.process.receive", lambda *_: ANSWER + pickle.dumps(Bomb()))
        assert "its answer was invalid" in error(episode, CUSTOMERS).message
    assert value(episode, CUSTOMERS) == 3


def test_a_source_that_is_gone_by_the_time_is_an_input_error(source: SqliteSource) -> None:
    from birdenv.errors import InputError

    pool.workers.close_idle()
    database = source.open("shop", LIMITS)
    source.path("shop").rename(source.path("shop").with_name("elsewhere"))
    with pytest.raises(InputError, match=r"shop\.sqlite"):
        database.execute("SELECT 1")


def test_a_file_that_is_cut_short_costs_the_worker_only(source: SqliteSource) -> None:
    """Workers read through memory maps; what is not there any more ends them."""
    path = source.path("shop")
    contents = path.read_bytes()
    with source.open("shop", LIMITS) as database:
        assert value(database, CUSTOMERS) == 3
        try:
            os.truncate(path, 0)
            assert error(database, "SELECT group_concat(name) FROM customers").kind == "engine"
        finally:
            path.write_bytes(contents)
    with source.open("shop", LIMITS) as database:
        assert value(database, CUSTOMERS) == 3


# --- an episode that writes keeps its worker -------------------------------------------------------------


def pids(databases: list[EpisodeDatabase]) -> set[int]:
    return {process_of(database) for database in databases}


def test_episodes_that_write_have_a_worker_each_until_they_are_closed_or_restored(
    source: SqliteSource,
) -> None:
    databases = [source.open("shop", LIMITS) for _ in range(pool.MOST_WORKERS + 3)]
    for number, database in enumerate(databases):
        database.run(["BEGIN", f"INSERT INTO customers (name) VALUES ('new {number}')"])
    assert len(pids(databases)) == len(databases)
    assert [value(each, CUSTOMERS) for each in databases] == [4] * len(databases)
    empty = source.open("shop").checkpoint()
    assert isinstance(empty, Checkpoint)
    assert databases[0].restore(empty) is None
    assert databases[0]._worker is None  # type: ignore[attr-defined]
    for database in databases:
        database.close()
    assert len(pool.workers._idle) <= pool._MOST_IDLE
    assert not any(process.at_work for process in list(pool.workers._all))


def test_sixty_four_reading_episodes_in_threads_need_a_worker_a_core(source: SqliteSource) -> None:
    pool.workers.close_idle()
    seen: set[int] = set()

    def read() -> None:
        with source.open("shop", Limits(seconds=20)) as database:
            for _ in range(3):
                assert value(database, CUSTOMERS) == 3
                seen.update(process.pid for process in list(pool.workers._all) if process.is_alive)

    threads = [threading.Thread(target=read) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) <= pool.MOST_WORKERS


IN_64_ENVIRONMENTS = f"""
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from birdenv.databases import Limits, SqliteSource
from birdenv.databases.sqlite._process_database import workers
source = SqliteSource(sys.argv[1])
databases = [source.open("shop", Limits(seconds=600)) for _ in range(int(sys.argv[3]))]
ended = []

def run(database):
    try:
        database.execute({ENDLESS!r})
    except ValueError as error:
        ended.append(str(error))

threads = [threading.Thread(target=run, args=(database,)) for database in databases]
for thread in threads:
    thread.start()
time.sleep(0.5)
try:
    print(*[process.pid for process in workers._all], flush=True)  # Ctrl-C may come as soon as it is read
    if sys.argv[2] == "Ctrl-C":
        time.sleep(60)
except KeyboardInterrupt:
    pass
for database in databases:
    database.close()
for thread in threads:
    thread.join(20)
left = sum(process.is_alive for process in list(workers._all))
print(ended == ["this database is closed"] * len(databases), left, flush=True)
"""


@pytest.mark.parametrize(
    ("how", "count"),
    [
        ("Ctrl-C", 6),
        pytest.param("Ctrl-C", 64, marks=pytest.mark.kills),
        pytest.param("close", 64, marks=pytest.mark.kills),
    ],
)
def test_endless_statements_in_64_environments_are_ended(source: SqliteSource, how: str, count: int) -> None:
    program = [sys.executable, "-c", IN_64_ENVIRONMENTS, str(source.root), how, str(count)]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    busy = [int(pid) for pid in process.stdout.readline().split()]
    assert len(busy) == pool.MOST_WORKERS
    if how == "Ctrl-C":
        process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    assert (process.wait(30), rest) == (0, "True 0\n")
    process.stdout.close()
    assert not any(map(_is_running, busy))


@pytest.mark.slow
def test_a_thousand_databases_are_dropped_without_close(source: SqliteSource) -> None:
    before = {process.pid for process in list(pool.workers._all) if process.is_alive}
    for number in range(1_000):
        database = source.open("shop", LIMITS)
        if number % 100 == 0:
            database.execute("DELETE FROM orders")
        del database
    assert len({process.pid for process in list(pool.workers._all) if process.is_alive} - before) <= 2
    with source.open("shop", LIMITS) as database:
        assert value(database, CUSTOMERS) == 3


def test_where_memory_runs_out_an_episode_that_writes_is_told(
    source: SqliteSource, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with source.open("shop", LIMITS) as writing, source.open("shop", LIMITS) as late:
        writing.execute("DELETE FROM orders")
        (tmp_path / "meminfo").write_text("MemTotal: 8000000 kB\nMemAvailable: 100000 kB\n")
        monkeypatch.setattr(process_pool, "_MACHINE", tmp_path / "meminfo")
        with pytest.raises(InfrastructureError, match="97 MiB left"):
            late.execute("DELETE FROM customers")
        assert value(late, CUSTOMERS) == 3, "it has written nothing"
        assert value(writing, "SELECT count(*) FROM orders") == 0, "the other episode goes on"


def test_where_no_process_can_be_started_the_others_go_on(
    source: SqliteSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    with source.open("shop", LIMITS) as writing, source.open("shop", LIMITS) as late:
        writing.execute("DELETE FROM orders")
        pool.workers.close_idle()
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        with pytest.raises(InfrastructureError, match="cannot start a child process"):
            late.execute(CUSTOMERS)
        assert value(writing, "SELECT count(*) FROM orders") == 0
        monkeypatch.undo()
        assert value(late, CUSTOMERS) == 3


@pytest.mark.parametrize("when", ["while it starts", "while it answers", "in a transaction"])
def test_a_worker_that_is_killed(source: SqliteSource, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    pool.workers.close_idle()
    with source.open("shop", Limits(seconds=20)) as database:
        if when == "in a transaction":
            database.run(["BEGIN", "DELETE FROM customers"])
            os.kill(process_of(database), signal.SIGKILL)
            assert "are lost" in error(database, CUSTOMERS).message
        else:
            delay = 0.3 if when == "while it answers" else 0.0
            call = ChildProcess.call

            def killed(process: ChildProcess, *request: object, **how: object) -> object:
                threading.Timer(delay, os.kill, (process.pid, signal.SIGKILL)).start()
                return call(process, *request, **how)  # type: ignore[arg-type]

            with monkeypatch.context() as patched:
                patched.setattr(ChildProcess, "call", killed)
                died = error(database, ENDLESS)
            assert (died.kind, "SIGKILL" in died.message) == ("engine", True)
        assert value(database, CUSTOMERS) == 3
