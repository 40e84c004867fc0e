"""How a game is measured, and how its episodes are shown to people: data, read off the records of a run.

A game declares its figures (`Game.measures`), which say what is read off records and over which episodes it
counts. It leaves intervals, tables and files to `birdenv.runs`. It declares the parts of an episode
(`Game.display`), which `birdenv show` and the pages of `birdenv.report` show. Both in turn know no game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from birdenv.dialogue.move import Event

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


@dataclass(frozen=True, slots=True)
class Section:
    """A part of an episode's page outside the dialogue: words, SQL or a table.

    Attributes:
        title: the heading.
        kind: whether `text` is to be read as words or as SQL, or the section is a table.
        text: the words or the SQL.
        columns: the names of the columns of a table.
        rows: the rows of a table.
    """

    title: str
    kind: Literal["text", "sql", "table"] = "text"
    text: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class Phase(NamedTuple):
    """One step on which an episode was judged: its title, the verdict, and the reward that it earned."""

    title: str
    verdict: str
    reward: float | None = None


class JudgedSubmission(NamedTuple):
    """A submission whose result can be held against that of a gold.

    Attributes:
        place: the place of its event in the log, from 0.
        sql: what was submitted.
        database: the database that it is about.
        golds: the golds; it is enough to agree with one. Empty where rows say nothing about the verdict.
        verdict: how it was judged.
    """

    place: int
    sql: str
    database: str
    golds: tuple[str, ...]
    verdict: str


def _request(record: Record) -> str:
    return str(record["example"]["scenario"].get("question", ""))


def _subject(event: Event) -> str:
    return ""


def _none(*records: Record) -> tuple[()]:
    return ()


def _no_notes(record: Record, private: Record) -> Mapping[int, str]:
    return {}


@dataclass(frozen=True, slots=True)
class GameDisplay:
    """What people see of an episode, apart from what every game has (dialogue, status, reward).

    Each function reads the public record of an episode, and some its private one, too.

    Attributes:
        request: returns what the episode began with.
        sections: returns further parts that are public.
        phases: returns the steps on which the episode was judged.
        subject: returns what an answer was about in the answer's own words; empty if it does not say.
        submissions: returns the submissions and the golds that they are held against. The golds are private:
            readers show how many rows differ, and the rows only to those who may see them.
        notes: returns private remarks on single events, by their places in the log.
        secrets: returns private parts: golds, and what was meant.
    """

    request: Callable[[Record], str] = _request
    sections: Callable[[Record], Sequence[Section]] = _none
    phases: Callable[[Record], Sequence[Phase]] = _none
    subject: Callable[[Event], str] = _subject
    submissions: Callable[[Record, Record], Sequence[JudgedSubmission]] = _none
    notes: Callable[[Record, Record], Mapping[int, str]] = _no_notes
    secrets: Callable[[Record, Record], Sequence[Section]] = _none


def table_section(title: str, rows: Sequence[Mapping[str, Any]]) -> Section:
    """Return a table of records; columns follow the first record that has them."""
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    cells = tuple(tuple(str(row.get(name, "")) for name in columns) for row in rows)
    return Section(title, "table", columns=columns, rows=cells)


DIALOGUE_ONLY: Final = GameDisplay()
"""The display of a game that declares none."""
