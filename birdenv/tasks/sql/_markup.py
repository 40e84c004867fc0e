"""The markup of the published c-Interact prompts: how a model's output is read (BIRD-Interact §2.2)."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from birdenv.dialogue import Move, View

TURN = "### Turn "
"""Opens a turn in the prompt. What a model writes behind one of its own is not taken for real."""

NO_SQL = "ERROR!"
"""The SQL of an output without a fence that opens as it must."""

MARKUP_HELP: Final = """\
Write a question as <s>your question</s>, one question a turn.
Write your final SQL as <t>```sql
your SQL
```</t>."""
"""Tells a model how to write for `read_markup`."""

_FENCES: Final = ("sqlite", "postgresql", "postgres", "sql")

_OPENING = {"</s>": "<s>", "</t>": "<t>"}


class Output(NamedTuple):
    """One output as part of the dialogue: what it is, and the text that counts."""

    kind: Literal["question", "submission", "untagged"]
    utterance: str


def read_output(text: str) -> Output:
    """Tell question from submission: `</s>` anywhere is a question, else `</t>` anywhere a submission.

    The utterance is what stands before the first such closing tag, from the first opening tag on, without
    opening tags. An output with neither tag counts as it is.

    >>> read_output("Let me see. <s>Which year?</s> ### Turn 2 <t>SELECT 1</t>")
    Output(kind='question', utterance='Which year?')
    """
    text = before_next_turn(text)
    if "</s>" in text:
        return Output("question", _enclosed(text, "</s>"))
    if "</t>" in text:
        return Output("submission", _enclosed(text, "</t>"))
    return Output("untagged", text)


def extract_sql(text: str, fence: str = "sqlite") -> str:
    """The first block fenced as `fence` (case-sensitive), up to the next fence or the end; else `ERROR!`.

    >>> extract_sql("<t>```sqlite\\nSELECT 1\\n```</t>"), extract_sql("<t>SELECT 1</t>")
    ('SELECT 1', 'ERROR!')
    """
    _, opened, rest = before_next_turn(text).partition(f"```{fence}")
    return rest.partition("```")[0].strip() if opened else NO_SQL


def before_next_turn(text: str) -> str:
    return text.partition(TURN)[0]


def _enclosed(text: str, closing: str) -> str:
    opening = _OPENING[closing]
    before = text.partition(closing)[0]
    return re.sub(opening, "", before[max(before.find(opening), 0) :]).strip()


def read_markup(text: str, view: View) -> Move:
    """Read a model's output as a move: a question, or SQL in a fence of any dialect.

    Where no question is possible, the output is searched for SQL in any case. SQL without a fence that opens
    as it must is `ERROR!`, as in the published scripts.
    """
    output = read_output(text)
    if "clarify" in view.legal and output.kind != "submission":
        return Move("clarify", output.utterance)
    source = output.utterance if output.kind == "submission" else before_next_turn(text)
    found = (extract_sql(source, fence) for fence in _FENCES)
    return Move("submit_sql", next((sql for sql in found if sql != NO_SQL), NO_SQL))
