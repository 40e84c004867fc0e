"""BIRD-Interact's published metrics, which count episodes by phase and attempt (§5.1, §5.2).

Run summaries, official result files and regrading use these metrics. Text output omits metrics that a game
does not have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from birdenv.dialogue.measures import UNRATED
from birdenv.statistics import Interval, between, bootstrap, rate_line, wilson
from birdenv.tasks.interact.rewards import batch_reward

FollowUpKind = Literal["none", "graded", "ungraded"]


@dataclass(frozen=True, slots=True)
class EpisodeScore:
    """The result of one episode, in the form that the published metrics need.

    Attributes:
        instance_id: the id of the task.
        status: how the episode ended, such as `completed`.
        passes: the phases that the episode passed, each as a pair such as `(1, "first")` or `(1, "debug")`.
        follow_up: `none` if the task has no follow-up, `graded` if it has one with gold SQL, and `ungraded`
            if its gold SQL is not published.
        groups: the names of the groups that the task belongs to, keyed by kind (`category`, `database`, ...).
    """

    instance_id: str
    status: str
    passes: frozenset[tuple[int, str]]
    follow_up: FollowUpKind
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_rated(self) -> bool:
        """Return True if rates include the episode, that is, if its status is not in `UNRATED`."""
        return self.status not in UNRATED

    def passed(self, phase: int, attempt: str | None = None) -> bool:
        """Return True if the episode passed a phase in the given attempt; by default, in either attempt."""
        return any(p == phase and attempt in (None, a) for p, a in self.passes)


@dataclass(frozen=True, slots=True)
class PhaseCounts:
    """The number of episodes in a batch that passed each phase.

    Attributes:
        tasks: the number of episodes.
        followed: the number of episodes of tasks that have a follow-up with gold SQL.
        reached: the number of episodes that reached phase 2.
        a: the number of episodes that passed phase 1 at the first attempt.
        b: the number of episodes that passed phase 1 after debugging.
        c: the number of episodes that passed phase 2 at the first attempt.
        d: the number of episodes that passed phase 2 after debugging.
    """

    tasks: int
    followed: int
    reached: int
    a: int
    b: int
    c: int
    d: int

    @property
    def mean_reward(self) -> float:
        """Return the mean reward of the episodes, from 0 to 1 (see `batch_reward`)."""
        return batch_reward(self.a, self.b, self.c, self.d, self.tasks)


def rated(standings: Iterable[EpisodeScore]) -> list[EpisodeScore]:
    """Return the episodes that rates include (see `EpisodeScore.is_rated`)."""
    return [standing for standing in standings if standing.is_rated]


def count_phases(standings: Sequence[EpisodeScore]) -> PhaseCounts:
    """Count the episodes that passed each phase, including episodes that rates exclude."""
    a, b, c, d = (
        sum(standing.passed(phase, attempt) for standing in standings)
        for phase in (1, 2)
        for attempt in ("first", "debug")
    )
    followed = sum(standing.follow_up == "graded" for standing in standings)
    reached = sum(standing.passed(1) and standing.follow_up == "graded" for standing in standings)
    return PhaseCounts(len(standings), followed, reached, a, b, c, d)


def phase_figures(standings: Sequence[EpisodeScore]) -> dict[str, Any]:
    """Return the success rates before and after debugging, the gain from debugging, and the mean reward.

    The rates of phase 2 are shares of all episodes, except `phase_2_of_reached`, which is a share of the
    episodes that reached phase 2. Each rate has a 95% Wilson interval. The interval is None if there is only
    one episode, or if a task was played more than once, because its episodes are then not independent.
    """
    counts = count_phases(standings)
    once = 1 < len({standing.instance_id for standing in standings}) == counts.tasks

    def rate(passed: int, total: int) -> dict[str, Any]:
        interval = wilson(passed, total) if once else None
        return {
            "passed": passed,
            "total": total,
            "accuracy": passed / total if total else 0.0,
            "interval": None if interval is None else [round(end, 6) for end in interval],
        }

    return {
        "tasks": counts.tasks,
        "phase_1_first": rate(counts.a, counts.tasks),
        "phase_1": rate(counts.a + counts.b, counts.tasks),
        "phase_1_debug_gain": rate(counts.b, counts.tasks),
        "phase_2_first": rate(counts.c, counts.tasks),
        "phase_2": rate(counts.c + counts.d, counts.tasks),
        "phase_2_debug_gain": rate(counts.d, counts.tasks),
        "phase_2_of_reached": rate(counts.c + counts.d, counts.reached),
        "mean_reward": counts.mean_reward,
    }


def official_figures(standings: Sequence[EpisodeScore]) -> dict[str, Any]:
    """Return the published metrics, which cover all episodes regardless of their status.

    The key `tasks` holds N, the number of episodes. `left_out` holds the number of episodes for each status
    that rates exclude, and `valid` the number of all other episodes. `normalized_reward` is (0.7a + 0.5b +
    0.3c + 0.2d) / N, which published tables multiply by 100, with a bootstrap interval over tasks. The share
    of `phase_2` in all N episodes is the published end-to-end success rate.
    """
    counts = count_phases(standings)
    left_out = Counter(standing.status for standing in standings if not standing.is_rated)
    figures = phase_figures(standings)
    reward = figures.pop("mean_reward")
    rewards = [count_phases([standing]).mean_reward for standing in standings]
    interval = bootstrap(rewards, [standing.instance_id for standing in standings])
    return {
        "tasks": counts.tasks,
        "valid": counts.tasks - left_out.total(),
        "left_out": dict(sorted(left_out.items())),
        "a": counts.a,
        "b": counts.b,
        "c": counts.c,
        "d": counts.d,
        "normalized_reward": reward,
        "normalized_reward_interval": None if interval is None else [round(end, 6) for end in interval],
        "normalized_reward_valid": count_phases(rated(standings)).mean_reward,
        **{name: figure for name, figure in figures.items() if name != "tasks"},
    }


def group_figures(standings: Sequence[EpisodeScore], kind: str) -> dict[str, dict[str, Any]]:
    """Return the `phase_figures` for each group of tasks, keyed by group name. Groups can overlap.

    Args:
        standings: the results of the episodes.
        kind: the kind of group, such as `database`.
    """
    names = sorted({name for standing in standings for name in standing.groups.get(kind, ())})
    return {
        name: phase_figures([standing for standing in standings if name in standing.groups.get(kind, ())])
        for name in names
    }


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
"""The titles of the kinds of answers. The paper calls the first three kinds AMB, LOC and UNA."""


def rate_lines(figures: Mapping[str, Any]) -> list[str]:
    """Return lines of text with the success rates in both phases, their intervals, and the debugging gain."""
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
    """Return lines of text with the published score, its formula, and the number of valid tasks."""
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
    """Return lines that explain the score, omitting a, b, c and d if every attempt earns the same reward."""
    tasks = f"over N = {official['tasks']} tasks"
    if "a" not in official:
        return [f"  (0.7 for phase 1 + 0.3 for phase 2) / N, {tasks}"]
    return [
        f"  (0.7a + 0.5b + 0.3c + 0.2d) / N, {tasks}",
        f"  phase 1 passed at once: a = {official['a']}, after debug: b = {official['b']}",
        f"  phase 2 passed at once: c = {official['c']}, after debug: d = {official['d']}",
    ]


def questions_text(asked: float | None, allowed: float | None, free: float | None = None) -> str:
    """Describe how many questions were asked, allowed and free per episode, on average."""
    if asked is None or allowed is None:
        return f"{'-':>6}"
    back = f", and {free:.2f} that were free because the user asked back" if free else ""
    return f"{asked:>6.2f} of {allowed:.2f} allowed{back}"


def answers_line(answers: Mapping[str, int]) -> str:
    """Return a line of text with the number and share of each kind of answer from the user."""
    total = sum(answers.values())
    shares = [
        f"{answers[call]} {what}" + (f" ({100 * answers[call] / total:.0f} %)" if total else "")
        for call, what in _CALLS.items()
        if call in answers
    ]
    return f"{'Answers':<24} {', '.join(shares)}"


def group_table(title: str, groups: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the lines of a table with the number of tasks, success rates and mean reward for each group."""
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
