"""Results kept on disk: found again as they were, in any process, and never anybody else's file."""

from __future__ import annotations

import math
import os
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from birdenv.grading._result_store import digest_of_key
from written_databases import write_database

from birdenv.databases import Limits, QueryError, Scope, SqliteSource
from birdenv.databases.cache import Key, ResultCache, StaleResultError
from birdenv.databases.sqlite import FileId, _file
from birdenv.errors import InputError
from birdenv.grading import ExGrader, Pair, ResultStore, score_pairs
from birdenv.grading import _result_store as module
from birdenv.grading._fetched_rows import FetchedRows

NAMES = "SELECT name FROM item"
CELLS: list[tuple[Any, ...]] = [
    (None, 0, -1, 2**63 - 1, -(2**63)),
    (0.1, -0.0, math.inf, 5e-324, 1.0),
    ("", "naïve 雪", "a\0b", "\udcff", "x" * 5000),
    (b"", b"\0\xff", bytes(3000), "1", 1),
]


@pytest.fixture
def store(tmp_path: Path) -> ResultStore:
    return ResultStore(tmp_path / "cache" / "results.sqlite")


def key(name: str, seconds: float = 30.0) -> Key:
    """Where the digest is known from the contents alone."""
    return Key(Scope("engine", "contents", Limits(seconds), lambda: "digest"), "query", None, name)


def result(*rows: tuple[Any, ...], elapsed: float = 0.25) -> FetchedRows:
    return FetchedRows(tuple("abcde"[: len(rows[0])]) if rows else ("a",), list(rows), {}, len(rows), elapsed)


def reopened(store: ResultStore) -> ResultStore:
    store.close()
    return ResultStore(store.path, store.most_bytes)


def test_every_cell_comes_back_as_it_was(store: ResultStore) -> None:
    store.keep(key("k"), result(*CELLS))
    for opened in (store, reopened(store)):
        found = opened.find(key("k"))
        assert isinstance(found, FetchedRows)
        assert found == result(*CELLS)
        assert [list(map(type, row)) for row in found.rows] == [list(map(type, row)) for row in CELLS]
        assert math.copysign(1, found.rows[1][1]) == -1
        assert found.elapsed == 0.25


def test_what_was_counted_and_errors_come_back_too(store: ResultStore) -> None:
    counted = FetchedRows(("a",), [(1,)] * 3, {(1,): 7, (None,): 2}, 12, 0.5)
    error = QueryError("missing", "no such column: nam", 0.125)
    store.keep(key("counted"), counted)
    store.keep(key("error"), error)
    again = reopened(store)
    assert again.find(key("counted")) == counted
    found = again.find(key("error"))
    assert (found, found and found.elapsed) == (error, 0.125)
    assert again.find(key("nothing")) is None


@pytest.mark.parametrize(
    "error",
    [
        QueryError("timeout", "stopped after 30 s"),
        QueryError("engine", "the process that ran it died: it was ended by SIGKILL"),
        QueryError("engine", "disk I/O error"),
        QueryError("too_large", "out of memory"),
        QueryError("engine", "database disk image is malformed"),
    ],
)
def test_what_may_be_the_machines_is_not_kept(store: ResultStore, error: QueryError) -> None:
    store.keep(key("k"), error)
    assert store.find(key("k")) is None


def test_a_result_that_took_longer_than_is_allowed_now_is_not_found(store: ResultStore) -> None:
    store.keep(key("k"), result((1,), elapsed=5.0))
    assert store.find(key("k", 2.4)) is None
    assert store.find(key("k", 2.6)) is not None, "a second run has twice as long"


