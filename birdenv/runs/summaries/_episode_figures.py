"""The outcomes of single episodes, and the total usage and faults of language models."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final

from birdenv.dialogue.measures import UNRATED, GameMeasures, Measure, Record

USAGE_TITLES: Final[Mapping[str, str]] = {
    "calls": "Model calls",
    "prompt_tokens": "Prompt tokens",
    "completion_tokens": "Completion tokens",
    "cost_usd": "Cost (USD)",
}
"""The fields of `birdenv.dialogue.Usage`, with their titles in tables (BIRD-Interact §5.2).

A player reports its usage by a method `usage`; players without that method have no usage. If an episode is
played again because its server was lost, only its last trial counts.
"""


def model_figures(records: Sequence[Record]) -> dict[str, Any]:
    """Count the faults and the usage of the language models that played. Return {} if no model played.

    `model_faults` counts faults, keyed by seat and kind of fault. `usage_of_others` is the total usage of
    each seat except the agent's, omitting numbers that some episodes do not report.
    """
    faults: dict[str, Counter[str]] = {}
    used: dict[str, list[Record]] = {}
    for record in records:
        for seat, kinds in record.get("model_faults", {}).items():
            faults.setdefault(seat, Counter()).update(kinds)
        for seat, usage in record.get("usage_of_others", {}).items():
            used.setdefault(seat, []).append(usage)
    found: dict[str, Any] = {}
    if faults:
        found["model_faults"] = {seat: dict(sorted(kinds.items())) for seat, kinds in sorted(faults.items())}
    if used:
        found["usage_of_others"] = {
            seat: {
                name: round(sum(each[name] for each in of), 10)
                for name in USAGE_TITLES
                if all(name in each for each in of)
            }
            for seat, of in sorted(used.items())
        }
    return found


def usage_text(used: Mapping[str, float]) -> str:
    """Describe model usage in words. The keys of `used` are field names of `birdenv.dialogue.Usage`."""
    parts = [f"{used['cost_usd']:.4f} US dollars"] if "cost_usd" in used else []
    parts += [f"{used['calls']:,.0f} model calls"] if "calls" in used else []
    parts += [f"{used['prompt_tokens']:,.0f} prompt tokens"] if "prompt_tokens" in used else []
    parts += [f"{used['completion_tokens']:,.0f} completion tokens"] if "completion_tokens" in used else []
    return ", ".join(parts)


def model_lines(figures: dict[str, Any]) -> list[str]:
    """Return the result of `model_figures` as lines of text."""
    lines = [
        f"Usage of the {seat}: " + ", ".join(f"{USAGE_TITLES[name].lower()} {n}" for name, n in used.items())
        for seat, used in figures.get("usage_of_others", {}).items()
    ]
    lines += [
        f"Notes on the {seat}'s model (see docs/language-models.md): "
        + ", ".join(f"{kind} {count}" for kind, count in kinds.items())
        for seat, kinds in figures.get("model_faults", {}).items()
    ]
    return ["", *lines] if lines else []


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an episode for the agent, with a value for each measure.

    Attributes:
        instance_id: the id of the task.
        repeat: the zero-based index of the repeat.
        status: the status with which the episode ended, such as `completed`.
        database: the task's database, which is used to cluster tasks; None in games without databases.
        groups: the names of the groups that the task belongs to, keyed by kind of group.
        values: the value of each measure, keyed by measure name; None for a measure without a value in this
            episode.
    """

    instance_id: str
    repeat: int
    status: str
    database: str | None
    groups: Mapping[str, tuple[str, ...]]
    values: Mapping[str, float | None]

    @property
    def rated(self) -> bool:
        return self.status not in UNRATED


def _used(name: str) -> Callable[[Record], float | None]:
    def value(run: Record) -> float | None:
        used = run.get("usage", {}).get(name)
        return None if used is None else float(used)

    return value


USAGE: Final[Mapping[str, Measure]] = {
    name: Measure(
        name,
        title,
        _used(name),
        is_rate=False,
        over="all",
        by_group=False,
        most=inf,
        silent="whose agent does not report it",
        less_is_better=True,
    )
    for name, title in USAGE_TITLES.items()
}
"""Measures of the usage that agents report. All episodes count, even those that the rates leave out, because
they cost money, too."""


def measures_of(game: GameMeasures, records: Sequence[Record]) -> tuple[Measure, ...]:
    """Return the measures of a run: the game's measures and the usage measures.

    Optional measures and usage measures are included only if at least one record has a value for them.
    """
    reported = {name for record in records if isinstance(of := record.get("usage"), Mapping) for name in of}
    usage = (measure for name, measure in USAGE.items() if name in reported)
    return (*game.measures, *game.optional(records), *usage)


def outcome(game: GameMeasures, record: Record, private: Record, measures: Iterable[Measure]) -> Outcome:
    """Return the outcome of an episode, given its record in `runs.jsonl` and its private record.

    Raises:
        ValueError: a required field is missing or invalid.
    """
    measures = tuple(measures)
    try:
        groups = game.groups(record, private)
        values = {measure.name: measure.value(record) for measure in measures}
    except KeyError as error:
        raise ValueError(f"the field `{error.args[0]}` is missing") from None
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise ValueError("a value is not a number") from None
    if not all(isinstance(name, str) for names in groups.values() for name in names):
        raise ValueError(f"the fields {', '.join(groups)} must be text")
    for measure in measures:
        _check(measure, values[measure.name])
    [database] = groups[game.clusters] if game.clusters is not None else (None,)
    return Outcome(record["instance_id"], record.get("repeat", 0), record["status"], database, groups, values)


def _check(measure: Measure, value: Any) -> None:
    if value is None:
        return
    if not measure.least <= value <= min(measure.most + 1e-9, sys.float_info.max):
        raise ValueError(f"a value is not between {measure.least:g} and {measure.most:g}")
