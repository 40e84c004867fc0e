"""The words and panels that web pages show to a person in a seat. Programs do not need them.

A game declares the words with its seats (`Seat.words`). Its rules say what is left of limited resources
(`Rules.left_in_words`), and what the page shows beside the conversation (`Rules.panels`). The pages
themselves know nothing about any game.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Place: TypeAlias = Literal["message", "editor", "panel", "more"]
"""Where a page offers an action: in the text box below the conversation, in the code editor, in the rows of
a panel (`Panel.action`), or as a button of its own."""


@dataclass(frozen=True, slots=True)
class ActionWords:
    """The words with which pages offer an action to a person and show it in the conversation.

    Attributes:
        label: the text on the button.
        hint: one sentence that says what the action is for.
        place: where the page offers the action; by default, words go to the text box and code to the editor,
            and other actions have a button.
        done: how the conversation reports the action. For words and code, this follows the person's name
            ("ran this SQL"). Otherwise it is a line of its own, in which `{field}` is replaced by the value
            of the field; people who may not see the value read only the part before the colon.
        fields: the labels of the fields, by name.
        question: the question that the person must confirm before the action; empty if the action needs no
            confirmation, because it can be undone or repeated.
    """

    label: str
    hint: str = ""
    place: Place | Literal[""] = ""
    done: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    question: str = ""


@dataclass(frozen=True, slots=True)
class SeatWords:
    """The words on the pages of a seat.

    Attributes:
        actions: the words for each action, by the action's name.
        voices: by voice (the sender of a message), the name that people read.
        ends: sentences that say how the conversation ended, by status.
        points: a sentence about the reward, with `{points}` in place of the number; empty if the reward means
            nothing to people.
        replies: pairs of a phrase for programs, which the replies of the house contain, and the phrase that
            people read instead.
    """

    actions: Mapping[str, ActionWords] = field(default_factory=dict)
    voices: Mapping[str, str] = field(default_factory=dict)
    ends: Mapping[str, str] = field(default_factory=dict)
    points: str = "Your points: {points}."
    replies: tuple[tuple[str, str], ...] = ()

    def reply(self, text: str) -> str:
        """Return a reply of the house in the words for people."""
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
    """A table of a database: its name, its columns, and a sample of its rows as text."""

    name: str
    columns: tuple[ColumnNote, ...]
    sample: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the page beside the conversation. It shows only what the seat may know.

    Attributes:
        title: the heading, one or two words: on a phone it is the name of a tab.
        text: a text.
        columns: the names of the columns of a table.
        rows: the rows of the table.
        action: an action whose only field is an item; empty for none. Each row is then one of the seat's
            choices, in the same order, and has a button for the action.
        actions: further actions whose buttons are in this panel.
        tables: the tables of a database, for browsing and searching.
        entries: pairs of a name and a text, for browsing and searching.
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
    """Return a panel with a table of records. Columns are in the order of their first occurrence."""
    columns = tuple(dict.fromkeys(name for record in records for name in record))
    rows = tuple(tuple(str(record.get(name, "")) for name in columns) for record in records)
    return Panel(title, columns=columns, rows=rows, action=action)


NO_WORDS: Final = SeatWords()
"""The words of a seat that declares none. Pages then show the names of actions and voices."""
