"""The published figures of BIRD-Interact: episodes counted by phase and attempt (§5.1, §5.2), and their text.

One way of counting for the published figures of a run, for the result files of the published pipelines, and
for grading again. Lines of figures that a game does not have are left out.
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
    """What one episode came to. `passes` are (phase, `first` or `debug`), one a phase at most.

    `follow_up`: `graded` where a follow-up could be asked and graded, `ungraded` where its gold is withheld.
    `groups` holds the names of the groups that the task is in, by kind (`category`, `database`, ...).
    """

    instance_id: str
    status: str
    passes: frozenset[tuple[int, str]]
    follow_up: FollowUpKind
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_rated(self) -> bool:
        """Return whether it says anything about the agent."""
        return self.status not in UNRATED

    def passed(self, phase: int, attempt: str | None = None) -> bool:
        """Return whether the phase was passed: at that attempt, or at any."""
        return any(p == phase and attempt in (None, a) for p, a in self.passes)


@dataclass(frozen=True, slots=True)
class PhaseCounts:
    """Passes over `tasks` episodes: `a` phase 1 at once, `b` phase 1 after debug, `c` and `d` phase 2
    likewise.

    `followed`: episodes whose task has a follow-up with gold. `reached`: those that got to phase 2.
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
        """(0.7a + 0.5b + 0.3c + 0.2d) / tasks; 0 without any."""
        return batch_reward(self.a, self.b, self.c, self.d, self.tasks)


def rated(standings: Iterable[EpisodeScore]) -> list[EpisodeScore]:
    """Return those that say something about the agent."""
    return [standing for standing in standings if standing.is_rated]


def count_phases(standings: Sequence[EpisodeScore]) -> PhaseCounts:
    """Count the phases of all episodes, rated or not."""
    a, b, c, d = (
        sum(standing.passed(phase, attempt) for standing in standings)
        for phase in (1, 2)
        for attempt in ("first", "debug")
    )
    followed = sum(standing.follow_up == "graded" for standing in standings)
    reached = sum(standing.passed(1) and standing.follow_up == "graded" for standing in standings)
    return PhaseCounts(len(standings), followed, reached, a, b, c, d)


def phase_figures(standings: Sequence[EpisodeScore]) -> dict[str, Any]:
    """Return success before and after debug, what debug gained, and the mean reward, over these episodes.

    Phase 2 is divided by all of them, and a second time by those that reached it. Each rate has its Wilson
    interval (95 %), None where tasks were played more than once, for then they are not independent,
    and for one episode.
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
    """Return the figures as they are published: over all tasks, whatever became of them.

    `tasks` is N; `valid` is N less `left_out`, the episodes that say nothing about the agent, by status.
    `normalized_reward` is (0.7a + 0.5b + 0.3c + 0.2d) / N (the published tables: x100), its interval a
    bootstrap over tasks; `phase_2` over N is the published end-to-end success.
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
    """Return `phase_figures` of each group of a kind, by name. A task may be in several groups, or in
    none.
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
"""The user's calls in words; the paper's AMB, LOC and UNA, and what was not understood."""


def rate_lines(figures: Mapping[str, Any]) -> list[str]:
    """Return the rates of both phases with their intervals; and how many tasks debug gained."""
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
    """Return the batch score over all tasks (0 to 1, as published), what it is made of, and how many tasks
    say something.
    """
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
    """Return how the score is made, with its letters explained; without them where attempts do not count."""
    tasks = f"over N = {official['tasks']} tasks"
    if "a" not in official:
        return [f"  (0.7 for phase 1 + 0.3 for phase 2) / N, {tasks}"]
    return [
        f"  (0.7a + 0.5b + 0.3c + 0.2d) / N, {tasks}",
        f"  phase 1 passed at once: a = {official['a']}, after debug: b = {official['b']}",
        f"  phase 2 passed at once: c = {official['c']}, after debug: d = {official['d']}",
    ]


def questions_text(asked: float | None, allowed: float | None, free: float | None = None) -> str:
    """Return questions asked and allowed, and those that cost none because the user asked back; means over
    tasks.
    """
    if asked is None or allowed is None:
        return f"{'-':>6}"
    back = f", and {free:.2f} that were free because the user asked back" if free else ""
    return f"{asked:>6.2f} of {allowed:.2f} allowed{back}"


def answers_line(answers: Mapping[str, int]) -> str:
    """Return what the user's answers were about."""
    total = sum(answers.values())
    shares = [
        f"{answers[call]} {what}" + (f" ({100 * answers[call] / total:.0f} %)" if total else "")
        for call, what in _CALLS.items()
        if call in answers
    ]
    return f"{'Answers':<24} {', '.join(shares)}"


def group_table(title: str, groups: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return one line a group: its tasks, success in percent before and after debug, and its mean reward."""
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
