"""What people are shown of one episode. Plain values, which `dataclasses.asdict` makes JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from birdenv.databases import QueryResult
from birdenv.dialogue.measures import Phase, Section
from birdenv.runs.episodes._result_difference import ResultDifference, cell_text

FIRST_ROWS = 8
"""Rows of a result that are shown."""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """The first rows of a result, as text; None is NULL.

    Attributes:
        columns: the names of the columns.
        rows: the first rows.
        count: how many rows there are, or at least are if `is_cut`.
        is_cut: the grader stopped fetching before the last row.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    count: int
    is_cut: bool


def result_table(result: QueryResult) -> ResultTable:
    """Return the first rows of a result."""
    rows = tuple(tuple(map(cell_text, row)) for row in result.rows[:FIRST_ROWS])
    return ResultTable(tuple(result.columns), rows, len(result.rows), result.truncated)


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """One event of the dialogue.

    Attributes:
        seat: the seat's name; `house` for the house.
        action: the action's name.
        text: the words or the SQL; other data as JSON.
        is_sql: `text` is SQL.
        reply: what the house said to it.
        refused: the move changed nothing.
        subject: what an answer was about, in its own words.
        verdict: how a submission was judged.
        table: the first rows of a submission's result.
        error: why a submission has no result.
        difference: the submission's result against the gold's.
        note: a private remark; empty where private parts are not shown.
    """

    seat: str
    action: str
    text: str
    is_sql: bool = False
    reply: str = ""
    refused: bool = False
    subject: str = ""
    verdict: str = ""
    table: ResultTable | None = None
    error: str = ""
    difference: ResultDifference | None = None
    note: str = ""


class OpenTerm(NamedTuple):
    """An ambiguous term of the request: whether the agent asked, was answered, and used it in its SQL.

    It used the term if the text of its SQL shows that, or if the result is right.
    """

    term: str
    asked: bool
    answered: bool
    used: bool


@dataclass(frozen=True, slots=True)
class ShownEpisode:
    """One episode.

    Attributes:
        name: its name in the run.
        task: the task's id.
        status: how it ended.
        outcome: the last verdict of one that was completed, else the status.
        reward: what the evaluated seat earned.
        error: why it broke off.
        request: what it began with.
        players: who played, by the name of the seat.
        facts: further fields of the record for people, such as the database and the difficulty.
        phases: the steps on which it was judged.
        turns: the dialogue.
        sections: further public parts.
        culprit: whose fault a failure was; empty if nobody said.
        terms: the open terms of the request; private.
        secrets: private parts.
    """

    name: str
    task: str
    status: str
    outcome: str
    reward: float
    error: str
    request: str
    players: dict[str, str]
    facts: dict[str, Any]
    phases: tuple[Phase, ...]
    turns: tuple[ShownEvent, ...]
    sections: tuple[Section, ...]
    culprit: str = ""
    terms: tuple[OpenTerm, ...] = ()
    secrets: tuple[Section, ...] = ()
