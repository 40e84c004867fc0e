"""Episodes in many threads and processes at once: right answers in all of them, and pages shared."""

from __future__ import annotations

import multiprocessing
import queue
import threading
import time
from pathlib import Path
from typing import Any

import gymnasium
import in_a_process
import numpy as np
import pytest
from children import drop, episodes, episodes_in_child
from database_files import fingerprint, write_database
from gymnasium.vector import AsyncVectorEnv
from image_kinds import ALL, why_not

import birdenv
from birdenv.databases import Limits, QueryResult, SqliteSource
from birdenv.demo import demo_folder

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
KINDS = [kind for kind in ALL if not why_not(kind)]
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
        threading.Thread(target=lambda n=n: answers.put((n, episodes(source, n)))) for n in range(1, 6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert dict(answers.queue) == {n: expected(n) for n in range(1, 6)}
    assert fingerprint(path) == before


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


@pytest.mark.slow
@pytest.mark.skipif("fork" not in CONTEXTS, reason="processes are not forked here")
def test_a_fork_while_a_thread_waits_for_an_answer(root: Path) -> None:
    """The thread that holds the database's lock is not in the child."""
    database = SqliteSource(root).open("town", Limits(seconds=2))
    answers: list[Any] = []
    waiting = threading.Thread(target=lambda: answers.append(database.execute(ENDLESS)))
    waiting.start()
    while database._busy is None:  # type: ignore[attr-defined]
        time.sleep(0.01)
    child = multiprocessing.get_context("fork").Process(target=ask_and_drop, args=(database,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    waiting.join()
    assert "stopped after" in answers[0].message
    database.close()


def ask_and_drop(database: Any) -> None:
    assert isinstance(database.execute("SELECT 1"), QueryResult)
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
