"""The benchmark measures what it says: turns, medians, bars, equal databases, equal verdicts."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from birdenv_baselines.bench._databases import SIZES, build, database_file
from birdenv_baselines.bench._measure import (
    Bar,
    Contender,
    Figure,
    Line,
    Outcome,
    Setting,
    Skip,
    in_rounds,
    measured,
    spread,
    times_as_fast,
    times_as_long,
)
from birdenv_baselines.bench._mini_dev import read_mini_dev
from birdenv_baselines.bench._table import print_table
from birdenv_baselines.bench._tasks import (
    copy_database,
    make_environment,
    official_verdict,
    plain_connection,
    play,
    play_on_copy,
    quick_tasks,
    statements,
)
from birdenv_baselines.bench.lines import commit

from birdenv.databases import SqliteSource
from birdenv.grading import Pair, score_pairs

pytestmark = pytest.mark.slow

TINY = SIZES[0]


class FakeClock:
    """Time passes only when a contender says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self.log: list[str] = []

    def __call__(self) -> float:
        return self.now

    def work(self, name: str, *seconds: float) -> Callable[[], str]:
        """Work that takes the first of `seconds`, then the second, and so on; the last one for ever."""
        runs = count()

        def run() -> str:
            self.log.append(name)
            self.now += seconds[min(next(runs), len(seconds) - 1)]
            return name

        return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench") / "birdenv" / "bench-test"
    build(folder, TINY)
    return folder


@pytest.fixture
def setting(folder: Path, tmp_path: Path) -> Setting:
    return Setting(folder, tmp_path, rounds=1, quick=True, commit="HEAD")


def test_a_contender_is_warmed_up_before_its_rounds() -> None:
    clock = FakeClock()
    uneven = Contender(clock.work("uneven", 90.0, 1.0, 50.0, 2.0))
    even = Contender(clock.work("even", 4.0))
    assert in_rounds([uneven, even], 3, clock) == [[1.0, 50.0, 2.0], [4.0, 4.0, 4.0]]


def test_contenders_take_turns_and_every_round_begins_with_another() -> None:
    clock = FakeClock()
    in_rounds([Contender(clock.work(name, 1.0)) for name in "ab"], 3, clock)
    assert "".join(clock.log) == "ab" + "ab" + "ba" + "ab"


def test_what_is_quick_runs_often_in_a_turn_and_counts_as_the_mean() -> None:
    clock = FakeClock()
    ((seconds, *_),) = in_rounds([Contender(clock.work("quick", 0.001))], 3, clock)
    assert seconds == pytest.approx(0.001)
    assert len(clock.log) == 2 + 3 * 100  # warm, measured once, then turns of 0.1 s


def test_what_happens_before_and_after_is_not_counted() -> None:
    clock = FakeClock()
    seen: list[Any] = []

    def after(result: Any) -> None:
        clock.now += 100.0
        seen.append(result)

    contender = Contender(clock.work("work", 3.0), before=clock.work("before", 100.0), after=after)
    assert in_rounds([contender], 3, clock) == [[3.0] * 3]
    assert seen == ["work"] * 4
    assert clock.log == ["before", "work"] * 4


def test_figures_are_medians_of_the_rounds_with_their_middle_half() -> None:
    fast = times_as_fast([2.0, 2.0, 1.0], [8.0, 4.0, 9.0], each=2)
    assert (fast.value, fast.ours, fast.theirs) == (4.0, 1.0, 4.0)
    assert times_as_long([8.0], [2.0]).value == 4.0
    middle = spread([5.0, 1.0, 2.0, 4.0, 3.0], "ms")
    assert (middle.value, middle.low, middle.high) == (3.0, 2.0, 4.0)


@pytest.mark.parametrize(
    ("bar", "value", "met"),
    [
        (Bar("at least", 2.0), 2.0, True),
        (Bar("at least", 2.0), 1.9, False),
        (Bar("at most", 2.0), 2.0, True),
        (Bar("at most", 2.0), 2.1, False),
    ],
)
def test_bars(bar: Bar, value: float, met: bool, setting: Setting) -> None:
    assert measured("group", Line("a", "b", lambda _: Figure(value, "x"), bar), setting).met is met


def test_a_line_that_is_skipped_or_fails_is_recorded(setting: Setting) -> None:
    def skip(_: Setting) -> Figure:
        raise Skip("no such machine")

    skipped = measured("group", Line("a", "b", skip, Bar("at least", 1.0)), setting)
    assert (skipped.status, skipped.reason, skipped.met) == ("not measured", "no such machine", None)
    failed = measured("group", Line("a", "b", lambda _: Figure(1 / 0, "x"), Bar("at least", 1.0)), setting)
    assert (failed.status, failed.met) == ("failed", None)
    assert "ZeroDivisionError" in failed.reason


