"""The published figures of c-Interact and a-Interact as lines of text.

Those that a game does not have are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from birdenv.statistics import Interval, between, rate_line

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
    """The batch score over all tasks (0 to 1, as published), what it is made of, and how many tasks say
    something."""
    interval = official["normalized_reward_interval"]
    figure = f"{official['normalized_reward']:.4f}" if official["valid"] else "-"
    interval = interval if official["valid"] else None
    reward = f"{'Normalized reward':<24}{figure:>19}    "
    left_out = ", ".join(f"{count} {status}" for status, count in official["left_out"].items())
    valid = f"{'Valid tasks':<24}{official['valid']:>6}/{official['tasks']}"
    return [
        f"{reward}{between(Interval(*interval), share=False) if interval else ''}".rstrip(),
        *_formula_lines(official),
        f"{valid}  left out: {left_out}" if left_out else valid,
    ]


def _formula_lines(official: Mapping[str, Any]) -> list[str]:
    """How the score is made, with its letters explained; without them where attempts do not count."""
    tasks = f"over N = {official['tasks']} tasks"
    if "a" not in official:
        return [f"  (0.7 for phase 1 + 0.3 for phase 2) / N, {tasks}"]
    return [
        f"  (0.7a + 0.5b + 0.3c + 0.2d) / N, {tasks}",
        f"  phase 1 passed at once: a = {official['a']}, after debug: b = {official['b']}",
        f"  phase 2 passed at once: c = {official['c']}, after debug: d = {official['d']}",
    ]


def questions_text(asked: float | None, allowed: float | None, free: float | None = None) -> str:
    """Questions asked and allowed, and those that cost none because the user asked back; means over tasks."""
    if asked is None or allowed is None:
        return f"{'-':>6}"
    back = f", and {free:.2f} that were free because the user asked back" if free else ""
    return f"{asked:>6.2f} of {allowed:.2f} allowed{back}"


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
