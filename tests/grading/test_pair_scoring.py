"""Many pairs at once: the verdicts of `ExGrader`, from any number of processes, whatever becomes of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from written_databases import write_database

from birdenv.databases import Limits, SqliteSource
from birdenv.databases.sqlite import SqliteFileSource
from birdenv.errors import BirdenvError, InputError
from birdenv.grading import ExGrader, ExVerdict, Pair, score_pairs
from birdenv.grading.workers import _grading

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
@pytest.mark.parametrize("clean", [False, True])
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_verdicts_are_the_graders(root: Path, pairs: list[Pair], clean: bool, workers: int) -> None:
    source = SqliteSource(root)
    metrics = ("ordered", "soft_f1")
    grader = ExGrader(source, LIMITS, clean, metrics)
    expected = bare([grader.grade(*pair) for pair in pairs])
    told: list[int] = []
    found = score_pairs(
        pairs, source, limits=LIMITS, clean=clean, metrics=metrics, workers=workers, on_done=told.append
    )
    assert bare(found) == expected
    assert all(verdict.gold_result is verdict.pred_result is None for verdict in found)
    assert sum(told) == len(pairs)


@pytest.mark.parametrize("workers", [1, 3])
def test_many_pairs_of_one_gold(root: Path, workers: int) -> None:
    pairs = [Pair("shop", (NAMES,), f"{NAMES} WHERE id < {i % 7}") for i in range(500)]
    verdicts = score_pairs(pairs, SqliteSource(root), workers=workers)
    assert [verdict.ex for verdict in verdicts] == [i % 7 > 4 for i in range(500)]


def test_one_file_for_every_id(root: Path) -> None:
    source = SqliteFileSource(root / "shop" / "shop.sqlite")
    (verdict,) = score_pairs([Pair("any", (NAMES,), NAMES + " ")], source)
    assert verdict.ex


def test_nothing_to_do(source: Any) -> None:
    assert score_pairs([], source, workers=4) == []


def test_there_must_be_a_worker(source: Any) -> None:
    with pytest.raises(ValueError, match="`workers` must be at least 1"):
        score_pairs([], source, workers=0)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_unknown_database_is_the_callers_fault(source: Any, workers: int) -> None:
    with pytest.raises(InputError, match="nowhere"):
        score_pairs([Pair("nowhere", (NAMES,), NAMES)] * 3, source, workers=workers)


@pytest.mark.kills
def test_what_nothing_can_stop_costs_its_own_pair(root: Path) -> None:
    """The kernel ends the process; its other pairs are graded in the next one."""
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
    verdicts = score_pairs(pairs, SqliteSource(root), limits=limits, workers=2)
    expected = ["passed"] * 20
    expected[3] = expected[15] = "sql_timeout"
    expected[9] = "gold_error"
    assert [verdict.status for verdict in verdicts] == expected
    assert "killing the process" in verdicts[3].reason
    assert (verdicts[3].rows_gold, verdicts[12].matched_gold) == (4, 1)


def test_a_process_that_is_killed_is_replaced(root: Path) -> None:
    pairs = [Pair("shop", (NAMES,), f"{NAMES} WHERE {i} = {i}") for i in range(60)]
    killed = []
    busy: list[Any] = []

    def kill_one(_more: int) -> None:
        with suppress(RuntimeError):  # the set changes while it is looked at: the next time will do
            busy[:] = [process for process in _grading._pool._all if process.at_work and process.is_alive]
        if len(killed) < 2 and busy:
            killed.append(busy[0].pid)
            os.kill(killed[-1], signal.SIGKILL)

    verdicts = score_pairs(pairs, SqliteSource(root), workers=2, on_done=kill_one)
    assert killed
    assert {verdict.status for verdict in verdicts} == {"passed"}, "what was being graded is graded again"


@pytest.mark.parametrize("deaths", [0, 1])
@pytest.mark.slow
def test_a_pair_that_is_given_up_has_all_its_scores(
    root: Path, monkeypatch: pytest.MonkeyPatch, deaths: int
) -> None:
    monkeypatch.setattr(_grading, "_MOST_DEATHS", deaths)
    pairs = [Pair("shop", (UNSTOPPABLE,) * (deaths + 1), UNSTOPPABLE), Pair("shop", (NAMES,), f"{NAMES} ")]
    limits = Limits(seconds=0.2)
    lost, right = score_pairs(pairs, SqliteSource(root), limits=limits, metrics=("soft_f1",))
    assert (lost.ex, lost.metrics) == (False, {"soft_f1": 0.0})
    assert right.metrics == {"soft_f1": 1.0}


@pytest.mark.slow
def test_a_process_that_stands_still_costs_its_pair_only(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes nothing from its socket and says nothing, however much it is sent."""
    monkeypatch.setattr(_grading, "_GRACE_SECONDS", 4.0)  # the start of a worker included
    monkeypatch.setattr(_grading, "_STATEMENTS", 0)
    call, stopped = _grading.GradingProcess.call, []

    def call_stopped(process: Any, request: Any, **how: Any) -> Any:
        if not stopped:
            stopped.append(process.pid)
            os.kill(process.pid, signal.SIGSTOP)
        return call(process, request, **how)

    monkeypatch.setattr(_grading.GradingProcess, "call", call_stopped)
    pairs = [Pair("shop", (NAMES,), f"{NAMES} -- {i}" + "x" * 900_000) for i in range(8)]
    verdicts = score_pairs(pairs, SqliteSource(root), limits=Limits(seconds=0.5), workers=2)
    assert [verdict.status for verdict in verdicts] == ["passed"] * 8
    assert not is_running(stopped[0])


