"""What episodes of BIRD-Interact came to, counted by phase and attempt (BIRD-Interact §5.1, §5.2).

One way of counting for the published figures of a run, for the result files of the published pipelines, and
for grading again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from birdenv.dialogue.measures import UNRATED
from birdenv.grading import batch_reward
from birdenv.statistics import bootstrap, wilson

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
        """Whether it says anything about the agent."""
        return self.status not in UNRATED

    def passed(self, phase: int, attempt: str | None = None) -> bool:
        """Whether the phase was passed: at that attempt, or at any."""
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
    """Those that say something about the agent."""
    return [standing for standing in standings if standing.is_rated]


def count_phases(standings: Sequence[EpisodeScore]) -> PhaseCounts:
    """Count all of the standings, rated or not."""
    a, b, c, d = (
        sum(standing.passed(phase, attempt) for standing in standings)
        for phase in (1, 2)
        for attempt in ("first", "debug")
    )
    followed = sum(standing.follow_up == "graded" for standing in standings)
    reached = sum(standing.passed(1) and standing.follow_up == "graded" for standing in standings)
    return PhaseCounts(len(standings), followed, reached, a, b, c, d)


def phase_figures(standings: Sequence[EpisodeScore]) -> dict[str, Any]:
    """Success before and after debug, what debug gained, and the mean reward, over these episodes.

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
    """The figures as they are published: over all tasks, whatever became of them.

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
    """`phase_figures` of each group of a kind, by name. A task may be in several groups, or in none."""
    names = sorted({name for standing in standings for name in standing.groups.get(kind, ())})
    return {
        name: phase_figures([standing for standing in standings if name in standing.groups.get(kind, ())])
        for name in names
    }
