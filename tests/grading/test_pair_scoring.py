"""Many pairs at once: the verdicts of `ExGrader`, from any number of processes, whatever becomes of them."""

from __future__ import annotations

import math
import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from written_databases import write_database

from birdenv.databases import Limits, SqliteSource
from birdenv.databases.sqlite import SqliteFileSource
from birdenv.errors import BirdenvError, InputError
from birdenv.grading import ExGrader, ExVerdict, Pair, ResultStore, score_pairs
from birdenv.grading.scoring import _pool as pool
from birdenv.grading.scoring import _score_pairs as scoring
from birdenv.processes._pool import WorkerGroup

NAMES = "SELECT name FROM item"
UNSTOPPABLE = "SELECT length(printf('%.*c', 2000000000, 'x'))"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
REPEATED = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT 'pen' FROM n"
)
PREDICTIONS = [
    NAMES,
    f"{NAMES} ORDER BY price DESC",
    "SELECT DISTINCT name FROM item",
    "SELECT nam FROM item",
    "SELEC",
    "DELETE FROM item",
    "",
    None,
    f"```sql\n{NAMES}\n```",
    REPEATED,
    "SELECT 'x', x'ff', 1.5, NULL",
    "SELECT '\udcff'",
]
GOLDS = [(NAMES,), ("SELECT 1", NAMES), ("SELECT nam FROM item",), ("SELECT DISTINCT name FROM item",), ()]
LIMITS = Limits(seconds=2.0)


@pytest.fixture
def pairs(root: Path) -> list[Pair]:
    write_database(root, "other", "CREATE TABLE item (name); INSERT INTO item VALUES ('pen'), ('cap')")
    return [Pair(name, golds, sql) for sql in PREDICTIONS for golds in GOLDS for name in ("shop", "other")]


def bare(verdicts: list[ExVerdict]) -> list[ExVerdict]:
    """Without what differs from one run to the next."""
    return [
        replace(
            verdict,
            gold_result=None,
            pred_result=None,
            gold_seconds=0,
            pred_seconds=0,
            error=verdict.error and replace(verdict.error, elapsed=0),
        )
        for verdict in verdicts
    ]


@pytest.mark.every(3)
@pytest.mark.parametrize("isolation", ["inline", "process"])
@pytest.mark.parametrize("clean", [False, True])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_verdicts_are_the_graders(
    root: Path, pairs: list[Pair], tmp_path: Path, isolation: Any, clean: bool, workers: int
) -> None:
    source = SqliteSource(root, isolation)
    metrics = ("ordered", "soft_f1")
    grader = ExGrader(source, LIMITS, clean, metrics)
    expected = bare([grader.grade(*pair) for pair in pairs])
    store = ResultStore(tmp_path / "results.sqlite")
    told: list[int] = []
    for kept in (None, store, store):
        found = score_pairs(
            pairs,
            source,
            limits=LIMITS,
            clean=clean,
            metrics=metrics,
            workers=workers,
            store=kept,
            on_done=told.append,
        )
        assert bare(found) == expected
        assert all(verdict.gold_result is verdict.pred_result is None for verdict in found)
    assert sum(told) == 3 * len(pairs)


def test_the_same_is_executed_once(root: Path, pairs: list[Pair], tmp_path: Path) -> None:
    source, store = SqliteSource(root), ResultStore(tmp_path / "results.sqlite")
    repeated = [Pair("shop", (NAMES,), sql) for sql in ("SELECT 1", "SELECT 2", NAMES)] * 50
    score_pairs(repeated, source, workers=2, store=store)
    assert store.executed == 3
    again = ResultStore(store.path)
    score_pairs(repeated, source, workers=2, store=again)
    assert (again.executed, again.found) == (0, 3)


def test_a_closed_store_is_one_whole_file(root: Path, tmp_path: Path) -> None:
    """It can be copied, also while another process has it open."""
    pairs = [Pair("shop", (NAMES,), f"SELECT {i}") for i in range(20)]
    store, copy = ResultStore(tmp_path / "results.sqlite"), tmp_path / "copy.sqlite"
    another = sqlite3.connect(store.path)
    another.execute("SELECT count(*) FROM result").fetchall()
    score_pairs(pairs, SqliteSource(root), workers=2, store=store)
    store.close()
    copy.write_bytes(store.path.read_bytes())
    another.close()
    with ResultStore(copy) as copied:
        score_pairs(pairs, SqliteSource(root), store=copied)
        assert (copied.executed, copied.found) == (0, 21)


