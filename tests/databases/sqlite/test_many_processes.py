"""Episodes in many threads and processes at once: right answers in all of them, and pages shared."""

from __future__ import annotations

import multiprocessing
import queue
import sys
import threading
from pathlib import Path
from typing import Any

import gymnasium
import in_a_process
import numpy as np
import pytest
from children import drop, episodes, episodes_in_child, inherited
from database_files import fingerprint, write_database
from gymnasium.vector import AsyncVectorEnv
from image_kinds import ANYWHERE_WITH_LINUX, why_not

import birdenv
from birdenv.benchmarks import demo_folder
from birdenv.databases import QueryResult, SqliteSource
from birdenv.databases.sqlite import _file as _sqlite_file

KINDS = [kind for kind in ANYWHERE_WITH_LINUX if not why_not(kind)]
CONTEXTS = [name for name in ("fork", "spawn") if name in multiprocessing.get_all_start_methods()]


some_kinds = pytest.mark.parametrize(
    "kinds",
    [
        pytest.param(KINDS[:1], id="one kind"),
        pytest.param(KINDS, id="every kind", marks=pytest.mark.kills),
    ],
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_database(tmp_path / "databases", "town", "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
    return tmp_path / "databases"


def expected(number: int, rounds: int = 5) -> list[tuple[int, int, int]]:
    return [(2, 2 + number, 2)] * rounds


def collect(processes: list[Any], answers: Any) -> list[Any]:
    for process in processes:
        process.start()
    found = [answers.get(timeout=60) for _ in processes]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    return found


# --- threads and processes -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_threads(root: Path, kind: str) -> None:
    path = root / "town" / "town.sqlite"
    before = fingerprint(path)
    source = SqliteSource(root, image=kind)  # type: ignore[arg-type]
    answers: queue.Queue[tuple[int, object]] = queue.Queue()
    threads = [
        threading.Thread(target=lambda n=n: answers.put((n, episodes(source, n)))) for n in range(1, 17)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert dict(answers.queue) == {n: expected(n) for n in range(1, 17)}
    assert len(source._file("town")._idle) <= 2 * 16, "readers are handed round"
    assert fingerprint(path) == before


@pytest.mark.parametrize("seconds", [0.5, pytest.param(3, marks=pytest.mark.slow)])
def test_images_are_made_while_other_threads_connect(root: Path, seconds: float) -> None:
    """The hook that finds an image's connection is called for those of every thread meanwhile."""
    code = """
import sqlite3, sys, threading, time
from children import episodes
from birdenv.databases import SqliteSource
from birdenv.databases.sqlite.images import open_image
source, end, answers = SqliteSource(sys.argv[1]), time.monotonic() + float(sys.argv[2]), []
def write():
    while time.monotonic() < end:
        answers.extend(episodes(source, 1, 1))
        for _ in range(50): open_image(source.path("town")).close()
def connect():
    while time.monotonic() < end: sqlite3.connect(":memory:").close()
threads = [threading.Thread(target=work) for work in (write, write, connect, connect, connect, connect)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(set(answers))
"""
    assert in_a_process.run(code, root, seconds) == "{(2, 3, 2)}\n"


@pytest.mark.every(3)
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("kind", KINDS)
def test_processes(root: Path, kind: str, context: str) -> None:
    path = root / "town" / "town.sqlite"
    before = fingerprint(path)
    parents = SqliteSource(root, image=kind)  # type: ignore[arg-type]
    with parents.open("town") as mine:
        mine.execute("INSERT INTO t VALUES (9)")
        methods = multiprocessing.get_context(context)
        answers = methods.Queue()
        children = [
            methods.Process(target=episodes_in_child, args=(str(root), kind, n, answers)) for n in (1, 2, 3)
        ]
        assert dict(collect(children, answers)) == {n: expected(n) for n in (1, 2, 3)}
        assert episodes(parents, 4) == expected(4)
        result = mine.execute("SELECT count(*) FROM t")
        assert isinstance(result, QueryResult)
        assert result.rows == [(3,)]
    assert fingerprint(path) == before


@pytest.mark.skipif("fork" not in CONTEXTS, reason="processes are not forked here")
def test_a_forked_child_uses_no_connection_of_its_parent(root: Path) -> None:
    source = SqliteSource(root)
    assert episodes(source, 1) == expected(1)
    held = len(source._file("town")._idle)
    assert held >= 1
    methods = multiprocessing.get_context("fork")
    answers = methods.Queue()
    (found,) = collect([methods.Process(target=inherited, args=(source, answers))], answers)
    idle, left_alone, taken, seen = found
    assert (idle, taken, seen) == ([0], 0, expected(3))
    assert left_alone >= held, "and closes none of them"
    assert len(source._file("town")._idle) == held and not _sqlite_file._of_the_parent, (
        "the parent keeps them"
    )


@pytest.mark.every(3)
@pytest.mark.skipif("fork" not in CONTEXTS, reason="processes are not forked here")
@pytest.mark.parametrize("kind", KINDS)
def test_a_forked_child_that_lets_go_of_its_parents_episodes_does_them_no_harm(root: Path, kind: str) -> None:
    source = SqliteSource(root, image=kind)  # type: ignore[arg-type]
    databases = [source.open("town") for _ in range(3)]
    for database in databases:
        database.run(["BEGIN; INSERT INTO t VALUES (3)"])
    child = multiprocessing.get_context("fork").Process(target=drop, args=(databases,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    for database in databases:
        database.run(["INSERT INTO t VALUES (4); COMMIT"])
        result = database.execute("SELECT sum(a) FROM t")
        assert isinstance(result, QueryResult), result
        assert result.rows == [(10,)]
        database.close()


@pytest.mark.every(3)
@pytest.mark.skipif("fork" not in CONTEXTS, reason="processes are not forked here")
@pytest.mark.parametrize("kind", KINDS)
def test_a_forked_child_that_ends_as_programs_do(root: Path, kind: str) -> None:
    """Not by `os._exit`, as those of multiprocessing: everything is taken down in the child, too."""
    code = """
import os, sys
from birdenv.databases import SqliteSource
database = SqliteSource(sys.argv[1], image=sys.argv[2]).open("town")
database.run(["BEGIN; INSERT INTO t VALUES (3)"])
if os.fork() == 0:
    sys.exit()
os.wait()
print(database.run(["COMMIT; SELECT count(*) FROM t"]).rows, flush=True)
"""
    assert in_a_process.run(code, root, kind) == "[(3,)]\n"


@some_kinds
def test_two_programs_at_once(root: Path, kinds: list[str]) -> None:
    code = """
import sys
from children import episodes
from birdenv.databases import SqliteSource
print(episodes(SqliteSource(sys.argv[1], image=sys.argv[2]), int(sys.argv[3]), 50))
"""
    path = root / "town" / "town.sqlite"
    before = fingerprint(path)
    programs = [in_a_process.start(code, root, kind, n) for kind in kinds for n in (1, 2)]
    found = [program.communicate(timeout=60) for program in programs]
    assert found == [(f"{expected(n, 50)}\n", "") for _ in kinds for n in (1, 2)]
    assert fingerprint(path) == before


# --- Gymnasium's workers ---------------------------------------------------------------------------------

SCRIPT = (
    "CREATE TABLE IF NOT EXISTS mine (a)",
    "INSERT INTO mine VALUES (1)",
    "SELECT count(*) AS inserted FROM mine",
    "SELECT 'only reading' AS word",
)


def bird_sql() -> gymnasium.Env[Any, Any]:
    import birdenv as registered

    return gymnasium.make(f"{registered.__name__}/BirdSql-v0")


@pytest.mark.parametrize(
    ("context", "shared_memory"),
    [
        pytest.param(context, shared, marks=() if context == "fork" else pytest.mark.slow)
        for context in CONTEXTS
        for shared in (True, False)
        if shared or context == "fork"
    ],
)
def test_gymnasium_workers(context: str, shared_memory: bool) -> None:
    """Twice the same episodes: in the second nothing is left of the first."""
    before = {path: fingerprint(path) for path in demo_folder().rglob("*.sqlite")}
    assert before
    alone = bird_sql()
    alone.reset(seed=0)
    alone.step(birdenv.execute_sql("SELECT 1"))  # so that forked workers inherit readers
    envs = AsyncVectorEnv([bird_sql] * 2, context=context, shared_memory=shared_memory)
    try:
        for _ in range(2):
            envs.reset(seed=0)
            alone.reset(seed=0)
            for sql in SCRIPT:
                action = birdenv.execute_sql(sql)
                batch = {"kind": np.array([action["kind"]] * 2), "text": (action["text"],) * 2}
                observation, *_ = envs.step(batch)
                shown, *_ = alone.step(action)
                assert observation["message"] == (shown["message"],) * 2
    finally:
        envs.close()
        alone.close()
    assert {path: fingerprint(path) for path in before} == before


# --- memory ----------------------------------------------------------------------------------------------

MEGABYTES = 100
MEMORY = """
import sys
from children import anonymous_kib
from birdenv.databases import QueryResult, SqliteSource
source = SqliteSource(sys.argv[1])
number, script = int(sys.argv[2]), sys.argv[3]
def episode():
    database = source.open("large")
    assert isinstance(database.run([script]), QueryResult)
    return database
episode().close()
before = anonymous_kib()
databases = [episode() for _ in range(number)]
print(anonymous_kib() - before)
for database in databases: database.close()
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("large")
    script = f"""
    PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;
    CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);
    WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT {MEGABYTES * 1000})
      INSERT INTO t SELECT x, printf('%01000d', x) FROM c;
    """
    path = write_database(root, "large", script)
    assert path.stat().st_size > MEGABYTES * 1_000_000
    return root


WRITING = "CREATE TABLE mine (a); INSERT INTO mine VALUES (1); UPDATE t SET b = 'x' WHERE a = 500; SELECT 1"
READING = "SELECT count(*), max(b) FROM t WHERE a > 99000; SELECT b FROM t WHERE a = 5"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is told apart by /proc")
@pytest.mark.skipif("memory-map" not in KINDS, reason=why_not("memory-map") or "can be mapped")
@pytest.mark.parametrize(
    ("number", "script", "most_kib_each"),
    [(32, WRITING, 1024), (64, READING, 64)],
    ids=["writing", "reading"],
)
def test_episodes_share_the_pages_that_they_do_not_write(
    large: Path, number: int, script: str, most_kib_each: int
) -> None:
    added = int(in_a_process.run(MEMORY, large, number, script, BIRDENV_SQLITE_IMAGE="memory-map"))
    assert added < number * most_kib_each, f"{added} KiB for {number} episodes on {MEGABYTES} MB"


# --- ends of all kinds -----------------------------------------------------------------------------------

OPEN = """
import gc, os, sys, threading
from birdenv.databases import Limits, SqliteSource
source = SqliteSource(sys.argv[1], image=sys.argv[2])
def opened(limits=Limits()):
    database = source.open("town", limits)
    database.run(["CREATE TABLE x (a); CREATE TEMP TABLE y (a); BEGIN; INSERT INTO x VALUES (1)"])
    return database
ENDLESS = "INSERT INTO x WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c"
"""
ENDS: dict[str, str] = {
    "unclosed at the end": "database = opened()",
    "in a cycle at the end": "a = [opened()]; a.append(a); a[0].me = a"
    if False
    else "a = [opened()]; a.append(a)",
    "thrown away": "for _ in range(50): opened()\ngc.collect()",
    "thrown away without the collector": "gc.disable()\nfor _ in range(50): opened()",
    "in a transaction that is larger than SQLite's cache": """
for end in (lambda d: d.close(), lambda d: None, lambda d: d.checkpoint()):
    database = opened()
    large = "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 4000)"
    database.run([f"INSERT INTO x {large} SELECT zeroblob(1000) FROM c; COMMIT; BEGIN; UPDATE x SET a = 1"])
    database.run([f"INSERT INTO x {large} SELECT zeroblob(1000) FROM c; UPDATE x SET a = zeroblob(999)"])
    end(database); del database; gc.collect()""",
    "closed twice": "database = opened(); database.close(); database.close(); del database; gc.collect()",
    "closed by another thread": "d = opened(); t = threading.Thread(target=d.close); t.start(); t.join()",
    "thrown away by another thread": """
databases = [opened() for _ in range(20)]
t = threading.Thread(target=databases.clear); t.start(); t.join(); gc.collect()""",
    "after an interrupted statement": """
import signal
database = opened(Limits(seconds=20))
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    database.execute(ENDLESS)
except KeyboardInterrupt as error:
    kept = error
database.close()
del database; gc.collect()""",
    "after a statement that ran out of time": """
database = opened(Limits(seconds=0.1))
database.execute(ENDLESS)
database.checkpoint(); database.close()""",
    "sys.exit in an episode": "database = opened(); sys.exit(0)",
    "with a failing image": """
from birdenv.databases.sqlite.images import _memory_image
real = _memory_image.connect_with_handle
_memory_image.connect_with_handle = lambda *a, **k: (_ for _ in ()).throw(OSError("no"))
for _ in range(3): source.open("town").execute("CREATE TABLE z (a)")
_memory_image.connect_with_handle = real
opened(); gc.collect()""",
    "restored over an open transaction": """
database = opened(); kept = database.checkpoint()
for _ in range(20): database.run(["BEGIN; DELETE FROM t"]); database.restore(kept)""",
    "a daemon thread in an episode at the end": """
import time
def work():
    database = opened()
    while True: database.execute("INSERT INTO x VALUES (1)")
threading.Thread(target=work, daemon=True).start(); time.sleep(0.2)""",
}


@pytest.mark.every(4)
@some_kinds
@pytest.mark.parametrize("end", ENDS)
def test_no_end_of_an_episode_crashes_the_process(root: Path, end: str, kinds: list[str]) -> None:
    path = root / "town" / "town.sqlite"
    before = fingerprint(path)
    programs = [in_a_process.start(OPEN + ENDS[end], root, kind) for kind in kinds]
    for kind, program in zip(kinds, programs, strict=True):
        out, err = program.communicate(timeout=60)
        assert (program.returncode, out, err) == (0, "", ""), kind
    assert fingerprint(path) == before


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", KINDS)
def test_episodes_give_their_memory_and_files_back(root: Path, kind: str) -> None:
    code = """
import os, sys
from pathlib import Path
from birdenv.databases import SqliteSource
source = SqliteSource(sys.argv[1], image=sys.argv[2])
def held(): return len(os.listdir("/proc/self/fd")), Path("/proc/self/maps").read_text().count("town.sqlite")
def episodes(number):
    for _ in range(number):
        with source.open("town") as database: database.run(["BEGIN; INSERT INTO t VALUES (1)"])
episodes(3); before = held(); episodes(200)
print(before == held(), before[1])
"""
    if not Path("/proc/self/maps").exists():
        pytest.skip("only Linux says what a process holds")
    assert in_a_process.run(code, root, kind) == "True 0\n"
