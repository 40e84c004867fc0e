"""Declarations of the figures that a game measures, and of the parts of its episodes that people see.

`Game.measures` declares how the figures of a run are computed from the records of its episodes;
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
"""The public or the private record of an episode: a line of `runs.jsonl` or `private.jsonl`."""

PARTNER_ERROR: Final = "partner error"
"""The status of an episode that ended because the player of another seat failed, not the evaluated agent."""

UNRATED: Final = frozenset({"ungraded", "skipped", PARTNER_ERROR, "infra_error", "test_error"})
"""The statuses of episodes that rates leave out, because they say nothing about the agent."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure that is read from the public record of each episode. The figure of a run is the mean.

    Two measures are equal only if they share the same function `value`, so create each measure only once, at
    the top of a module.

    Attributes:
        name: the key in `overall.json`.
        title: the name in tables.
        value: returns the figure of an episode from its record, or None if the episode does not count.
        is_rate: True if the figure of an episode is 0 or 1; otherwise, it lies between `least` and `most`.
        over: `rated` if the mean leaves out episodes with a status in `UNRATED`, `all` for all episodes.
        by_group: True if the figure is also computed for each group of tasks.
        drawn: True if the summary also plots the figures of the groups, on a scale from 0 to 1.
        compared: True if `birdenv compare` compares runs by this figure. A rate then also has pass^k and
            pass@k.
        least: the smallest possible figure of an episode.
        most: the largest possible figure of an episode.
        silent: a description of the episodes for which `value` returns None, for a note on their number;
            empty for no note.
        note: a remark that readers need to understand the figure.
        less_is_better: True if smaller figures are better.
        headline: True if the first screen of a summary shows the figure.
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
    """The parts of a run's summary that are not means over its episodes.

    Attributes:
        figures: further keys of `overall.json`, with their values.
        lines: lines of text about these figures, which the summary shows after the table of measures.
        notes: sentences for the end of the summary.
        screen: further lines for the first screen of the summary, by topic.
        reference: the lines that the reference implementation would print, word for word.
    """

    figures: Mapping[str, Any] = field(default_factory=dict)
    lines: Sequence[str] = ()
    notes: Sequence[str] = ()
    screen: Mapping[str, str] = field(default_factory=dict)
    reference: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class GameMeasures:
    """The parts of a run's summary that a game declares.

    Attributes:
        measures: the figures that every run has, in the order in which they are shown.
        optional: returns the figures that only some runs have, from the public records of a run.
        groups: returns the names of the groups to which a task belongs, by kind of group. The arguments are
            the public and the private record of an episode; a missing private record is empty.
        group_titles: the title of the table for each kind of group, such as `By difficulty`.
        group_order: the names of groups that come first in a table, in this order. Other groups follow,
            sorted by name.
        clusters: the kind of group whose tasks resemble each other, such as `database`. Intervals are also
            computed by resampling these groups instead of single tasks. None for no such intervals.
        details: returns the figures that are not means, from the public and the private records of a run.
        settings: the fields of `config.json` that the summary repeats, because figures depend on them.
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
"""The default measures of a game: the mean reward."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page about an episode, which shows a text, SQL or a table beside the dialogue.

    Attributes:
        title: the heading of the section.
        kind: `text`, `sql` or `table`.
        text: the text or the SQL; unused for a table.
        columns: the names of the table's columns; unused for a text or SQL.
        rows: the rows of the table; unused for a text or SQL.
    """

    title: str
    kind: Literal["text", "sql", "table"] = "text"
    text: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class Phase(NamedTuple):
    """A judged step of an episode, such as a submission.

    Attributes:
        title: the name of the step, such as `Phase 1, first attempt`.
        verdict: the verdict in words.
        reward: the reward that the step earned; None if it could not earn a reward.
    """

    title: str
    verdict: str
    reward: float | None = None


class JudgedSubmission(NamedTuple):
    """A submission of SQL, whose result a page can compare with the result of the gold SQL.

    Attributes:
        place: the index of the submission's event in the log, from 0.
        sql: the submitted SQL.
        database: the name of the database.
        golds: the gold statements. The submission must have the result of at least one gold statement. Empty
            if the verdict does not depend on the rows of a result.
        verdict: the verdict on the submission, such as `passed`.
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
    """The functions that extract from an episode's records what pages show, apart from the dialogue itself.

    Most functions take the public record of an episode; some also take its private record.

    Attributes:
        request: returns the request with which the episode began.
        sections: returns further sections that everybody may see.
        phases: returns the judged steps of the episode.
        subject: returns the words in an answer that name its topic, or an empty string.
        submissions: returns the submissions with their gold statements. Pages show everybody how many rows
            differ, but they show the rows only to readers who may see the gold SQL.
        notes: returns private remarks on events, by the event's index in the log.
        secrets: returns private sections, such as the gold SQL and the clear request.
    """

    request: Callable[[Record], str] = _request
    sections: Callable[[Record], Sequence[Section]] = lambda record: ()
    phases: Callable[[Record], Sequence[Phase]] = lambda record: ()
    subject: Callable[[Event], str] = lambda event: ""
    submissions: Callable[[Record, Record], Sequence[JudgedSubmission]] = lambda record, private: ()
    notes: Callable[[Record, Record], Mapping[int, str]] = lambda record, private: {}
    secrets: Callable[[Record, Record], Sequence[Section]] = lambda record, private: ()


def table_section(title: str, rows: Sequence[Mapping[str, Any]]) -> Section:
    """Return a section with a table of records. The columns are in the order in which keys first occur."""
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    cells = tuple(tuple(str(row.get(name, "")) for name in columns) for row in rows)
    return Section(title, "table", columns=columns, rows=cells)


DIALOGUE_ONLY: Final = GameDisplay()
"""The default display of a game: the request, the dialogue, the status and the reward."""
