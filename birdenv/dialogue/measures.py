"""How a game is measured, as data: what is read off its records, and over which episodes it counts.

A game declares its figures (`Game.measures`) and leaves intervals, tables and files to `birdenv.runs`, which
in turn knows no game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, Literal, TypeAlias

Record: TypeAlias = Mapping[str, Any]
"""A line of `runs.jsonl` or `private.jsonl`."""

PARTNER_ERROR: Final = "partner error"
"""Status of an episode that the player of another seat broke off: it says nothing about the agent."""

UNRATED: Final = frozenset({"ungraded", "skipped", PARTNER_ERROR, "infra_error", "test_error"})
"""Statuses that say nothing about the agent: left out of every rate, and said in the summary."""


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
        headline: It is on the first screen of a summary.
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
    headline: bool = True


@dataclass(frozen=True, slots=True)
class Details:
    """Figures of a run that are not means over its episodes.

    Args:
        figures: Keys of `overall.json` in addition to those that every game has.
        lines: Their text for people, below the table of figures.
        notes: Sentences for the foot of the summary.
        screen: What the first screen says below its figures: texts of one line by what they are about.
        reference: The lines that the reference implementation prints, word for word.
    """

    figures: Mapping[str, Any] = field(default_factory=dict)
    lines: Sequence[str] = ()
    notes: Sequence[str] = ()
    screen: Mapping[str, str] = field(default_factory=dict)
    reference: Sequence[str] = ()


def _no_groups(public: Record, private: Record) -> Mapping[str, tuple[str, ...]]:
    return {}


def _no_measures(records: Sequence[Record]) -> Sequence[Measure]:
    return ()


def _no_details(records: Sequence[Record], private: Sequence[Record]) -> Details:
    return Details()


@dataclass(frozen=True, slots=True)
class GameMeasures:
    """Everything in a game's summary, apart from what every game has (statuses, an agent's usage).

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
    """

    measures: tuple[Measure, ...]
    optional: Callable[[Sequence[Record]], Sequence[Measure]] = _no_measures
    groups: Callable[[Record, Record], Mapping[str, tuple[str, ...]]] = _no_groups
    group_titles: Mapping[str, str] = field(default_factory=dict)
    group_order: tuple[str, ...] = ()
    clusters: str | None = None
    details: Callable[[Sequence[Record], Sequence[Record]], Details] = _no_details
    settings: tuple[str, ...] = ()


def _reward(run: Record) -> float | None:
    reward = run.get("reward")
    return None if reward is None else float(reward)


REWARD: Final = GameMeasures(
    (
        Measure(
            "reward",
            "Mean reward",
            _reward,
            is_rate=False,
            least=-inf,
            most=inf,
            silent="whose record has no reward",
        ),
    )
)
"""The measures of a game that declares none."""