def test_one_file_for_every_id(root: Path) -> None:
    source = SqliteFileSource(root / "shop" / "shop.sqlite", "process")
    (verdict,) = score_pairs([Pair("any", (NAMES,), NAMES + " ")], source)
    assert verdict.ex


def test_nothing_to_do(source: Any) -> None:
    assert score_pairs([], source, workers=4) == []


def test_there_must_be_a_worker(source: Any) -> None:
    with pytest.raises(ValueError, match="a worker"):
        score_pairs([], source, workers=0)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_unknown_database_is_the_callers_fault(source: Any, workers: int) -> None:
    with pytest.raises(InputError, match="nowhere"):
        score_pairs([Pair("nowhere", (NAMES,), NAMES)] * 3, source, workers=workers)


@pytest.mark.kills
def test_what_nothing_can_stop_costs_its_own_pair(root: Path) -> None:
    """The kernel ends the process; the golds of its other pairs run again in the next one."""
    limits = Limits(seconds=0.5)
    pairs = [Pair("shop", (NAMES,), f"{NAMES} WHERE {i} = {i}") for i in range(20)]
    hostile = {
        3: Pair("shop", (NAMES,), UNSTOPPABLE),
        9: Pair("shop", (UNSTOPPABLE,), NAMES),
        12: Pair("shop", (UNSTOPPABLE, NAMES), NAMES),
        15: Pair("shop", (NAMES,), ENDLESS),
    }
    for place, pair in hostile.items():
        pairs[place] = pair
    verdicts = score_pairs(pairs, SqliteSource(root, "process"), limits=limits, workers=2)
    expected = ["passed"] * 20
    expected[3] = expected[15] = "sql_timeout"
    expected[9] = "gold_error"
    assert [verdict.status for verdict in verdicts] == expected
    assert "ending the process" in verdicts[3].reason
    assert (verdicts[3].rows_gold, verdicts[12].matched_gold) == (4, 1)


