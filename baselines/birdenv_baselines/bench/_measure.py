"""Time two ways of doing the same work side by side, and compare the result with a required value.

Absolute times mean little on a machine that also does other work. Therefore, the contenders take turns, times
are medians over rounds, and a ratio is the median of the ratios in all rounds. The quartiles of the ratios
are reported, too.
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
    """Raised if a line cannot be measured on this machine; the message says why."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The settings for a benchmark run.

    Attributes:
        folder: the folder with the databases.
        scratch: a temporary folder for the run.
        rounds: the number of turns that each contender takes.
        quick: True to check only that the lines work, on the smallest database and with few episodes.
        commit: the commit that birdenv is compared with.
    """

    folder: Path
    scratch: Path
    rounds: int
    quick: bool
    commit: str

    def file(self, size: Size) -> Path:
        """Return the path of a database file."""
        return database_file(self.folder, size)


@dataclass(frozen=True, slots=True)
class Contender:
    """Work to be timed, such as playing an episode with birdenv or with a different program.

    Attributes:
        run: the function that is timed.
        before: a function that runs before each `run` and is not timed; None if there is nothing to prepare.
        after: a function that is called with the result of each `run` and is not timed; None if nothing needs
            to be done.
    """

    run: Callable[[], Any]
    before: Callable[[], object] | None = None
    after: Callable[[Any], object] | None = None


def in_rounds(
    contenders: Sequence[Contender], rounds: int, clock: Clock = time.perf_counter
) -> list[list[float]]:
    """Return how many seconds one `run` took in each round, as a list for each contender, in order.

    Each contender runs before the rounds, to warm up caches. In every round each contender has a turn, and
    the contender that begins changes from round to round. Quick work is repeated until a turn takes about 0.1
    s, and the mean time is returned.
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
    """The measured value of a line in the table.

    Attributes:
        value: the measured value, in `unit`.
        unit: the unit of the value; `x` for a ratio.
        ours: birdenv's time in seconds; None if the value is not a time.
        theirs: the time in seconds of the work that birdenv is compared with; None if there is no comparison.
        low, high: the lower and the upper quartile over the rounds; None if there is only one round.
        note: a remark that is printed below the table.
    """

    value: float
    unit: Unit
    ours: float | None = None
    theirs: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""


def times_as_fast(ours: Sequence[float], theirs: Sequence[float], *, each: int = 1, note: str = "") -> Figure:
    """Return birdenv's relative speed: the median over rounds of the others' time divided by ours.

    Args:
        ours: birdenv's seconds in each round.
        theirs: the other contender's seconds in each round.
        each: the number to divide the shown times by, such as the number of steps in a round.
        note: a remark for the table.
    """
    return spread([b / a for a, b in zip(ours, theirs, strict=True)], "x", ours, theirs, each, note)


def times_as_long(ours: Sequence[float], theirs: Sequence[float], *, each: int = 1, note: str = "") -> Figure:
    """Return birdenv's relative duration: the median over rounds of our time divided by the others'.

    The arguments are those of `times_as_fast`.
    """
    return spread([a / b for a, b in zip(ours, theirs, strict=True)], "x", ours, theirs, each, note)


def spread(
    values: Sequence[float],
    unit: Unit,
    ours: Sequence[float] = (),
    theirs: Sequence[float] = (),
    each: int = 1,
    note: str = "",
) -> Figure:
    """Return the median and the quartiles of the values.

    Args:
        values: a value for each round.
        unit: the unit of the values.
        ours, theirs: the times in seconds that the values were computed from; their medians are shown.
        each: the number to divide the shown times by.
        note: a remark for the table.
    """
    ordered = sorted(values)
    quarter = len(ordered) // 4
    mine, others = (median(times) / each if times else None for times in (ours, theirs))
    return Figure(median(ordered), unit, mine, others, ordered[quarter], ordered[-1 - quarter], note)


@dataclass(frozen=True, slots=True)
class Bar:
    """The requirement that the value of a line is at least, or at most, `limit`."""

    direction: Literal["at least", "at most"]
    limit: float

    def is_met(self, value: float) -> bool:
        """Return whether a value meets the requirement."""
        return value >= self.limit if self.direction == "at least" else value <= self.limit


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table that has not been measured yet.

    Attributes:
        name: the name of the measured work.
        against: the name of the work that it is compared with; empty if there is no comparison.
        measure: the function that measures the line.
        bar: the requirement on the measured value; None if any value is acceptable.
        needs: the databases that must exist.
    """

    name: str
    against: str
    measure: Callable[[Setting], Figure]
    bar: Bar | None = None
    needs: tuple[Size, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """A line of the table with its measured value, or the reason why there is no value.

    Attributes:
        group: the subject of the line.
        name, against, bar: as in `Line`.
        status: whether the line was measured.
        figure: the result; None unless the line was measured.
        reason: why the line was not measured, or why it failed.
    """

    group: str
    name: str
    against: str
    status: Literal["measured", "not measured", "failed"]
    bar: Bar | None
    figure: Figure | None = None
    reason: str = ""

    @property
    def met(self) -> bool | None:
        """Return whether the value meets the requirement, or None if there is no requirement or no value."""
        if self.bar is None or self.figure is None:
            return None
        return self.bar.is_met(self.figure.value)


def measured(group: str, line: Line, setting: Setting) -> Outcome:
    """Measure one line, and return the outcome.

    An error in the measurement is recorded in the outcome instead of being raised, so that the other lines
    can still be measured.
    """
    try:
        figure = line.measure(setting)
    except Skip as skip:
        return Outcome(group, line.name, line.against, "not measured", line.bar, reason=str(skip))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return Outcome(group, line.name, line.against, "failed", line.bar, reason=reason)
    return Outcome(group, line.name, line.against, "measured", line.bar, figure)