def test_the_key_tells_everything_apart_that_a_result_depends_on() -> None:
    scope = Scope("SQLite 3", "file", Limits(seconds=1, rows=10, bytes=20))
    base = Key(scope, "query", None, "SELECT 1")
    limits = [Limits(seconds=1, rows=11, bytes=20), Limits(seconds=1, rows=10, bytes=21)]
    others = [
        base._replace(statement="SELECT  1"),
        base._replace(rows=1),
        base._replace(method="execute"),
        base._replace(scope=replace(scope, engine="SQLite 4")),
        *[base._replace(scope=replace(scope, limits=other)) for other in limits],
    ]
    assert len({digest_of_key(key, "digest") for key in (base, *others)} | {digest_of_key(base, "x")}) == 8
    slower = base._replace(
        scope=replace(scope, limits=Limits(seconds=2, rows=10, bytes=20), contents="other")
    )
    assert digest_of_key(slower, "digest") == digest_of_key(base, "digest")


def test_only_plain_queries_are_kept(store: ResultStore) -> None:
    for other in (key("k")._replace(method="execute"), key("k")._replace(scope=Scope("e", "c", Limits()))):
        store.keep(other, result((1,)))
        assert store.find(other) is None


def test_results_that_are_too_large_are_not_kept(store: ResultStore) -> None:
    store.keep(key("cells"), result(*[(1, 2, 3, 4, 5)] * 500_000))
    store.keep(key("text"), result(("x" * 20_000_000,)))
    assert store.find(key("cells")) is None
    assert store.find(key("text")) is None


def test_the_file_stays_within_its_bound_and_keeps_what_was_used_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ResultStore(tmp_path / "r.sqlite", most_bytes=100_000)
    monkeypatch.setattr(module, "_hour", lambda: 1)
    for number in range(9):
        store.keep(key(str(number)), result((bytes(10_000),)))
    store.flush()
    monkeypatch.setattr(module, "_hour", lambda: 2)
    assert store.find(key("0")) is not None
    for number in range(9, 12):
        store.keep(key(str(number)), result((bytes(10_000),)))
    store.flush()
    kept = [number for number in range(12) if store.find(key(str(number))) is not None]
    assert 0 in kept and 11 in kept
    assert 1 not in kept
    assert 6 <= len(kept) <= 9


def test_a_grader_executes_only_what_is_not_known(root: Path, store: ResultStore) -> None:
    predictions = [NAMES + " ", "SELECT 'x'", "SELECT nam FROM item", "SELECT DISTINCT name FROM item"]

    def verdicts(store: ResultStore | None) -> list[Any]:
        grader = ExGrader(SqliteSource(root), cache=ResultCache(store))
        graded = [grader.grade("shop", [NAMES], prediction) for prediction in predictions]
        return [replace(verdict, gold_seconds=0, pred_seconds=0) for verdict in graded]

    first = verdicts(store)
    assert (store.executed, store.found) == (5, 0)
    again = reopened(store)
    assert verdicts(again) == first == verdicts(None)
    assert (again.executed, again.found) == (0, 5)


def test_what_was_fetched_of_a_prediction_must_be_enough(root: Path, store: ResultStore) -> None:
    """A gold with more rows needs more of the prediction; then it is executed, and what it gave kept."""
    count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT i FROM n"
    grader = ExGrader(SqliteSource(root), cache=ResultCache(store))
    for golds, executed in (([NAMES], 2), ([count.format(3000)], 4), ([NAMES], 4), ([count.format(2000)], 5)):
        grader.grade("shop", golds, count.format(5000))
        assert store.executed == executed


def test_other_data_limits_and_clocks_are_executed(root: Path, store: ResultStore) -> None:
    def grade(gold: str, limits: Limits = Limits()) -> int:  # noqa: B008
        before = store.executed
        ExGrader(SqliteSource(root), limits, cache=ResultCache(store)).grade("shop", [gold], "SELECT 1")
        return store.executed - before

    assert [grade(NAMES), grade(NAMES)] == [2, 0]
    assert grade(NAMES, Limits(rows=5000)) == 2
    assert [grade("SELECT date('now')"), grade("SELECT date('now')")] == [1, 1]
    assert [grade("SELECT 'now'"), grade("SELECT 'now'")] == [1, 0], "the engine knows better than the text"
    with sqlite3.connect(root / "shop" / "shop.sqlite") as connection:
        connection.execute("INSERT INTO sale VALUES (9, '2030-01-01')")
    connection.close()
    assert grade(NAMES) == 2


