"""Words and views for people: what pages say and show to a person in a seat, not to a program.

A game declares the words with its seats (`Seat.words`). Its rules say what is left (`Rules.left_in_words`)
and what stands beside the conversation (`Rules.panels`). Pages know no game.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Place: TypeAlias = Literal["message", "editor", "panel", "more"]
"""Where a page has an action: the text box below the conversation, the one editor of code, the rows of a
panel (`Panel.action`), or a button of its own."""


@dataclass(frozen=True, slots=True)
class ActionWords:
    """The words by which an action is offered to a person and shown in the conversation.

    Attributes:
        label: what its button says.
        hint: one sentence that says what it is for.
        place: where the page has it; without it, the text box for words, the editor for code, else a button.
        done: how the conversation tells it: after the name of who did it for words and code ("ran this SQL"),
            as a line of its own otherwise, where `{field}` stands for what was given. One who may not see
            that reads what stands before a colon.
        fields: the labels of its fields, by name.
        question: asked before it is done; empty for what can be taken back or repeated.
    """

    label: str
    hint: str = ""
    place: Place | Literal[""] = ""
    done: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    question: str = ""


@dataclass(frozen=True, slots=True)
class SeatWords:
    """The words of a seat's pages.

    Attributes:
        actions: by the name of the action.
        voices: what those who speak are called, by voice.
        ends: sentences that say how the conversation ended, by status.
        points: tells the reward, which stands for `{points}`; empty where it says nothing to people.
        replies: words for programs in the house's replies, each with what people read instead.
    """

    actions: Mapping[str, ActionWords] = field(default_factory=dict)
    voices: Mapping[str, str] = field(default_factory=dict)
    ends: Mapping[str, str] = field(default_factory=dict)
    points: str = "Your points: {points}."
    replies: tuple[tuple[str, str], ...] = ()

    def reply(self, text: str) -> str:
        """Return a reply of the house in words for people."""
        for programs, people in self.replies:
            text = text.replace(programs, people)
        return text


class ColumnNote(NamedTuple):
    """A column of a database: its name, its type, and what it holds."""

    name: str
    type: str = ""
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class TableNote:
    """A table of a database: its name, its columns, and its first rows as text."""

    name: str
    columns: tuple[ColumnNote, ...]
    sample: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the page beside the conversation. It never tells more than the seat may know.

    Attributes:
        title: its heading, in a word or two: it is the name of a tab on a phone.
        text: words.
        columns: the names of the columns of a table.
        rows: its rows.
        action: an action whose only field is an item: each row is one of the seat's choices, in their order,
            and has a button for it.
        actions: further actions whose buttons stand in this panel.
        tables: the tables of a database, to browse and to search.
        entries: texts with a name each, to browse and to search.
    """

    title: str
    text: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    action: str = ""
    actions: tuple[str, ...] = ()
    tables: tuple[TableNote, ...] = ()
    entries: tuple[tuple[str, str], ...] = ()


def table_panel(title: str, records: list[dict[str, Any]], action: str = "") -> Panel:
    """Return a table of records; columns follow the first record that has them."""
    columns = tuple(dict.fromkeys(name for record in records for name in record))
    rows = tuple(tuple(str(record.get(name, "")) for name in columns) for record in records)
    return Panel(title, columns=columns, rows=rows, action=action)


NO_WORDS: Final = SeatWords()
"""The words of a seat that declares none: pages make do with names."""
