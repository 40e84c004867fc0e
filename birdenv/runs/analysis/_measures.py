"""What is read off one record: the figures of each game, and the groups that a task belongs to.

A run of BIRD may have further metrics, which were asked for when it was played; a run of any game what its
agent says the episodes took.

What episodes of c-Interact came to, counted by phase and attempt (BIRD-Interact §5.1, §5.2).

One way of counting for a run, for grading it again, and for the result files of the published pipelines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, sqrt
from typing import Any, Literal

from birdenv.grading import batch_reward
from birdenv.runs._agents import Game
from birdenv.runs._episode import UNRATED
from birdenv.runs._usage import USAGE_TITLES
from birdenv.runs.analysis._statistics import bootstrap, wilson

GROUPS = {
    "category": "By category",
    "difficulty": "By difficulty",
    "high_level": "By level",
    "ambiguity": "By ambiguity",
    "database": "By database",
}
"""The kinds of groups, with the titles of their tables. Category Query is the paper's BI, Management its DM;
ambiguity is by type of what is annotated, of which a task may have several."""

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

    `followed`: episodes less those whose follow-up has no gold. `reached`: those that got to phase 2.
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


def task_groups(
    *, category: str, difficulty: str, database: str, high_level: bool | None, ambiguity: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """The groups of a task, by kind, from its fields; `ambiguity` are the types of its ambiguities."""
    level = "unknown" if high_level is None else "high level" if high_level else "detailed"
    return {
        "category": (category,),
        "difficulty": (difficulty,),
        "high_level": (level,),
        "ambiguity": tuple(sorted(set(ambiguity))),
        "database": (database,),
    }


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
    followed = sum(standing.follow_up != "ungraded" for standing in standings)
    reached = sum(standing.passed(1) and standing.follow_up == "graded" for standing in standings)
    return PhaseCounts(len(standings), followed, reached, a, b, c, d)


def phase_figures(standings: Sequence[EpisodeScore], *, all_followed: bool = False) -> dict[str, Any]:
    """Success before and after debug, what debug gained, and the mean reward, over these episodes.

    Phase 2 is divided by all of them, less those whose follow-up has no gold unless `all_followed`; and a
    second time by those that reached it. Each rate has its Wilson interval (95 %), None where tasks were
    played more than once, for then they are not independent.
    """
    counts = count_phases(standings)
    of_phase_2 = counts.tasks if all_followed else counts.followed
    once = len({standing.instance_id for standing in standings}) == counts.tasks

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
        "phase_2_first": rate(counts.c, of_phase_2),
        "phase_2": rate(counts.c + counts.d, of_phase_2),
        "phase_2_debug_gain": rate(counts.d, of_phase_2),
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
    figures = phase_figures(standings, all_followed=True)
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


def group_figures(
    standings: Sequence[EpisodeScore], kind: str, *, all_followed: bool = False
) -> dict[str, dict[str, Any]]:
    """`phase_figures` of each group of a kind, by name. A task may be in several groups, or in none."""
    names = sorted({name for standing in standings for name in standing.groups.get(kind, ())})
    return {
        name: phase_figures(
            [standing for standing in standings if name in standing.groups.get(kind, ())],
            all_followed=all_followed,
        )
        for name in names
    }


METRIC_TITLES = {
    "ex": "EX",
    "ex_bird": "EX (BIRD set)",
    "ordered": "EX in order",
    "colperm": "EX any columns",
    "superset": "EX superset",
    "soft_f1": "Soft-F1",
    "r_ves": "R-VES",
}
"""The metrics of BIRD by their names in tables, in the order in which they are shown."""

R_VES_NOTE = (
    "R-VES is measured and depends on this machine and on what else it does; compare only figures of one "
    "idle machine"
)


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of an episode. `value` is None where the episode has no say in it.

    A rate is 0 or 1 in an episode; what is no rate is a number from 0 to `most`. `in_groups`: also shown by
    difficulty and database. `silent`: which episodes have no say, in words.
    `note`: what a reader must know of it. `less_is_better`: it is a cost.
    """

    name: str
    title: str
    value: Callable[[Mapping[str, Any]], float | None]
    is_rate: bool = True
    in_groups: bool = False
    most: float = 1.0
    silent: str = "whose follow-up has no gold"
    note: str = ""
    less_is_better: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an episode says about the agent: its figures by name of the measure, if it is rated at all.

    `groups` holds the names of the groups that its task is in, by kind: none, one or several of each.
    """

    instance_id: str
    repeat: int
    status: str
    database: str
    groups: Mapping[str, tuple[str, ...]]
    values: Mapping[str, float | None]

    @property
    def rated(self) -> bool:
        return self.status not in UNRATED


def passed(run: Mapping[str, Any], phase: int, attempt: str | None = None) -> bool:
    """Whether a record of c-Interact has a phase passed: at that attempt (`first`, `debug`), or at any."""
    return any(
        a["reward"] > 0 and a["phase"] == phase and attempt in (None, a["attempt"]) for a in run["attempts"]
    )


def _phase(phase: int, attempt: str | None = None) -> Callable[[Mapping[str, Any]], float | None]:
    """Success in a phase. A follow-up whose gold is withheld is never asked, so it has no say."""

    def value(run: Mapping[str, Any]) -> float | None:
        if phase == 2 and run["follow_up"] == "ungraded":
            return None
        return float(passed(run, phase, attempt))

    return value


def _solved(run: Mapping[str, Any]) -> float:
    """Every phase that is asked and graded is passed, the first time or after debug."""
    return float(passed(run, 1) and (run["follow_up"] != "graded" or passed(run, 2)))


MEASURES: Mapping[Game, tuple[Measure, ...]] = {
    "bird": (
        Measure("ex", METRIC_TITLES["ex"], lambda run: float(run["result"]["ex"]), in_groups=True),
        Measure("ex_bird", METRIC_TITLES["ex_bird"], lambda run: float(run["result"]["ex_bird"])),
    ),
    "c-interact": (
        Measure("phase_1_first", "Phase 1, first try", _phase(1, "first")),
        Measure("phase_1", "Phase 1, after debug", _phase(1), in_groups=True),
        Measure("phase_2_first", "Phase 2, first try", _phase(2, "first")),
        Measure("phase_2", "Phase 2, after debug", _phase(2)),
        Measure("solved", "Solved, all phases", _solved),
        Measure("reward", "Mean reward", lambda run: float(run["reward"]), is_rate=False, in_groups=True),
    ),
    "a-interact": (
        Measure("phase_1", "Phase 1", _phase(1), in_groups=True),
        Measure("phase_2", "Phase 2", _phase(2)),
        Measure("solved", "Solved, all phases", _solved),
        Measure("reward", "Mean reward", lambda run: float(run["reward"]), is_rate=False, in_groups=True),
    ),
}
"""The figures of each game, in the order in which they are shown (BIRD-Interact §5.1 for c-Interact)."""

_NO_RATES = frozenset({"soft_f1"})


def _metric(name: str) -> Measure:
    """One that was asked for. An episode without a submission has none of it, which counts 0."""

    def value(run: Mapping[str, Any]) -> float:
        return float(run["result"].get("metrics", {}).get(name, 0.0))

    return Measure(name, METRIC_TITLES[name], value, is_rate=name not in _NO_RATES)


_R_VES = Measure(
    "r_ves",
    METRIC_TITLES["r_ves"],
    lambda run: run["r_ves"],
    is_rate=False,
    most=sqrt(1.25),
    silent="whose speed was not measured",
    note=R_VES_NOTE,
)
_METRICS = {name: _metric(name) for name in METRIC_TITLES if name not in ("ex", "ex_bird", "r_ves")}
_METRICS["r_ves"] = _R_VES


def _taken(name: str) -> Measure:
    """One that the agent reports."""

    def value(run: Mapping[str, Any]) -> float | None:
        taken = run.get("usage", {}).get(name)
        return None if taken is None else float(taken)

    silent = "whose agent does not report it"
    return Measure(
        name, USAGE_TITLES[name], value, is_rate=False, most=inf, silent=silent, less_is_better=True
    )


_USAGE = {name: _taken(name) for name in USAGE_TITLES}


def measures_of(game: Game, records: Iterable[Mapping[str, Any]]) -> tuple[Measure, ...]:
    """The game's figures, and those that any of the records has beside them.

    That are the metrics in `result.metrics`, `r_ves`, and what the agent reports in `usage`.
    """
    records = list(records)
    reported = {name for record in records if isinstance(of := record.get("usage"), Mapping) for name in of}
    usage = tuple(measure for name, measure in _USAGE.items() if name in reported)
    return (*MEASURES[game], *(_metrics_of(records) if game == "bird" else ()), *usage)


def _metrics_of(records: Iterable[Mapping[str, Any]]) -> tuple[Measure, ...]:
    found: set[str] = set()
    for record in records:
        result = record.get("result")
        metrics = result.get("metrics") if isinstance(result, Mapping) else None
        found |= set(metrics) if isinstance(metrics, Mapping) else set()
        found |= {"r_ves"} & record.keys()
    return tuple(measure for name, measure in _METRICS.items() if name in found)


def _bird_groups(record: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    fields = record.get("result", record)
    return {"difficulty": (fields["difficulty"],), "database": (fields["db_id"],)}


def _interact_groups(record: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return task_groups(
        category=record["category"],
        difficulty=record["difficulty"],
        database=record["database"],
        high_level=record.get("high_level"),  # runs of before it was recorded
        ambiguity=record.get("ambiguity_types", ()),
    )


def outcome(game: Game, record: Mapping[str, Any], measures: Iterable[Measure]) -> Outcome:
    """What a record of `runs.jsonl` says. Raises `ValueError` if a needed field is missing or wrong.

    The types of a task's ambiguities, which are private, stand in it as `ambiguity_types` where they are
    known.
    """
    measures = tuple(measures)
    try:
        groups = _bird_groups(record) if game == "bird" else _interact_groups(record)
        values = {measure.name: measure.value(record) for measure in measures}
    except KeyError as error:
        raise ValueError(f"the field `{error.args[0]}` is missing") from None
    except (AttributeError, TypeError, ValueError):
        raise ValueError("a figure is not a number") from None
    if not all(isinstance(name, str) for names in groups.values() for name in names):
        raise ValueError(f"the fields {', '.join(groups)} must be text")
    for measure in measures:
        value = values[measure.name]
        if value is not None and not 0 <= value <= measure.most + 1e-9:
            raise ValueError(f"a figure is not between 0 and {measure.most:g}")
    [database] = groups["database"]
    return Outcome(record["instance_id"], record.get("repeat", 0), record["status"], database, groups, values)