def test_processes_that_cannot_start_are_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _grading._pool.close_idle()
    call = _grading.GradingProcess.call

    def call_killed(process: Any, request: Any, **how: Any) -> Any:
        os.kill(process.pid, signal.SIGKILL)
        return call(process, request, **how)

    monkeypatch.setattr(_grading.GradingProcess, "call", call_killed)
    with pytest.raises(BirdenvError, match="die as soon as they start"):
        score_pairs([Pair("shop", (NAMES,), NAMES)] * 2, SqliteSource(root), workers=2)


def test_processes_are_used_again(root: Path) -> None:
    _grading._pool.close_idle()
    pairs = [Pair("shop", (NAMES,), str(i)) for i in range(4)]
    seen = set()
    for _ in range(3):
        score_pairs(pairs, SqliteSource(root), workers=2)
        seen |= {process.pid for process in _grading._pool._idle}
    assert len(seen) <= 2


def test_changed_data_are_seen_by_processes_that_know_the_old(root: Path) -> None:
    source = SqliteSource(root)
    pair = Pair("shop", ("SELECT count(*) FROM item",), "SELECT 4")
    assert score_pairs([pair], source)[0].ex
    write_database(root, "shop", "CREATE TABLE item (name); INSERT INTO item VALUES (1)")
    assert not score_pairs([pair], source)[0].ex


@pytest.mark.every(2)
@pytest.mark.parametrize("door", ["score_pairs(pairs, source, limits=limits, workers=2)", "grade()"])
def test_ctrl_c_leaves_no_process_behind(root: Path, door: str) -> None:
    program = f"""
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from birdenv.databases import SqliteSource, Limits
from birdenv.grading import ExGrader, Pair, score_pairs
from birdenv.grading.workers import _grading
call = _grading.GradingProcess.call
def told(self, *request, **how):
    os.write(1, f"{{self.pid}}\\n".encode())
    return call(self, *request, **how)
_grading.GradingProcess.call = told
source, limits = SqliteSource({str(root)!r}), Limits(seconds=60)
pairs = [Pair("shop", ({NAMES!r}, str(i)), {ENDLESS!r} + " " * i) for i in range(4)]
grade = lambda: ExGrader(source, limits).grade(*pairs[0])
{door}
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    workers = [int(process.stdout.readline()) for _ in range(1 if door == "grade()" else 2)]
    time.sleep(0.3)
    assert all(map(is_running, workers))
    process.send_signal(signal.SIGINT)
    assert process.wait(30) != 0
    process.stdout.close()
    deadline = time.monotonic() + 10
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, workers))


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
