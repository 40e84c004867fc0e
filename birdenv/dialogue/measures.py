"""How a game is measured, as data: what is read off its records, and over which episodes it counts.

A game describes its figures here and leaves intervals, tables and files to `birdenv.runs`, which in turn
knows no game. The types stand in this room because games may import it, but not the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

Record: TypeAlias = Mapping[str, Any]
"""A line of `runs.jsonl` or `private.jsonl`."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of an episode, read off its public record.

    A run's figure is the mean over its episodes. A measure is the same as another if it has the same
    `value`, so make each once, at the top of a module.

    Args:
        name: Its key in `overall.json`.
        title: Its name in tables.
        value: Gives the figure of a record; None where the episode has no say in it.
        is_rate: It is true or false in an episode, 1 or 0. Else it is a number from `least` to `most`.
        over: The episodes that count: those that say something about the agent, or all.
        by_group: It is also worked out for each group of tasks.
        drawn: Its groups are also drawn in the text, on a line from 0 to 1.
        compared: `birdenv compare` holds runs against each other by it, and a rate has pass^k and pass@k.
        silent: Which episodes have no say, in words, for a note; empty if no note is needed.
        note: What a reader must know of it.
        less_is_better: It is a cost.
    """

    name: str
    title: str
    value: Callable[[Record], float | None]
    is_rate: bool = True
    over: Literal["rated", "all"] = "rated"
    by_group: bool = True
    drawn: bool = False
    compared: bool = True
    least: float = 0.0
    most: float = 1.0
    silent: str = ""
    note: str = ""
    less_is_better: bool = False


@dataclass(frozen=True, slots=True)
class Details:
    """Figures of a run that are no mean over its episodes.

    Args:
        figures: Keys of `overall.json` beside those that every game has.
        lines: The same for people, below the table of figures.
        notes: Sentences for the foot of the summary.
    """

    figures: Mapping[str, Any] = field(default_factory=dict)
    lines: Sequence[str] = ()
    notes: Sequence[str] = ()


def _no_groups(public: Record, private: Record) -> Mapping[str, tuple[str, ...]]:
    return {}


def _no_measures(records: Sequence[Record]) -> Sequence[Measure]:
    return ()


def _no_details(records: Sequence[Record], private: Sequence[Record]) -> Details:
    return Details()


def _no_fields(folder: Path) -> Mapping[str, Record]:
    return {}


def _nothing_more(arena: Any, folder: Path) -> None:
    pass


@dataclass(frozen=True, slots=True)
class GameMeasures:
    """All that a game's summary is made of, beside what every game has (statuses, what an agent used).

    Args:
        measures: The figures of every run, in the order in which they are shown.
        optional: Gives the figures that only some runs have, from the public records.
        groups: Gives the names of the groups of a record's task, by kind, from its public record and its
            private one (empty if it is not there). Every record has every kind.
        group_titles: The kinds of groups, with the words for them in tables (`By difficulty`).
        group_order: Names of groups that have an order of their own; the others follow it by name.
        clusters: The kind of group whose tasks resemble each other, one name a task. Further intervals
            resample it.
        details: Gives the figures that are no means, from the public and private records in task order.
        settings: The fields of `config.json` that the summary repeats, because figures depend on them.
        fields: Gives further fields of the public records, by episode name, that other files of the run
            folder hold.
        finish: Is called with the arena and the folder of a run whose last episode has ended, before it is
            summed up.
    """

    measures: tuple[Measure, ...]
    optional: Callable[[Sequence[Record]], Sequence[Measure]] = _no_measures
    groups: Callable[[Record, Record], Mapping[str, tuple[str, ...]]] = _no_groups
    group_titles: Mapping[str, str] = field(default_factory=dict)
    group_order: tuple[str, ...] = ()
    clusters: str | None = None
    details: Callable[[Sequence[Record], Sequence[Record]], Details] = _no_details
    settings: tuple[str, ...] = ()
    fields: Callable[[Path], Mapping[str, Record]] = _no_fields
    finish: Callable[[Any, Path], None] = _nothing_more
