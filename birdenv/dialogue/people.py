"""The text and panels that web pages show to a person in a seat.

A game declares the text with its seats (`Seat.words`). Its rules provide the text that states how much the
person can still do (`Rules.left_in_words`), and the panels beside the conversation (`Rules.panels`). The
pages themselves do not depend on any game.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Place: TypeAlias = Literal["message", "editor", "panel", "more"]
"""The place where a page offers an action: the text box below the conversation, the code editor, the rows of
a panel (`Panel.action`), or a separate button."""


@dataclass(frozen=True, slots=True)
class ActionWords:
    """The text that a page uses to offer an action to a person, and to report it in the conversation.

    Attributes:
        label: the text on the button.
        hint: one sentence that says what the action is for.
        place: the part of the page that offers the action. By default, natural language goes to the text box
            and code to the editor, and other actions have a separate button.
        done: the text that reports the action in the conversation. If the action has text, the report follows
            the person's name ("ran this SQL"). Otherwise, the report is a separate line, and `{field}` stands
            for the value of a field. People who must not see the value read only the part before the colon.
        fields: the labels of the action's fields, keyed by name.
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
    """The text on the page for a person in a seat.

    Attributes:
        actions: the text for each action, keyed by action name.
        voices: the names that people see for message senders, keyed by the sender's name in the game.
        ends: sentences about how the conversation ended, keyed by the final status of the episode.
        points: a sentence about the reward, with `{points}` in place of the number; empty to hide the reward.
        replies: replacements for phrases in the game's messages. Each is a pair of the phrase that programs
            read and the phrase that people read.
    """

    actions: Mapping[str, ActionWords] = field(default_factory=dict)
    voices: Mapping[str, str] = field(default_factory=dict)
    ends: Mapping[str, str] = field(default_factory=dict)
    points: str = "Your points: {points}."
    replies: tuple[tuple[str, str], ...] = ()

    def reply(self, text: str) -> str:
        """Return a message from the game with the replacements in `replies`."""
        for programs, people in self.replies:
            text = text.replace(programs, people)
        return text


class ColumnNote(NamedTuple):
    """A database column as shown in a panel: its name, its type, and the meaning of its values."""

    name: str
    type: str = ""
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class TableNote:
    """A database table as shown in a panel: its name, its columns, and sample rows as text."""

    name: str
    columns: tuple[ColumnNote, ...]
    sample: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the page beside the conversation, which shows only what the seat may know.

    Attributes:
        title: the heading. It has one or two words, because it also labels a tab on a phone.
        text: the text; empty for no text.
        columns: the names of a table's columns; empty for no table.
        rows: the rows of the table.
        action: the name of an action that chooses one row, and for which each row has a button; empty for no
            such action. The only field of the action is an `item`, and the rows are the seat's choices in the
            same order.
        actions: the names of other actions with buttons in this panel.
        tables: the tables of a database, which people can browse and search.
        entries: pairs of a name and its text, which people can browse and search.
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
    """Return a panel with a table of records. Columns are ordered by the first occurrence of their keys.

    If `action` is not empty, each row has a button for it (see `Panel`).
    """
    columns = tuple(dict.fromkeys(name for record in records for name in record))
    rows = tuple(tuple(str(record.get(name, "")) for name in columns) for record in records)
    return Panel(title, columns=columns, rows=rows, action=action)


NO_WORDS: Final = SeatWords()
"""The default text for a seat: pages show the names of actions and senders as they are in the game."""
