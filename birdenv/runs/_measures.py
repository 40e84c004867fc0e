"""What is read off one public record: the figures of each game, and the groups that a task belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from birdenv.runs._agents import Game
from birdenv.runs._episode import UNRATED

__all__ = ["MEASURES", "Measure", "Outcome", "outcome", "passed"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of an episode. `value` is None where the episode has no say in it.

    A rate is 0 or 1 in an episode; what is no rate is a number from 0 to 1. `in_groups`: also shown by
    difficulty and database.
    """

    name: str
    title: str
    value: Callable[[Mapping[str, Any]], float | None]
    is_rate: bool = True
    in_groups: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an episode says about the agent: its figures by name of the measure, if it is rated at all."""

    instance_id: str
    repeat: int
    status: str
    database: str
    groups: Mapping[str, str]
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
        Measure("ex", "EX", lambda run: float(run["result"]["ex"]), in_groups=True),
        Measure("ex_bird", "EX (BIRD set)", lambda run: float(run["result"]["ex_bird"])),
    ),
    "c-interact": (
        Measure("phase_1_first", "Phase 1, first try", _phase(1, "first")),
        Measure("phase_1", "Phase 1, after debug", _phase(1), in_groups=True),
        Measure("phase_2_first", "Phase 2, first try", _phase(2, "first")),
        Measure("phase_2", "Phase 2, after debug", _phase(2)),
        Measure("solved", "Solved, all phases", _solved),
        Measure("reward", "Mean reward", lambda run: float(run["reward"]), is_rate=False, in_groups=True),
    ),
}
"""The figures of each game, in the order in which they are shown (BIRD-Interact §5.1 for c-Interact)."""

_GROUPS: Mapping[Game, tuple[str, ...]] = {
    "bird": ("difficulty", "db_id"),
    "c-interact": ("category", "difficulty", "database"),
}


def outcome(game: Game, record: Mapping[str, Any]) -> Outcome:
    """What a record of `runs.jsonl` says. Raises `ValueError` if a needed field is missing or wrong."""
    fields = record["result"] if game == "bird" and "result" in record else record
    try:
        groups = {"database" if name == "db_id" else name: fields[name] for name in _GROUPS[game]}
        values = {measure.name: measure.value(record) for measure in MEASURES[game]}
    except KeyError as error:
        raise ValueError(f"the field `{error.args[0]}` is missing") from None
    except (AttributeError, TypeError, ValueError):
        raise ValueError("a figure is not a number") from None
    if not all(isinstance(group, str) for group in groups.values()):
        raise ValueError(f"the fields {', '.join(_GROUPS[game])} must be text")
    if not all(value is None or 0 <= value <= 1 for value in values.values()):
        raise ValueError("a figure is not between 0 and 1")
    return Outcome(
        record["instance_id"], record.get("repeat", 0), record["status"], groups["database"], groups, values
    )