def test_what_reads_the_clock_through_a_view_is_read_each_time(tmp_path: Path, store: ResultStore) -> None:
    write_database(tmp_path, "days", "CREATE VIEW today AS SELECT date('now') AS day")
    for _ in range(2):
        grader = ExGrader(SqliteSource(tmp_path), cache=ResultCache(store))
        grader.grade("days", ["SELECT day FROM today"], "SELECT 1")
    assert (store.executed, store.found) == (3, 1)


def test_a_clock_in_a_default_value_is_never_read(tmp_path: Path, store: ResultStore) -> None:
    write_database(tmp_path, "log", "CREATE TABLE t (a, at DEFAULT CURRENT_TIMESTAMP)")
    for _ in range(2):
        ExGrader(SqliteSource(tmp_path), cache=ResultCache(store)).grade(
            "log", ["SELECT a FROM t"], "SELECT 1"
        )
    assert (store.executed, store.found) == (2, 2)


def test_a_result_that_changed_on_the_disk_is_not_believed(root: Path, store: ResultStore) -> None:
    """One bit of it, which no structure of the file shows."""
    prediction = "SELECT 'pen' UNION ALL SELECT 'ink'"
    expected = ExGrader(SqliteSource(root), cache=ResultCache(store)).grade("shop", [NAMES], prediction)
    store.close()
    connection = sqlite3.connect(store.path)
    for key, value in connection.execute("SELECT key, value FROM result").fetchall():
        assert b"ink" in value
        connection.execute("UPDATE result SET value = ? WHERE key = ?", (value.replace(b"ink", b"inj"), key))
    connection.commit()
    connection.close()
    again = ResultStore(store.path)
    verdict = ExGrader(SqliteSource(root), cache=ResultCache(again)).grade("shop", [NAMES], prediction)
    assert verdict.expected == expected.expected
    assert (again.executed, again.found) == (2, 0)


