"""What an episode says about the agent: the figures of its record, and the groups that its task is in."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final

from birdenv.dialogue.measures import UNRATED, GameMeasures, Measure, Record
from birdenv.runs.summaries._model_figures import USAGE_TITLES


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an episode says about the agent: its figures by name of the measure, if it is rated at all.

    `groups` holds the names of the groups that its task is in, by kind: none, one or several of each.
    `database` is the group whose tasks resemble each other; None in games that have no such groups.
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
"""What agents report. All episodes count, also those that are left out of the rates: they were paid for."""


def measures_of(game: GameMeasures, records: Sequence[Record]) -> tuple[Measure, ...]:
    """Give the game's measures, those that only some runs have, and those of what the agent reports.

    Measures of the last two kinds are given if any of the records has them.
    """
    reported = {name for record in records if isinstance(of := record.get("usage"), Mapping) for name in of}
    usage = (measure for name, measure in USAGE.items() if name in reported)
    return (*game.measures, *game.optional(records), *usage)


def outcome(game: GameMeasures, record: Record, private: Record, measures: Iterable[Measure]) -> Outcome:
    """Read a record of `runs.jsonl` and its private one.

    Raises:
        ValueError: A needed field is missing or wrong.
    """
    measures = tuple(measures)
    try:
        groups = game.groups(record, private)
        values = {measure.name: measure.value(record) for measure in measures}
    except KeyError as error:
        raise ValueError(f"the field `{error.args[0]}` is missing") from None
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise ValueError("a figure is not a number") from None
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
        raise ValueError(f"a figure is not between {measure.least:g} and {measure.most:g}")