def test_databases_are_the_same_bytes_whenever_they_are_built(folder: Path, tmp_path: Path) -> None:
    build(tmp_path / "again", TINY)
    digests = {
        hashlib.sha256(database_file(each, TINY).read_bytes()).hexdigest()
        for each in (folder, tmp_path / "again")
    }
    assert len(digests) == 1
    assert 1.5e6 < database_file(folder, TINY).stat().st_size < 2.5e6


def test_a_database_is_built_once_and_leaves_nothing_else(folder: Path) -> None:
    before = database_file(folder, TINY).stat()
    build(folder, TINY)
    after = database_file(folder, TINY).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert [path.name for path in folder.iterdir()] == [TINY.db_id]


def test_whoever_plays_a_task_comes_to_the_official_verdict(folder: Path, tmp_path: Path) -> None:
    file, tasks = database_file(folder, TINY), quick_tasks(TINY)
    official = [official_verdict(file, task.gold, task.prediction) for task in tasks]
    assert {True, False} == set(official)
    assert [play_on_copy(file, task, statements(task, 1)) for task in tasks] == official
    pairs = [Pair(task.db_id, (task.gold,), task.prediction) for task in tasks]
    assert [verdict.ex_bird for verdict in score_pairs(pairs, SqliteSource(folder))] == official
    with closing(make_environment(folder, tasks, tmp_path)) as environment:
        played = [play(environment, i, statements(task, 2)) for i, task in enumerate(tasks)]
    assert sum(played) >= sum(official) / 2


def test_tasks_ask_for_something(folder: Path) -> None:
    with closing(plain_connection(database_file(folder, TINY))) as connection:
        empty = [task.gold for task in quick_tasks(TINY) if not connection.execute(task.gold).fetchall()]
    assert len(empty) == 1  # the one in which nothing is right


def test_numbered_statements_are_all_new() -> None:
    (task, *_) = quick_tasks(TINY)
    assert len(statements(task, 1)) == 5
    assert not set(statements(task, 1)) & set(statements(task, 2))


def test_copies_are_complete(folder: Path, tmp_path: Path) -> None:
    database = database_file(folder, TINY)
    assert copy_database(database, tmp_path).read_bytes() == database.read_bytes()


def test_missing_data_and_a_missing_commit_are_told(
    setting: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIRDENV_SHARED_DATA", str(tmp_path))
    with pytest.raises(Skip, match="data missing"):
        read_mini_dev()
    nowhere = Setting(setting.folder, tmp_path, 1, True, "no-such-commit")
    (line, *_) = commit.lines(True)
    outcome = measured("commit", line, nowhere)
    assert outcome.status == "not measured" and "no-such-commit" in outcome.reason


def test_the_table_hides_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar("at least", 3.0)
    print_table(
        [
            Outcome("one", "quick", "them", "measured", bar, Figure(4.0, "x", 1e-6, 4e-6)),
            Outcome(
                "one", "slow", "them", "measured", bar, Figure(2.0, "x", 0.002, 0.004, note="on a Monday")
            ),
            Outcome("two", "broken", "them", "failed", bar, reason="ValueError: oh"),
            Outcome("two", "absent", "them", "not measured", bar, reason="no such machine"),
            Outcome("two", "plain", "them", "measured", None, Figure(5.0, "µs")),
            Outcome("two", "long" * 40, "them", "measured", None, Figure(5.0, "µs")),
        ],
        {"cores": 2},
    )
    printed = capsys.readouterr().out
    rows = {line.split()[0]: line.split() for line in printed.splitlines() if "them" in line}
    assert [row[-1] for row in rows.values()] == ["met", "MISSED", "FAILED", "measured", "µs", "µs"]
    assert "long" * 40 in rows
    for words in (
        "(1) on a Monday",
        "(2) ValueError: oh",
        "(3) no such machine",
        "1 of 2 bars met",
        "cores 2",
    ):
        assert words in printed


def _bench(cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "birdenv_baselines.bench", *arguments],
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_measures_every_line_and_writes_it_as_json(tmp_path: Path) -> None:
    file = tmp_path / "new" / "bench.json"
    done = _bench(tmp_path, "--quick", "--commit", "HEAD", "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bars met" in done.stdout
    found = json.loads(file.read_text(encoding="utf-8"))
    assert {"date", "processor", "cores", "python", "sqlite"} <= set(found["machine"])
    for line in found["lines"]:
        assert line["name"] in done.stdout
        assert line["status"] == ("measured" if line["figure"] else "not measured"), line["reason"]
        assert (line["met"] is None) == (line["bar"] is None or line["figure"] is None)


def test_only_measures_what_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    done = _bench(tmp_path, "--quick", "--only", "users: ", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert len(json.loads(file.read_text(encoding="utf-8"))["lines"]) == 1
    assert not list(tmp_path.rglob("shop*.sqlite"))  # it reads no database, so none is built


@pytest.mark.parametrize("pattern", ["no such line", "("])
def test_a_pattern_that_finds_nothing_says_so(tmp_path: Path, pattern: str) -> None:
    done = _bench(tmp_path, "--only", pattern)
    assert done.returncode == 2
    assert "--only" in done.stderr
