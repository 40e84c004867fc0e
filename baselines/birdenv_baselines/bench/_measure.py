"""Time contenders side by side, and compute figures to compare with bars.

Absolute times say little on a machine that also does other work. So contenders take turns, times are medians
over rounds, and a ratio is the median of the ratios of single rounds, with their middle half.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal, TypeAlias

from birdenv_baselines.bench._databases import Size, database_file

__all__ = [
    "Bar",
    "Clock",
    "Contender",
    "Figure",
    "Line",
    "Outcome",
    "Setting",
    "Skip",
    "in_rounds",
    "measured",
    "spread",
    "times_as_fast",
    "times_as_long",
]

Clock: TypeAlias = Callable[[], float]
Unit: TypeAlias = Literal["x", "µs", "ms", "s", "/s", "processes"]

_SLICE = 0.1  # seconds; less would measure the caches that the other side emptied
_MOST_REPEATS = 10_000


class Skip(Exception):  # noqa: N818 - the end of a line, not an error
    """Raised if a line cannot be measured here; the text says why."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The settings with which lines are measured.

    Attributes:
        folder: the folder of the databases.
        scratch: a temporary folder for the run.
        rounds: the number of turns of each contender.
        quick: only check that lines work, on the smallest database and with few episodes.
        commit: the commit to compare with.
    """

    folder: Path
    scratch: Path
    rounds: int
    quick: bool
    commit: str

    def file(self, size: Size) -> Path:
        """Return the path of a database."""
        return database_file(self.folder, size)


@dataclass(frozen=True, slots=True)
class Contender:
    """Work to be timed. `before` runs before it, and `after` with its result after it; neither is timed."""

    run: Callable[[], Any]
    before: Callable[[], object] | None = None
    after: Callable[[Any], object] | None = None


def in_rounds(
    contenders: Sequence[Contender], rounds: int, clock: Clock = time.perf_counter
) -> list[list[float]]:
    """Return the seconds of one `run` in every round, for each contender in order.

    Each contender runs once before the rounds, to warm up caches. In every round each contender has a turn,
    and every round begins with another contender. In a turn, quick work is repeated for 0.1 s, and the mean
    time counts.
    """
    repeats = [_repeats(contender, clock) for contender in contenders]
    times: list[list[float]] = [[] for _ in contenders]
    for number in range(rounds):
        for turn in range(len(contenders)):
            i = (turn + number) % len(contenders)
            times[i].append(_turn(contenders[i], repeats[i], clock))
    return times


def _repeats(contender: Contender, clock: Clock) -> int:
    seconds = _turn(contender, 1, clock)
    if seconds < _SLICE:
        seconds = _turn(contender, 1, clock)  # the first one was cold
    return max(1, min(_MOST_REPEATS, math.ceil(_SLICE / max(seconds, 1e-9))))


def _turn(contender: Contender, repeats: int, clock: Clock) -> float:
    taken = 0.0
    for _ in range(repeats if contender.before or contender.after else 1):
        if contender.before is not None:
            contender.before()
        began = clock()
        if contender.before or contender.after:
            result = contender.run()
        else:  # nothing to do in between, so the clock need not be read each time
            for _ in range(repeats):
                result = contender.run()
        taken += clock() - began
        if contender.after is not None:
            contender.after(result)
    return taken / repeats


@dataclass(frozen=True, slots=True)
class Figure:
    """The result of a line: `value` in `unit`, the times in seconds that it is computed from, and its spread.

    Attributes:
        low, high: the limits of the middle half of the rounds.
    """

    value: float
    unit: Unit
    ours: float | None = None
    theirs: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""


def times_as_fast(ours: Sequence[float], theirs: Sequence[float], *, each: int = 1, note: str = "") -> Figure:
    """Return how many times as long the others take, by round. Shown times are divided by `each`."""
    return spread([b / a for a, b in zip(ours, theirs, strict=True)], "x", ours, theirs, each, note)


def times_as_long(ours: Sequence[float], theirs: Sequence[float], *, each: int = 1, note: str = "") -> Figure:
    """Return how many times as long we take, by round. Shown times are divided by `each`."""
    return spread([a / b for a, b in zip(ours, theirs, strict=True)], "x", ours, theirs, each, note)


def spread(
    values: Sequence[float],
    unit: Unit,
    ours: Sequence[float] = (),
    theirs: Sequence[float] = (),
    each: int = 1,
    note: str = "",
) -> Figure:
    """Return the median of `values` with their middle half, and the medians of the times."""
    ordered = sorted(values)
    quarter = len(ordered) // 4
    mine, others = (median(times) / each if times else None for times in (ours, theirs))
    return Figure(median(ordered), unit, mine, others, ordered[quarter], ordered[-1 - quarter], note)


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit with which a figure is compared."""

    direction: Literal["at least", "at most"]
    limit: float

    def is_met(self, value: float) -> bool:
        """Return whether a value is good enough."""
        return value >= self.limit if self.direction == "at least" else value <= self.limit


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table before it is measured: our work, what it is compared with, and the expected figure.

    `needs` are the databases that must exist. A line without a bar only reports.
    """

    name: str
    against: str
    measure: Callable[[Setting], Figure]
    bar: Bar | None = None
    needs: tuple[Size, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """A line after it was measured. `reason` says why it was `not measured`, or why it `failed`."""

    group: str
    name: str
    against: str
    status: Literal["measured", "not measured", "failed"]
    bar: Bar | None
    figure: Figure | None = None
    reason: str = ""

    @property
    def met(self) -> bool | None:
        """Return whether the bar is met, or None without a bar or a figure."""
        if self.bar is None or self.figure is None:
            return None
        return self.bar.is_met(self.figure.value)


def measured(group: str, line: Line, setting: Setting) -> Outcome:
    """Measure one line. Errors are recorded, and do not affect other lines."""
    try:
        figure = line.measure(setting)
    except Skip as skip:
        return Outcome(group, line.name, line.against, "not measured", line.bar, reason=str(skip))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return Outcome(group, line.name, line.against, "failed", line.bar, reason=reason)
    return Outcome(group, line.name, line.against, "measured", line.bar, figure)
