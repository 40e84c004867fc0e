"""The benchmark measures what it says: turns, medians, bars, equal databases, equal verdicts."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from birdenv_baselines.bench import episodes
from birdenv_baselines.bench.__main__ import GROUPS
from birdenv_baselines.bench._databases import SIZES, build, database_file
from birdenv_baselines.bench._episode_tasks import light_tasks, quick_tasks, statements
from birdenv_baselines.bench._measure import (
    Bar,
    Contender,
    Effort,
    Figure,
    Line,
    Outcome,
    Skip,
    measured,
    side_by_side,
    time_added,
    times_as_fast,
    times_as_long,
)
from birdenv_baselines.bench._peers import (
    ConnectionPerStatement,
    FileCopyHarness,
    copy_database,
    official_verdict,
    plain_connection,
)
from birdenv_baselines.bench._setting import Setting
from birdenv_baselines.bench._table import print_table

from birdenv.databases import SqliteSource
from birdenv.grading import ExGrader

pytestmark = pytest.mark.slow

TINY = SIZES[0]
QUICK = Effort(rounds=3, seconds=0.0)


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


def test_a_contender_counts_as_the_median_of_its_rounds_after_a_warm_up() -> None:
    clock = FakeClock()
    uneven = Contender(clock.work("uneven", 90.0, 1.0, 50.0, 2.0))
    even = Contender(clock.work("even", 4.0))
    assert side_by_side([uneven, even], QUICK, clock) == [2.0, 4.0]


def test_contenders_take_turns_and_every_round_begins_with_another() -> None:
    clock = FakeClock()
    side_by_side([Contender(clock.work(name, 1.0)) for name in "ab"], QUICK, clock)
    assert "".join(clock.log) == "ab" + "ab" + "ba" + "ab"


def test_what_is_quick_runs_often_in_a_turn_and_counts_as_the_mean() -> None:
    clock = FakeClock()
    (seconds,) = side_by_side([Contender(clock.work("quick", 0.001))], QUICK, clock)
    assert seconds == pytest.approx(0.001)
    assert len(clock.log) == 2 + 3 * 10  # warm, measured once, then turns of 10 ms


def test_short_rounds_go_on_until_the_seconds_are_over() -> None:
    clock = FakeClock()
    side_by_side([Contender(clock.work("work", 1.0))], Effort(rounds=2, seconds=7.0), clock)
    assert len(clock.log) == 1 + 7


def test_what_happens_before_and_after_is_not_counted() -> None:
    clock = FakeClock()
    seen: list[Any] = []

    def after(result: Any) -> None:
        clock.now += 100.0
        seen.append(result)

    contender = Contender(clock.work("work", 3.0), before=clock.work("before", 100.0), after=after)
    assert side_by_side([contender], QUICK, clock) == [3.0]
    assert seen == ["work"] * 4
    assert clock.log == ["before", "work"] * 4


def test_figures() -> None:
    assert times_as_fast(2.0, 8.0).value == 4.0
    assert times_as_long(8.0, 2.0).value == 4.0
    assert time_added(5e-6, 2e-6).value == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("bar", "value", "met"),
    [
        (Bar("at least", 2.0), 2.0, True),
        (Bar("at least", 2.0), 1.9, False),
        (Bar("at most", 2.0), 2.0, True),
        (Bar("at most", 2.0), 2.1, False),
    ],
)
def test_bars(bar: Bar, value: float, met: bool) -> None:
    assert measured("group", Line("a", "b", lambda: Figure(value, "x"), bar)).met is met


def test_a_line_that_is_skipped_or_fails_is_recorded() -> None:
    def skip() -> Figure:
        raise Skip("no such machine")

    skipped = measured("group", Line("a", "b", skip, Bar("at least", 1.0)))
    assert (skipped.status, skipped.reason, skipped.met) == ("skipped", "no such machine", None)
    failed = measured("group", Line("a", "b", lambda: Figure(1 / 0, "x"), Bar("at least", 1.0)))
    assert (failed.status, failed.met) == ("failed", False)
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


def test_peers_and_grader_give_the_official_verdict(folder: Path) -> None:
    files = {TINY.db_id: database_file(folder, TINY)}
    grader = ExGrader(SqliteSource(folder))
    verdicts = []
    for task in (*quick_tasks(TINY), *light_tasks(TINY)):
        official = official_verdict(files[TINY.db_id], task.gold, task.prediction)
        assert FileCopyHarness(files).play(task) == official, task
        assert ConnectionPerStatement(files).play(task) == official, task
        assert grader.grade(task.db_id, [task.gold], task.prediction).ex_bird == official, task
        verdicts.append(official)
    assert {True, False} <= set(verdicts)


def test_tasks_ask_for_something(folder: Path) -> None:
    with closing(plain_connection(database_file(folder, TINY))) as connection:
        empty = [task.gold for task in quick_tasks(TINY) if not connection.execute(task.gold).fetchall()]
    assert len(empty) == 1  # the one in which nothing is right


def test_numbered_statements_are_all_new() -> None:
    (task, *_) = quick_tasks(TINY)
    assert len(statements(task)) == 5
    assert not set(statements(task, 1)) & set(statements(task, 2))


def test_copies_are_complete(folder: Path, tmp_path: Path) -> None:
    database = database_file(folder, TINY)
    assert copy_database(database, tmp_path).read_bytes() == database.read_bytes()


def test_a_verdict_that_differs_is_counted_and_shown(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = Setting(folder, (TINY,), tmp_path, QUICK)
    (line,) = [line for line in episodes.lines(setting) if line.name == episodes.VERDICTS]
    assert measured("episodes", line).met is True
    monkeypatch.setattr(episodes, "official_verdict", lambda database, gold, prediction: "FORM" in prediction)
    outcome = measured("episodes", line)
    assert outcome.met is False and outcome.figure is not None
    assert "SELECT price FORM products" in outcome.figure.note


def test_the_table_hides_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar("at least", 3.0)
    print_table(
        [
            Outcome("one", "quick", "them", "measured", bar, Figure(4.0, "x", 1e-6, 4e-6)),
            Outcome("one", "slow", "them", "measured", bar, Figure(2.0, "x", 0.002, 0.004, "on a Monday")),
            Outcome("two", "broken", "them", "failed", bar, reason="ValueError: oh"),
            Outcome("two", "absent", "them", "skipped", bar, reason="no such machine"),
            Outcome("two", "plain", "them", "measured", None, Figure(5.0, "µs")),
            Outcome("two", "long" * 40, "them", "measured", None, Figure(5.0, "µs")),
        ],
        {"cores": 2},
    )
    printed = capsys.readouterr().out
    rows = {line.split()[0]: line.split() for line in printed.splitlines() if "them" in line}
    assert [row[-1] for row in rows.values()] == ["met", "MISSED", "FAILED", "skipped", "µs", "µs"]
    assert "long" * 40 in rows
    for words in (
        "(1) on a Monday",
        "(2) ValueError: oh",
        "(3) no such machine",
        "1 of 3 bars met",
        "cores 2",
    ):
        assert words in printed


def _bench(cache: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "birdenv_baselines.bench", *arguments],
        env={**os.environ, "XDG_CACHE_HOME": str(cache), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_command_prints_every_line_and_writes_it_as_json(tmp_path: Path) -> None:
    _check_lines(tmp_path, GROUPS)


def test_some_groups_without_the_benchmarks_data(tmp_path: Path) -> None:
    some = ("isolation", "guards", "spaces", "scoring")
    nowhere = {"BIRDENV_SHARED_DATA": str(tmp_path / "nowhere")}
    lines = _check_lines(tmp_path, some, "--only", f"^({'|'.join(some)}):", **nowhere)
    assert {line["group"] for line in lines if line["status"] == "skipped"} == {"scoring"}


def _check_lines(tmp_path: Path, groups: Iterable[str], *arguments: str, **variables: str) -> list[Any]:
    """Run the whole command on tiny databases and look at what it prints and writes."""
    file = tmp_path / "bench.json"
    done = _bench(tmp_path, "--sizes", "tiny", "--rounds", "1", "--json", str(file), *arguments, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bars met" in done.stdout
    found = json.loads(file.read_text(encoding="utf-8"))
    assert {"date", "processor", "cores", "python", "sqlite"} <= set(found["machine"])
    lines: list[Any] = found["lines"]
    assert {line["group"] for line in lines} == set(groups)
    for line in lines:
        assert line["name"] in done.stdout
        assert line["status"] == ("measured" if line["figure"] else "skipped"), line["reason"]
        assert (line["met"] is None) == (line["bar"] is None or line["figure"] is None)
    assert {line["unit"] for line in (each["figure"] for each in lines if each["figure"])} >= {"x"}
    return lines


def test_only_measures_what_is_asked_for(tmp_path: Path) -> None:
    done = _bench(
        tmp_path, "--rounds", "1", "--only", "spaces: .*contains", "--json", str(tmp_path / "a.json")
    )
    assert done.returncode == 0, done.stderr
    assert len(json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["lines"]) == 1
    assert not list(tmp_path.rglob("*.sqlite"))  # it reads no database, so none is built


@pytest.mark.parametrize("pattern", ["no such line", "("])
def test_a_pattern_that_finds_nothing_says_so(tmp_path: Path, pattern: str) -> None:
    done = _bench(tmp_path, "--only", pattern)
    assert done.returncode == 2
    assert "--only" in done.stderr
