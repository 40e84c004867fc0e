"""Declarations of what is measured in a game, and of what people see of its episodes.

`Game.measures` declares the figures of a run: how each is computed from records, and which episodes count.
`birdenv.runs` adds intervals, tables and files. `Game.display` declares the parts of an episode that
`birdenv show` and the pages of `birdenv.report` show. Neither package depends on any game.
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
"""The status of an episode in which the player of another seat failed. It says nothing about the agent."""

UNRATED: Final = frozenset({"ungraded", "skipped", PARTNER_ERROR, "infra_error", "test_error"})
"""The statuses that say nothing about the agent. Rates leave such episodes out; summaries count them."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of an episode, which is read from its public record.

    The figure of a run is the mean over its episodes. Two measures are equal only if they share the same
    function `value`, so create each measure once, at the top of a module.

    Attributes:
        name: the key in `overall.json`.
        title: the name in tables.
        value: returns the figure of a record, or None if the episode does not count.
        is_rate: True if the figure of an episode is 1 or 0; otherwise it lies between `least` and `most`.
        over: the episodes that count: `rated` for those that say something about the agent, or `all`.
        by_group: True if the figure is also computed for each group of tasks.
        drawn: True if the summary also plots the figures of the groups on a scale from 0 to 1.
        compared: True if `birdenv compare` compares runs by this figure. Rates then also have pass^k and
            pass@k.
        least: the smallest possible figure.
        most: the largest possible figure.
        silent: a description of the episodes that do not count, for the note about them; empty for no such
            note.
        note: a remark that readers need to understand the figure.
        less_is_better: True if the figure is a cost.
        headline: True if the figure is on the first screen of a summary.
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

    Attributes:
        figures: the figures, as further keys of `overall.json`.
        lines: the text about them for people, which follows the table of figures.
        notes: sentences for the end of the summary.
        screen: lines for the first screen, by topic, which follow the topic's figures.
        reference: the lines that the reference implementation prints, word for word.
    """

    figures: Mapping[str, Any] = field(default_factory=dict)
    lines: Sequence[str] = ()
    notes: Sequence[str] = ()
    screen: Mapping[str, str] = field(default_factory=dict)
    reference: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class GameMeasures:
    """The parts of a run's summary that depend on the game. Statuses and usage look the same for all games.

    Attributes:
        measures: the figures of every run, in the order in which they are shown.
        optional: returns the figures that only some runs have, from the public records.
        groups: returns the names of the groups that a task belongs to, for every kind of group. The arguments
            are the public and the private record of an episode; the private record is empty if it is missing.
        group_titles: the titles of the tables, such as `By difficulty`, by the kind of group.
        group_order: names of groups that come first, in this order; the others are sorted by name.
        clusters: the kind of group in which tasks resemble each other, such as the database; each task
            belongs to one group of this kind. Further intervals are computed by resampling these groups. None
            for no such intervals.
        details: returns the figures that are not means, from the public and the private records.
        settings: the fields of `config.json` that the summary repeats because figures depend on them.
    """

    measures: tuple[Measure, ...]
    optional: Callable[[Sequence[Record]], Sequence[Measure]] = lambda records: ()
    groups: Callable[[Record, Record], Mapping[str, tuple[str, ...]]] = lambda public, private: {}
    group_titles: Mapping[str, str] = field(default_factory=dict)
    group_order: tuple[str, ...] = ()
    clusters: str | None = None
    details: Callable[[Sequence[Record], Sequence[Record]], Details] = lambda records, private: Details()
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
    """A part of an episode's page beside the dialogue: a text, SQL or a table.

    Attributes:
        title: the heading.
        kind: the kind of content.
        text: the text or the SQL.
        columns: the names of the columns of a table.
        rows: the rows of a table.
    """

    title: str
    kind: Literal["text", "sql", "table"] = "text"
    text: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class Phase(NamedTuple):
    """One judged step of an episode: its title, the verdict, and the reward that it earned."""

    title: str
    verdict: str
    reward: float | None = None


class JudgedSubmission(NamedTuple):
    """A submission whose result can be compared with the result of a gold statement.

    Attributes:
        place: the index of its event in the log, from 0.
        sql: the submitted SQL.
        database: the name of the database.
        golds: the gold statements, of which the submission has to match one. Empty if the verdict does not
            depend on rows.
        verdict: the verdict on the submission.
    """

    place: int
    sql: str
    database: str
    golds: tuple[str, ...]
    verdict: str


def _request(record: Record) -> str:
    return str(record["example"]["scenario"].get("question", ""))


@dataclass(frozen=True, slots=True)
class GameDisplay:
    """What people see of an episode in addition to the dialogue, the status and the reward.

    The functions take the public record of an episode; some also take its private record.

    Attributes:
        request: returns the request with which the episode began.
        sections: returns further public parts.
        phases: returns the judged steps of the episode.
        subject: returns the words of an answer that name its topic; an empty string if there are none.
        submissions: returns the submissions with their gold statements, which are private. Pages show
            everybody how many rows differ, but they show the rows only to readers who may see the gold.
        notes: returns private remarks on single events, by the event's index in the log.
        secrets: returns private parts, such as the golds and what the user meant.
    """

    request: Callable[[Record], str] = _request
    sections: Callable[[Record], Sequence[Section]] = lambda record: ()
    phases: Callable[[Record], Sequence[Phase]] = lambda record: ()
    subject: Callable[[Event], str] = lambda event: ""
    submissions: Callable[[Record, Record], Sequence[JudgedSubmission]] = lambda record, private: ()
    notes: Callable[[Record, Record], Mapping[int, str]] = lambda record, private: {}
    secrets: Callable[[Record, Record], Sequence[Section]] = lambda record, private: ()


def table_section(title: str, rows: Sequence[Mapping[str, Any]]) -> Section:
    """Return a section with a table of records. Columns are in the order of their first occurrence."""
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    cells = tuple(tuple(str(row.get(name, "")) for name in columns) for row in rows)
    return Section(title, "table", columns=columns, rows=cells)


DIALOGUE_ONLY: Final = GameDisplay()
"""The display of a game that declares none."""
