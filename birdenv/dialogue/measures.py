"""Declarations of a game's metrics, and of the parts of an episode that people see.

`Game.measures` declares how the metrics of a run are computed from its episode records; `birdenv.runs` adds
intervals, tables and files. `Game.display` declares the parts of an episode that appear in `birdenv show` and
on the pages of `birdenv.report`. Neither package depends on any game.
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
    """A metric computed from the public record of each episode, and averaged over the episodes of a run.

    Two measures are equal only if they share the same `value` function, so create each measure once, at
    module level.

    Attributes:
        name: the key in `overall.json`.
        title: the name in tables.
        value: a function that returns the value for an episode, given its record, or None if the episode does
            not count.
        is_rate: True if the value for an episode is 0 or 1; otherwise, it lies between `least` and `most`.
        over: the episodes in the mean: `rated` to exclude episodes with a status in `UNRATED`, `all` to
            include all episodes.
        by_group: True if the mean is also computed for each group of tasks.
        drawn: True if the summary also plots the mean for each group, on a scale from 0 to 1.
        compared: True if `birdenv compare` compares runs by this measure. A rate then also has pass^k and
            pass@k.
        least: the minimum value for an episode.
        most: the maximum value for an episode.
        silent: a phrase that describes the episodes for which `value` returns None, used in a note on their
            number; empty for no note.
        note: a remark that helps readers to understand the measure.
        less_is_better: True if smaller values are better.
        headline: True if the first screen of a summary shows the measure.
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
    """Everything in a run summary except the means over episodes.

    Attributes:
        figures: additional entries for `overall.json`.
        lines: lines of text about these entries, to show after the table of measures.
        notes: sentences to show at the end of the summary.
        screen: additional lines for the first screen of the summary, keyed by topic.
        reference: the exact lines that the reference implementation would print.
    """

    figures: Mapping[str, Any] = field(default_factory=dict)
    lines: Sequence[str] = ()
    notes: Sequence[str] = ()
    screen: Mapping[str, str] = field(default_factory=dict)
    reference: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class GameMeasures:
    """The parts of a run summary that a game declares.

    Attributes:
        measures: the measures of every run, in display order.
        optional: a function that returns the measures that only some runs have, given the public records of a
            run.
        groups: a function that returns the names of the groups that a task belongs to, keyed by kind of
            group. The arguments are the public record and the private record (possibly empty) of an episode.
        group_titles: the title of the table for each kind of group, such as `By difficulty`.
        group_order: the names of groups that come first in a table, in this order. Other groups follow,
            sorted by name.
        clusters: the kind of group in which tasks resemble each other, such as `database`. Additional
            intervals are then computed by resampling these groups instead of single tasks. None for no such
            intervals.
        details: a function that returns the rest of the summary, given the public and private records of a
            run.
        settings: the fields in `config.json` that the summary repeats, because the measures depend on them.
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
    """A section of an episode's page, which shows text, SQL or a table beside the dialogue.

    Attributes:
        title: the heading of the section.
        kind: `text`, `sql` or `table`.
        text: the text or the SQL; unused for a table.
        columns: the names of the table's columns; unused for text or SQL.
        rows: the rows of the table; unused for text or SQL.
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
    """An SQL submission. A page can compare its result with the result of the gold SQL.

    Attributes:
        place: the index of the submission's event in the log, from 0.
        sql: the submitted SQL.
        database: the name of the database.
        golds: the gold statements. The submission's result must match the result of at least one of them.
            Empty if the verdict does not depend on result rows.
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
    """Functions that return what pages show about an episode in addition to the dialogue.

    Most functions take the public record of an episode; some also take its private record.

    Attributes:
        request: returns the request that the episode began with.
        sections: returns additional sections that everybody may see.
        phases: returns the judged steps of the episode.
        subject: returns the words in an answer that name its topic; empty if there are none.
        submissions: returns the submissions with their gold statements. Pages show all readers how many rows
            differ, but show the rows themselves only to readers who may see the gold SQL.
        notes: returns private remarks on events, keyed by the event's index in the log.
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
    """Return a section with a table of records. Columns are ordered by the first occurrence of their keys."""
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    cells = tuple(tuple(str(row.get(name, "")) for name in columns) for row in rows)
    return Section(title, "table", columns=columns, rows=cells)


DIALOGUE_ONLY: Final = GameDisplay()
"""The default display of a game: the request, the dialogue, the status and the reward."""
