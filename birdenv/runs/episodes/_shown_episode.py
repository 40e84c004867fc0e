"""Data classes that describe an episode for display. `dataclasses.asdict` converts them for JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from birdenv.databases import QueryResult
from birdenv.dialogue.measures import Phase, Section
from birdenv.runs.episodes._result_difference import ResultDifference, cell_text

FIRST_ROWS = 8
"""Maximum number of rows to show of a result."""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """The first rows of a query result, with cells as text and NULL as None.

    Attributes:
        columns: the names of the columns.
        rows: the first rows.
        count: the number of fetched rows.
        is_cut: True if the grader stopped fetching before the last row, so that there are more.
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
        seat: the name of the seat that acted; `house` for an event of the game itself.
        action: the action's name.
        text: the words or the SQL; other data as JSON.
        is_sql: True if `text` is SQL.
        reply: the reply of the game.
        refused: True if the move was refused.
        subject: what an answer is about, in the words of the answer.
        verdict: the verdict on a submission.
        table: the first rows of a submission's result.
        error: why a submission has no result.
        difference: how the submission's result differs from the gold's.
        note: a private remark about the event; empty if private parts are not shown.
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
    """An ambiguous term of the request, and whether the agent asked, was answered, and used it in its SQL.

    The term counts as used if the text of the SQL shows it, or if the result is right.
    """

    term: str
    asked: bool
    answered: bool
    used: bool


@dataclass(frozen=True, slots=True)
class ShownEpisode:
    """One episode.

    Attributes:
        name: the name of the episode in the run.
        task: the task's id.
        status: how the episode ended.
        outcome: the last verdict of a completed episode, else the status.
        reward: the reward of the evaluated seat.
        error: why the episode broke off.
        request: the request at the start of the episode.
        players: the players by the name of the seat.
        facts: other public fields of the record, such as the database and the difficulty.
        phases: the phases with their verdicts.
        turns: the events of the dialogue.
        sections: additional public texts, such as the schema, by title.
        culprit: who caused a failure; empty if this is not known.
        terms: the ambiguous terms of the request; private.
        secrets: private texts, such as the gold SQL, by title.
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
