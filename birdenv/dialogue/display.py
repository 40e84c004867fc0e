"""How an episode of a game is shown to people, as data that is read off the records of a run.

A game declares its parts (`Game.display`); `birdenv show` and the pages of `birdenv.report` show them, and in
turn know no game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from birdenv.dialogue.measures import Record
from birdenv.dialogue.move import Event


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
