"""Scoring one system's answers, and those of 13 systems, against the official script's way and the floor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Final

from birdenv.databases import SqliteSource
from birdenv.grading import Pair, score_pairs
from birdenv_baselines.bench._episode_tasks import Task
from birdenv_baselines.bench._measure import (
    Bar,
    Contender,
    Effort,
    Figure,
    Line,
    side_by_side,
    times_as_fast,
    times_as_long,
)
from birdenv_baselines.bench._mini_dev import ONE_SYSTEM
from birdenv_baselines.bench._official_script import OfficialScript, RawPool, two_processes
from birdenv_baselines.bench._scoring_memory import peak_megabytes
from birdenv_baselines.bench._setting import MINI_DEV, Setting

__all__ = ["VERDICTS", "lines"]

VERDICTS: Final = "verdicts that differ from the official rule's"

_WORKERS: Final = 2
_ROUNDS: Final = 2  # at most: each takes many seconds
_EVERY_OF_ONE: Final = 3
_EVERY_OF_ALL: Final = 16
_OFFICIAL: Final = "official script's way, 2 processes"
_FLOOR: Final = "each statement once, raw, 2 processes"


@dataclass(slots=True)
class _Seen:
    """The verdicts that were given while times were measured."""

    ours: dict[Task, bool] = field(default_factory=dict)
    theirs: dict[Task, bool] = field(default_factory=dict)


def lines(setting: Setting) -> list[Line]:
    seen = _Seen()
    all_systems = cache(partial(_all_systems, setting, seen))
    systems = f"13 systems' answers, 1 question of {_EVERY_OF_ALL}"
    one = f"{ONE_SYSTEM}'s answers, 1 question of {_EVERY_OF_ONE}"
    # 13 systems against the floor: 1.01 x in processor time, 0.98 x by the clock (22 November 2026, two busy
    # cores, medians of three). With texts of the same program executed once, as before, it was 0.66 x and
    # 0.61 x: the bar does not need that.
    measures: tuple[tuple[str, str, Callable[[], Figure], Bar], ...] = (
        (f"{one}, nothing known", _OFFICIAL, partial(_nothing_known, setting, seen), Bar("at least", 0.95)),
        (systems, _OFFICIAL, lambda: all_systems().as_fast(), Bar("at least", 2.2)),
        (systems, _FLOOR, lambda: all_systems().over_floor(), Bar("at most", 1.25)),
        (VERDICTS, _OFFICIAL, partial(_differences, setting, seen), Bar("at most", 0.0)),
        ("answers of 5 million rows", "peak memory added", partial(_memory, setting), Bar("at most", 64.0)),
    )
    return [Line(name, against, measure, bar, (MINI_DEV,)) for name, against, measure, bar in measures]


@dataclass(frozen=True, slots=True)
class _Times:
    """Seconds for `answers`: ours, the official script's way, and executing the `statements` once each."""

    answers: int
    statements: int
    ours: float
    official: float
    floor: float

    def as_fast(self) -> Figure:
        floor = f"{self.statements} statements, once each, raw, in two processes"
        note = f"{self.answers} answers; executing {floor}, would make it {self.official / self.floor:.2f} x"
        return times_as_fast(self.ours, self.official, note=note)

    def over_floor(self) -> Figure:
        note = f"{self.statements} different statements of {2 * self.answers}, to the last row, two processes"
        return times_as_long(self.ours, self.floor, note=note)


def _nothing_known(setting: Setting, seen: _Seen) -> Figure:
    tasks = setting.mini_dev.tasks([ONE_SYSTEM], _EVERY_OF_ONE)
    return _times_of(setting, tasks, seen).as_fast()


def _all_systems(setting: Setting, seen: _Seen) -> _Times:
    tasks = setting.mini_dev.tasks(setting.mini_dev.systems, _EVERY_OF_ALL)
    return _times_of(setting, tasks, seen)


def _times_of(setting: Setting, tasks: Sequence[Task], seen: _Seen) -> _Times:
    ours = Contender(lambda: seen.ours.update(_scored(setting, tasks)))
    needed = [(task.db_id, sql) for task in tasks for sql in (task.gold, task.prediction)]
    return _times(setting, tasks, ours, needed, seen)


def _times(
    setting: Setting, tasks: Sequence[Task], ours: Contender, needed: Sequence[tuple[str, str]], seen: _Seen
) -> _Times:
    """`needed`: the database and the text of each statement that cannot be done without."""
    statements = tuple(dict.fromkeys(needed))
    with two_processes() as pool:
        official = OfficialScript(setting.mini_dev.files, pool)
        raw = RawPool(setting.mini_dev.files, pool)

        def theirs() -> None:
            seen.theirs.update(zip(tasks, official.score(tasks), strict=True))

        contenders = [ours, Contender(theirs), Contender(lambda: raw.run(statements))]
        times = side_by_side(contenders, Effort(min(_ROUNDS, setting.effort.rounds), 0.0))
    return _Times(len(tasks), len(statements), *times)


def _differences(setting: Setting, seen: _Seen) -> Figure:
    """Of the verdicts that the lines before gave, and of all answers on the smallest databases."""
    mini_dev = setting.mini_dev
    tasks = [
        task
        for task in mini_dev.tasks(mini_dev.systems, largest=1.0)
        if not (task in seen.ours and task in seen.theirs)
    ]
    seen.ours.update(_scored(setting, tasks))
    with two_processes() as pool:
        official = OfficialScript(mini_dev.files, pool)
        seen.theirs.update(zip(tasks, official.score(tasks), strict=True))
    different = [task for task, right in seen.theirs.items() if seen.ours[task] != right]
    note = f"{len(seen.theirs):,} different answers, {sum(seen.theirs.values()):,} of them right"
    if different:
        note += "; different: " + "; ".join(f"{task.db_id}: {task.prediction}" for task in different)
    return Figure(len(different), "", note=note)


def _memory(setting: Setting) -> Figure:
    return Figure(
        peak_megabytes(setting.mini_dev.folder), "MB", note="RssAnon of all its processes, 4 answers"
    )


def _scored(setting: Setting, tasks: Sequence[Task]) -> dict[Task, bool]:
    source = SqliteSource(setting.mini_dev.folder)
    pairs = [Pair(task.db_id, (task.gold,), task.prediction) for task in tasks]
    verdicts = score_pairs(pairs, source, workers=_WORKERS)
    return {task: verdict.ex_bird for task, verdict in zip(tasks, verdicts, strict=True)}
