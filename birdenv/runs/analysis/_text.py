"""Figures with intervals as lines of text, and as a strip that is looked at instead of read.

The figures of c-Interact and a-Interact as lines of text; those that a game does not have are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from birdenv.runs.analysis._estimates import Estimate
from birdenv.runs.analysis._lines import rate_line
from birdenv.runs.analysis._statistics import Interval

NAME_WIDTH = 24
_STRIP = 25


def percent(value: float) -> str:
    """` 76.9`, of a share."""
    return f"{100 * value:5.1f}"


def in_digits(value: float, sign: str = "") -> str:
    """`0.467`, `15321`: a figure that is no share, with as many digits as say something."""
    size = abs(value)
    digits = 3 if size < 100 else 1 if size < 10_000 else 0
    if 0 < size < 0.01:
        digits = 5
    return f"{value:{sign}{5 + len(sign)}.{digits}f}"


def between(interval: Interval | None, *, share: bool = True) -> str:
    """` 63.9 ..  86.3`: in percent, or as it is; a dash where there is none."""
    if interval is None:
        return "    -"
    low, high = interval
    return f"{percent(low)} .. {percent(high)}" if share else f"{in_digits(low)} .. {in_digits(high)}"


def figure_line(
    estimate: Estimate, name: str | None = None, last: str = "", *, width: int = NAME_WIDTH
) -> str:
    """`EX    40/52   76.9 %    63.9 ..  86.3`: the figure, its interval over tasks, and a last column.

    `width` is that of the name's column.
    """
    title = estimate.measure.title if name is None else name
    share = estimate.measure.is_rate
    counts = f"{estimate.passed:>6}/{estimate.count:<6}" if share else " " * 13
    value = estimate.value
    figure = "-" if value is None else f"{percent(value)} %" if share else in_digits(value)
    interval = between(estimate.over_tasks, share=share)
    return f"{title:<{width}}{counts}{figure:<7}  {interval:<16}  {last}".rstrip()


def strip(value: float | None, interval: Interval | None) -> str:
    """The interval drawn on a line from 0 to 1: `|        ---o-- |`."""
    cells = [" "] * _STRIP
    if interval is not None:
        for cell in range(_cell(interval.low), _cell(interval.high) + 1):
            cells[cell] = "-"
    if value is not None:
        cells[_cell(value)] = "o"
    return f"|{''.join(cells)}|"


def strip_scale() -> str:
    """What the ends of a strip mean."""
    return f"0{'50':^{_STRIP}}100 %"


def _cell(value: float) -> int:
    return min(_STRIP - 1, max(0, round(value * (_STRIP - 1))))


_NAME: Final = 28
_RATES: Final = {
    "phase_1_first": "Phase 1, first try",
    "phase_1": "Phase 1, after debug",
    "phase_2_first": "Phase 2, first try",
    "phase_2": "Phase 2, after debug",
    "phase_2_of_reached": "  of those that reached it",
    "end_to_end": "End to end, over N",
}
_COLUMNS: Final = {
    "phase_1_first": "P1 first",
    "phase_1": "P1",
    "phase_2_first": "P2 first",
    "phase_2": "P2",
}
_CALLS: Final = {
    "labelled": "on annotated points",
    "unlabelled": "on other points",
    "unanswerable": "refused",
    "unclear": "asked back",
}
"""The user's calls in words; the paper's AMB, LOC and UNA, and what was not understood."""


def rate_lines(figures: Mapping[str, Any]) -> list[str]:
    """The rates of both phases with their intervals; and how many tasks debug gained."""
    return [
        _rate_line(
            title if "phase_1_first" in figures else title.removesuffix(", after debug"),
            figures[name],
            figures.get(f"{name}_debug_gain"),
        )
        for name, title in _RATES.items()
        if name in figures
    ]


def _rate_line(name: str, rate: Mapping[str, Any], gain: Mapping[str, Any] | None = None) -> str:
    interval = between(Interval(*rate["interval"])) if rate["interval"] else ""
    gained = f"(+{gain['passed']})" if gain else ""
    return f"{rate_line(name, rate)}  {interval:<16}{gained}".rstrip()


def official_lines(official: Mapping[str, Any]) -> list[str]:
    """The batch score over all tasks, what it is made of, and how many tasks say something."""
    counts = ", ".join(f"{name} {official[name]}" for name in "abcd" if name in official)
    interval = official["normalized_reward_interval"]
    figure = f"{100 * official['normalized_reward']:.2f}" if official["valid"] else "-"
    interval = interval if official["valid"] else None
    reward = f"{'Normalized reward':<24}{figure:>19}    "
    left_out = ", ".join(f"{count} {status}" for status, count in official["left_out"].items())
    valid = f"{'Valid tasks':<24}{official['valid']:>6}/{official['tasks']}"
    return [
        f"{reward}{between(Interval(*interval)) if interval else ''}".rstrip(),
        f"  over N = {official['tasks']} tasks{f': {counts}' if counts else ''}",
        f"{valid}  left out: {left_out}" if left_out else valid,
    ]


def questions_line(asked: float | None, allowed: float | None) -> str:
    """Questions asked and allowed, means over the tasks."""
    if asked is None or allowed is None:
        return f"{'Questions per task':<24}{'-':>13}"
    return f"{'Questions per task':<24}{asked:>13.2f}  of {allowed:.2f} allowed"


def answers_line(answers: Mapping[str, int]) -> str:
    """What the user's answers were about."""
    total = sum(answers.values())
    shares = [
        f"{answers[call]} {what}" + (f" ({100 * answers[call] / total:.0f} %)" if total else "")
        for call, what in _CALLS.items()
        if call in answers
    ]
    return f"{'Answers':<24} {', '.join(shares)}"


def group_table(title: str, groups: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One line a group: its tasks, success in percent before and after debug, and its mean reward."""
    if not groups:
        return []
    columns = {name: head for name, head in _COLUMNS.items() if all(name in of for of in groups.values())}
    heads = "".join(f"{head:>9}" for head in columns.values())
    lines = ["", f"{title:<{_NAME + 2}}{'tasks':>6}{heads}  reward"]
    for name, figures in groups.items():
        cells = "".join(f"{_percent(figures[column]):>9}" for column in columns)
        lines.append(f"  {name:<{_NAME}}{figures['tasks']:>6}{cells}{figures['mean_reward']:>8.3f}")
    return lines


def _percent(rate: Mapping[str, Any]) -> str:
    return f"{100 * rate['accuracy']:.1f}" if rate["total"] else "-"
