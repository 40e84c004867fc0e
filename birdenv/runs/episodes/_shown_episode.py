"""Data classes for displaying episodes. `dataclasses.asdict` converts them to JSON data."""

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
        is_cut: True if fetching stopped at a limit, so that the query has more than `count` rows.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    count: int
    is_cut: bool


def result_table(result: QueryResult) -> ResultTable:
    """Return the first rows of a query result, as text for display."""
    rows = tuple(tuple(map(cell_text, row)) for row in result.rows[:FIRST_ROWS])
    return ResultTable(tuple(result.columns), rows, len(result.rows), result.truncated)


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """The display data of a move or other event in a dialogue.

    Attributes:
        seat: the name of the seat that acted; `house` for an event caused by the game itself.
        action: the name of the action.
        text: the message or SQL of the action, or other data as JSON.
        is_sql: True if `text` is SQL.
        reply: the game's reply to the move.
        refused: True if the game refused the move.
        subject: the words of the request that an answer quotes; empty for other events.
        verdict: the verdict on a submission; empty for other events.
        table: the first rows of a submission's result; None for other events, or if there is no result.
        error: the reason why a submission has no result; empty otherwise.
        difference: the difference between a submission's result and the gold result; None if unknown.
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
    """An ambiguous term in the request, and how the agent dealt with it.

    Attributes:
        term: the term.
        asked: True if the agent asked the user what the term means.
        answered: True if the user explained the meaning.
        used: True if the agent's SQL uses the intended meaning, judging by the text of the SQL and by whether
            the result is correct.
    """

    term: str
    asked: bool
    answered: bool
    used: bool


@dataclass(frozen=True, slots=True)
class ShownEpisode:
    """The display data of an episode.

    Attributes:
        name: the name of the episode in the run.
        task: the id of the task.
        status: the status with which the episode ended, such as `completed`.
        outcome: the last verdict if the episode was completed; otherwise the status.
        reward: the reward of the evaluated seat.
        error: the error that ended the episode; empty if there was no error.
        request: the request to the agent at the start of the episode.
        players: the name of each player, keyed by seat name.
        facts: other public fields of the record, such as the database and the difficulty.
        phases: the phases of the episode, each with its verdict.
        turns: the moves and other events of the dialogue, in order.
        sections: additional public text in titled sections, such as what each seat knew.
        culprit: who caused the failure; empty if the episode did not fail or the cause is unknown.
        terms: the ambiguous terms in the request, which agents must not see; empty if unknown.
        secrets: private text in titled sections, such as the gold SQL; empty if private parts are not shown.
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
