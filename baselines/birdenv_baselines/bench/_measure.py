"""Timing contenders side by side, and the lines of the table that come of it.

Absolute times say little on a machine that does other things as well. So the contenders of a line take turns
within one run, the figures are medians over rounds, and what a line reports is the ratio.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal, TypeAlias

__all__ = [
    "Bar",
    "Clock",
    "Contender",
    "Effort",
    "Figure",
    "Line",
    "Outcome",
    "Skip",
    "in_rounds",
    "measured",
    "middle_half",
    "side_by_side",
    "time_added",
    "time_added_in_rounds",
    "times_as_fast",
    "times_as_long",
]

Clock: TypeAlias = Callable[[], float]

_SLICE = 0.01  # seconds; what is quicker runs several times in a row, so that the clock's own cost vanishes
_MOST_REPEATS = 10_000
_MOST_ROUNDS = 200


class Skip(Exception):  # noqa: N818 - the end of a line, not an error
    """A line cannot be measured here; the text says why."""


@dataclass(frozen=True, slots=True)
class Contender:
    """Work to be timed. `before`, and `after` with what `run` returned, run around it and do not count."""

    run: Callable[[], Any]
    before: Callable[[], object] | None = None
    after: Callable[[Any], object] | None = None


@dataclass(frozen=True, slots=True)
class Effort:
    """Each line is measured for at least so many rounds and, if those were short, for so many seconds."""

    rounds: int = 5
    seconds: float = 0.5


def side_by_side(
    contenders: Sequence[Contender], effort: Effort, clock: Clock = time.perf_counter
) -> list[float]:
    """Median seconds of one `run` of each contender, in their order; see `in_rounds`."""
    return [median(taken) for taken in in_rounds(contenders, effort, clock)]


def in_rounds(
    contenders: Sequence[Contender], effort: Effort, clock: Clock = time.perf_counter
) -> list[list[float]]:
    """Seconds of one `run` of each contender, in their order, in every round.

    Each runs once before the rounds, to warm caches up. In every round each contender has one turn, and
    every round begins with another one. What is quick runs as often in a turn as makes the turn last 10 ms;
    the turn then counts as the mean of those runs.
    """
    repeats = [_repeats(contender, clock) for contender in contenders]
    times: list[list[float]] = [[] for _ in contenders]
    began = clock()
    rounds = 0
    while rounds < effort.rounds or (clock() - began < effort.seconds and rounds < _MOST_ROUNDS):
        for turn in range(len(contenders)):
            i = (turn + rounds) % len(contenders)
            times[i].append(_turn(contenders[i], repeats[i], clock))
        rounds += 1
    return times


def _repeats(contender: Contender, clock: Clock) -> int:
    seconds = _turn(contender, 1, clock)
    if seconds < _SLICE:
        seconds = _turn(contender, 1, clock)  # the first one was cold
    return max(1, min(_MOST_REPEATS, math.ceil(_SLICE / max(seconds, 1e-9))))


def _turn(contender: Contender, repeats: int, clock: Clock) -> float:
    run, before, after = contender.run, contender.before, contender.after
    if before is None and after is None:
        began = clock()
        for _ in range(repeats):
            run()
        return (clock() - began) / repeats
    taken = 0.0
    for _ in range(repeats):
        if before is not None:
            before()
        began = clock()
        result = run()
        taken += clock() - began
        if after is not None:
            after(result)
    return taken / repeats


@dataclass(frozen=True, slots=True)
class Figure:
    """What a line measured: `value` in `unit`, and the times that it comes from, in seconds."""

    value: float
    unit: Literal["x", "µs", "MB", ""]
    ours: float | None = None
    theirs: float | None = None
    note: str = ""


def times_as_fast(ours: float, theirs: float, *, note: str = "") -> Figure:
    """How many times longer the others take."""
    return Figure(theirs / ours, "x", ours, theirs, note)


def times_as_long(ours: float, theirs: float, *, note: str = "") -> Figure:
    """How many times longer we take."""
    return Figure(ours / theirs, "x", ours, theirs, note)


def time_added(ours: float, theirs: float, *, note: str = "") -> Figure:
    """How many microseconds longer we take."""
    return Figure((ours - theirs) * 1e6, "µs", ours, theirs, note)


def middle_half(values: Sequence[float]) -> tuple[float, float]:
    """The values between which the middle half of all lie."""
    ordered = sorted(values)
    return ordered[len(ordered) // 4], ordered[-1 - len(ordered) // 4]


def time_added_in_rounds(ours: Sequence[float], theirs: Sequence[float], *, note: str = "") -> Figure:
    """How many microseconds longer we take, in the median of rounds that stood side by side."""
    added = [(mine - other) * 1e6 for mine, other in zip(ours, theirs, strict=True)]
    low, high = middle_half(added)
    spread = f"the middle half of {len(added)} rounds: {low:.1f} to {high:.1f} µs"
    return Figure(median(added), "µs", median(ours), median(theirs), f"{note}; {spread}" if note else spread)


@dataclass(frozen=True, slots=True)
class Bar:
    """What a figure is held against."""

    direction: Literal["at least", "at most"]
    limit: float

    def is_met(self, value: float) -> bool:
        return value >= self.limit if self.direction == "at least" else value <= self.limit


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table, to be measured: what we do, against what, and what is expected.

    `needs` names the databases that must be there. A line without a bar only reports.
    """

    name: str
    against: str
    measure: Callable[[], Figure]
    bar: Bar | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """A line after measuring. `reason` says why it was `skipped`, or how it `failed`."""

    group: str
    name: str
    against: str
    status: Literal["measured", "skipped", "failed"]
    bar: Bar | None
    figure: Figure | None = None
    reason: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None without a bar, and for a line that was skipped."""
        if self.bar is None or self.status == "skipped":
            return None
        return self.figure is not None and self.bar.is_met(self.figure.value)


def measured(group: str, line: Line) -> Outcome:
    """Measure one line. What goes wrong in it is recorded and leaves the other lines alone."""
    try:
        figure = line.measure()
    except Skip as skip:
        return Outcome(group, line.name, line.against, "skipped", line.bar, reason=str(skip))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return Outcome(group, line.name, line.against, "failed", line.bar, reason=reason)
    return Outcome(group, line.name, line.against, "measured", line.bar, figure)
