"""The figures of c-Interact as lines of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from birdenv.runs._figure_text import between
from birdenv.runs._statistics import Interval
from birdenv.runs._summary_text import rate_line

__all__ = ["dialogue_lines", "group_table", "official_lines", "phase_lines"]

_NAME: Final = 28
_COLUMNS: Final = (
    ("P1 first", "phase_1_first"),
    ("P1", "phase_1"),
    ("P2 first", "phase_2_first"),
    ("P2", "phase_2"),
)
_CALLS: Final = {
    "labelled": "on annotated points",
    "unlabelled": "on other points",
    "unanswerable": "refused",
}
"""The user's calls in words; the paper's AMB, LOC and UNA."""


def phase_lines(figures: Mapping[str, Any]) -> list[str]:
    """The rates of both phases with their intervals; and how many tasks debug gained."""
    return [
        _rate_line("Phase 1, first try", figures["phase_1_first"]),
        _rate_line("Phase 1, after debug", figures["phase_1"], figures["phase_1_debug_gain"]),
        _rate_line("Phase 2, first try", figures["phase_2_first"]),
        _rate_line("Phase 2, after debug", figures["phase_2"], figures["phase_2_debug_gain"]),
        _rate_line("  of those that reached it", figures["phase_2_of_reached"]),
    ]


def _rate_line(name: str, rate: Mapping[str, Any], gain: Mapping[str, Any] | None = None) -> str:
    interval = between(Interval(*rate["interval"])) if rate["interval"] else ""
    gained = f"(+{gain['passed']})" if gain else ""
    return f"{rate_line(name, rate)}  {interval:<16}{gained}".rstrip()


def official_lines(official: Mapping[str, Any]) -> list[str]:
    """The batch score over all tasks, what it is made of, and how many tasks say something."""
    counts = ", ".join(f"{name} {official[name]}" for name in "abcd")
    interval = official["normalized_reward_interval"]
    reward = f"{'Normalized reward':<24}{100 * official['normalized_reward']:>19.2f}    "
    left_out = ", ".join(f"{count} {status}" for status, count in official["left_out"].items())
    valid = f"{'Valid tasks':<24}{official['valid']:>6}/{official['tasks']}"
    return [
        f"{reward}{between(Interval(*interval)) if interval else ''}".rstrip(),
        f"  over N = {official['tasks']} tasks: {counts}",
        f"{valid}  left out: {left_out}" if left_out else valid,
    ]


def dialogue_lines(asked: float, allowed: float, answers: Mapping[str, int]) -> list[str]:
    """Questions asked and allowed, means over the tasks; and what the user's answers were about."""
    total = sum(answers.values())
    shares = [
        f"{answers[call]} {what}" + (f" ({100 * answers[call] / total:.0f} %)" if total else "")
        for call, what in _CALLS.items()
    ]
    return [
        f"{'Questions per task':<24}{asked:>13.2f}  of {allowed:.2f} allowed",
        f"{'Answers':<24} {', '.join(shares)}",
    ]


def group_table(title: str, groups: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One line a group: its tasks, success in percent before and after debug, and its mean reward."""
    if not groups:
        return []
    columns = "".join(f"{name:>9}" for name, _ in _COLUMNS)
    lines = ["", f"{title:<{_NAME + 2}}{'tasks':>6}{columns}  reward"]
    for name, figures in groups.items():
        cells = "".join(f"{_percent(figures[field]):>9}" for _, field in _COLUMNS)
        lines.append(f"  {name:<{_NAME}}{figures['tasks']:>6}{cells}{figures['mean_reward']:>8.3f}")
    return lines


def _percent(rate: Mapping[str, Any]) -> str:
    return f"{100 * rate['accuracy']:.1f}" if rate["total"] else "-"