def test_a_digest_is_worked_out_once_for_a_file_that_stays_the_same(
    root: Path, store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SETTLED_NS", 0)
    path, worked = root / "shop" / "shop.sqlite", []

    def version() -> FileId:
        contents = SqliteSource(root).version("shop")
        assert isinstance(contents, FileId)
        return contents

    def work_out() -> str:
        worked.append(1)
        return f"digest {len(worked)}"

    assert [store.digest(version(), work_out) for _ in range(2)] == ["digest 1"] * 2
    again = reopened(store)
    assert again.digest(version(), work_out) == "digest 1"
    before = path.stat()
    time.sleep(0.02)
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert again.digest(version(), work_out) == "digest 2", "the same size and time stamp"
    Path(f"{path}-wal").touch()
    assert [again.digest(version(), work_out) for _ in range(2)] == ["digest 3", "digest 4"]


def test_a_file_that_changed_a_moment_ago_may_change_again_unseen(root: Path, store: ResultStore) -> None:
    worked: list[int] = []
    (root / "shop" / "shop.sqlite").touch()
    contents = SqliteSource(root).version("shop")
    assert isinstance(contents, FileId)
    for _ in range(2):
        store.digest(contents, lambda: str(worked.append(1)))
    assert len(worked) == 2


def test_results_are_those_of_the_engine_that_runs(
    root: Path, store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another build of the same version, or other compile options, may give other results."""
    for build in ("SQLite 3, built today", "SQLite 3, built otherwise"):
        monkeypatch.setattr(_file, "engine_build", lambda build=build: build)
        before = store.executed
        grader = ExGrader(SqliteSource(root), cache=ResultCache(store))
        grader.grade("shop", [NAMES], "SELECT 1")
        assert store.executed == before + 2


def test_a_clock_in_disguise_is_read_each_time(root: Path, store: ResultStore) -> None:
    for _ in range(2):
        ExGrader(SqliteSource(root), cache=ResultCache(store)).grade(
            "shop", [NAMES], "SELECT time('no' || 'w')"
        )
    assert (store.executed, store.found) == (3, 1)


def test_known_results_can_be_checked(root: Path, store: ResultStore) -> None:
    prediction = "SELECT name FROM item ORDER BY 1"
    for check_every, executed in ((0, 2), (1, 4)):
        cache = ResultCache(store, check_every=check_every)
        assert ExGrader(SqliteSource(root), cache=cache).grade("shop", [NAMES], prediction).ex
        assert store.executed == executed
    scope = SqliteSource(root).scope("shop", Limits())
    store.keep(Key(scope, "query", None, prediction), result(("forged",)))
    with pytest.raises(StaleResultError):
        cache = ResultCache(store, check_every=1)
        ExGrader(SqliteSource(root), cache=cache).grade("shop", [NAMES], prediction)
    pairs = [Pair("shop", (NAMES,), sql) for sql in (prediction, "SELECT 1")]
    with pytest.raises(InputError, match="the cache is wrong"):
        score_pairs(pairs, SqliteSource(root), workers=2, store=store, check_every=1)


@pytest.mark.parametrize("damage", ["garbage", "torn", "cut", "layout"])
def test_a_damaged_store_is_set_aside_and_said(root: Path, store: ResultStore, damage: str) -> None:
    for number in range(200):
        store.keep(key(str(number)), result((b"x" * 2000,)))
    store.close()
    data = bytearray(store.path.read_bytes())
    if damage == "garbage":
        data = bytearray(b"not a database at all" * 100)
    elif damage == "torn":
        data[8192:] = bytes(len(data) - 8192)
    elif damage == "cut":
        data = data[: len(data) // 2]
    else:
        connection = sqlite3.connect(store.path)
        connection.execute("PRAGMA user_version = 99")
        connection.close()
        data = bytearray(store.path.read_bytes())
    store.path.write_bytes(data)
    again = ResultStore(store.path)
    for number in range(200):
        again.find(key(str(number)))
    assert ExGrader(SqliteSource(root), cache=ResultCache(again)).grade("shop", [NAMES], NAMES + " ").ex
    again.close()
    assert "set aside" in again.fault
    assert Path(f"{store.path}.damaged").exists()
    assert reopened(again).fault == ""


def test_another_programs_database_is_refused_untouched(tmp_path: Path) -> None:
    path = write_database(tmp_path, "mine", "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    before = path.read_bytes()
    with pytest.raises(InputError, match="no store of results"):
        ResultStore(path)
    assert path.read_bytes() == before


def test_where_no_file_can_be_results_are_not_kept(tmp_path: Path, root: Path) -> None:
    (tmp_path / "file").touch()
    store = ResultStore(tmp_path / "file" / "results.sqlite")
    assert "not kept" in store.fault
    assert ExGrader(SqliteSource(root), cache=ResultCache(store)).grade("shop", [NAMES], NAMES + " ").ex
    store.close()


def test_threads_and_processes_share_a_store(store: ResultStore) -> None:
    program = f"""
from birdenv.databases import Limits, Scope
from birdenv.databases.cache import Key
from birdenv.grading import ResultStore
from birdenv.grading._fetched_rows import FetchedRows
store = ResultStore({str(store.path)!r})
for number in range(100):
    scope = Scope("engine", "contents", Limits(30.0), lambda: "digest")
    store.keep(Key(scope, "query", None, str(number)), FetchedRows(("a",), [(number,)], {{}}, 1, 0.25))
    if number % 10 == 0:
        store.flush()
store.close()
assert not store.fault, store.fault
"""
    processes = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    errors: list[BaseException] = []

    def use() -> None:
        try:
            for number in range(100):
                store.keep(key(f"t{number}"), result((number,)))
                assert store.find(key(f"t{number}")) == result((number,))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait(60) for process in processes] == [0, 0]
    assert not errors
    again = reopened(store)
    for number in range(100):
        assert again.find(key(str(number))) == result((number,))
        assert again.find(key(f"t{number}")) == result((number,))
    assert store.fault == again.fault == ""