def test_a_process_that_is_killed_is_replaced(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [Pair("shop", (NAMES,), f"{NAMES} WHERE {i} = {i}") for i in range(60)]
    killed = []

    def kill_one(_more: int) -> None:
        if len(killed) < 2:
            busy = [worker for worker in started[0].group.workers.values() if worker.is_alive]
            killed.append(busy[0].pid)
            os.kill(killed[-1], signal.SIGKILL)

    started: list[Any] = []
    begin = pool.ScoringPool.__enter__
    monkeypatch.setattr(pool.ScoringPool, "__enter__", lambda self: started.append(self) or begin(self))
    verdicts = score_pairs(pairs, SqliteSource(root), workers=2, on_done=kill_one)
    assert len(killed) == 2
    others = [verdict for verdict in verdicts if verdict.status != "passed"]
    assert len(others) <= 2, "at most the pairs that were being graded"
    assert all("died" in verdict.reason for verdict in others)


@pytest.mark.slow
def test_a_pair_that_is_given_up_has_all_its_scores(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "_MOST_DEATHS", 0)
    pairs = [Pair("shop", (NAMES,), UNSTOPPABLE), Pair("shop", (NAMES,), f"{NAMES} ")]
    source, limits = SqliteSource(root, "process"), Limits(seconds=0.2)
    late, right = score_pairs(pairs, source, limits=limits, metrics=("soft_f1",))
    assert (late.status, late.ex, late.metrics) == ("sql_timeout", False, {"soft_f1": 0.0})
    assert right.metrics == {"soft_f1": 1.0}


def test_a_process_that_stands_still_costs_its_pair_only(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes nothing from its socket and says nothing, however much it is sent."""
    monkeypatch.setattr(pool, "_REPLY_GRACE_SECONDS", -6.0)
    send, stopped = pool.ScoringWorker.send, []

    def send_stopped(worker: Any, data: bytes, deadline: float = math.inf) -> None:
        if not stopped and b"-- 1" in data:
            stopped.append(worker.pid)
            os.kill(worker.pid, signal.SIGSTOP)
        send(worker, data, deadline)

    monkeypatch.setattr(pool.ScoringWorker, "send", send_stopped)
    pairs = [Pair("shop", (NAMES,), f"{NAMES} -- {i}" + "x" * 900_000) for i in range(8)]
    verdicts = score_pairs(pairs, SqliteSource(root), limits=Limits(seconds=0.5), workers=2)
    assert [verdict.status for verdict in verdicts] == ["passed"] * 8
    assert not is_running(stopped[0])


def test_each_process_has_the_time_that_its_own_pairs_need(root: Path) -> None:
    limits = Limits(seconds=2.0)
    setting = pool.ScoringConfig(str(root), None, "inline", (limits.seconds, 10, 1000), False, (), None, 0)
    with pool.ScoringPool(setting, 2) as two:
        two.give(0, [(0, "shop", (NAMES,) * 50, "SELECT 1", {})])
        two.give(1, [(1, "shop", (NAMES,), "SELECT 1", {})])
        first, second = (two.group._members[worker].seconds for worker in (0, 1))
    assert first - second == 49 * (limits.wall_seconds + 1)


@pytest.mark.slow
def test_processes_that_cannot_start_are_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool.pools["process"].close_idle()
    send = pool.ScoringWorker.send

    def send_and_kill(worker: Any, data: bytes, deadline: float = math.inf) -> None:
        send(worker, data, deadline)
        os.kill(worker.pid, signal.SIGKILL)

    monkeypatch.setattr(pool.ScoringWorker, "send", send_and_kill)
    with pytest.raises(BirdenvError, match="die before they do anything"):
        score_pairs([Pair("shop", (NAMES,), NAMES)] * 2, SqliteSource(root, "process"), workers=2)


def test_processes_are_used_again(root: Path) -> None:
    pool.pools["inline"].close_idle()
    pairs = [Pair("shop", (NAMES,), str(i)) for i in range(4)]
    seen = set()
    for _ in range(3):
        score_pairs(pairs, SqliteSource(root), workers=2)
        seen |= {worker.pid for worker in pool.pools["inline"]._idle}
    assert len(seen) == 2


def test_changed_data_are_seen_by_processes_that_know_the_old(root: Path) -> None:
    source = SqliteSource(root, "process")
    pair = Pair("shop", ("SELECT count(*) FROM item",), "SELECT 4")
    assert score_pairs([pair], source)[0].ex
    write_database(root, "shop", "CREATE TABLE item (name); INSERT INTO item VALUES (1)")
    assert not score_pairs([pair], source)[0].ex


def test_ctrl_c_leaves_no_process_behind(root: Path, tmp_path: Path) -> None:
    program = f"""
import json, sys
from birdenv.databases import SqliteSource, Limits
from birdenv.grading import Pair, score_pairs
from birdenv.grading.scoring import _pool as pool
start = pool.ScoringPool.give
def give(self, worker, work):
    is_given = start(self, worker, work)
    print(self.group.workers[worker].pid, flush=True)
    return is_given
pool.ScoringPool.give = give
pairs = [Pair("shop", ({NAMES!r}, str(i)), {ENDLESS!r} + " " * i) for i in range(4)]
score_pairs(pairs, SqliteSource({str(root)!r}, "process"), limits=Limits(seconds=60), workers=2)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    workers = [int(process.stdout.readline()) for _ in range(2)]
    assert all(map(is_running, workers))
    process.send_signal(signal.SIGINT)
    assert process.wait(20) != 0
    process.stdout.close()
    assert not any(map(is_running, workers))


def test_ctrl_c_at_the_very_end_spoils_no_process(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have said something by then that nobody has read."""
    pairs = [Pair("shop", (NAMES,), f"{NAMES} WHERE {i} = {i}") for i in range(9)]
    with monkeypatch.context() as patched:
        setting = pool.ScoringConfig(str(root), None, "inline", (2.0, 10, 1000), False, (), None, 0)
        with pytest.raises(KeyboardInterrupt), pool.ScoringPool(setting, 3) as three:
            patched.setattr(WorkerGroup, "wait", interrupted)
            three.finish()
    verdicts = score_pairs(pairs, SqliteSource(root), workers=3)
    assert [verdict.status for verdict in verdicts] == ["passed"] * 9


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
