"""The reader of the markup in the published c-Interact prompts (BIRD-Interact §2.2)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final, Literal, NamedTuple

from birdenv.dialogue import Move, View
from birdenv.sql import NO_QUERY, first_words, split_statements
from birdenv.tasks.sql._actions import EXECUTE_SQL, READING_TOOLS

TURN = "### Turn "
"""Begins a turn in the prompt. If a model writes it, the rest of the model's output is ignored."""

NO_SQL = "ERROR!"
"""Takes the place of SQL if an output contains none, as in the published scripts."""

_TOOLS: Final = {action.name: action for action in (EXECUTE_SQL, *READING_TOOLS)}


def markup_help(names: Iterable[str], fence: str = "sql") -> str:
    """Return instructions that tell a model how to write these actions.

    Args:
        names: the names of the actions, apart from `submit_sql`, which is always explained.
        fence: the name after the opening backticks of SQL.
    """
    names = tuple(names)
    question = (
        "Write a question as <s>your question</s>, one question per turn.\n" if "clarify" in names else ""
    )
    arguments = {name: "|".join(f.name for f in _TOOLS[name].fields) for name in names if name in _TOOLS}
    tools = "".join(f"\nCall {name} as <{name}>{words}</{name}>." for name, words in arguments.items())
    return f"{question}Write your final SQL as <t>```{fence}\nyour SQL\n```</t>.{tools}"


_FENCES: Final[Mapping[str, tuple[str, ...]]] = {
    "sqlite": ("sqlite", "sqlite3", "sql"),
    "postgres": ("postgresql", "postgres", "pgsql", "psql", "sql"),
}
"""The names of a dialect after the opening backticks; the published name is the first."""

_NAMES: Final = sorted({name for names in _FENCES.values() for name in names}, key=len, reverse=True)
_BLOCK: Final = re.compile(rf"```({'|'.join(_NAMES)}|)(.*?)(?:```|\Z)", re.IGNORECASE | re.DOTALL)
_TAG: Final = re.compile(r"</?[st]>")
_BEGINNINGS: Final = NO_QUERY | {"SELECT", "WITH", "VALUES", "TABLE", "REPLACE", "PRAGMA"}

_OPENING = {"</s>": "<s>", "</t>": "<t>"}


def read_tool(text: str, legal: Collection[str]) -> tuple[str, Move] | None:
    """Return the first tool call in an output, as text and as a move; None if the output calls no tool.

    A question or a submission takes precedence over a call, as in the published scripts.

    Args:
        text: the output.
        legal: the names of the actions that are possible now.

    >>> read_tool("I look. <execute_sql>SELECT 1</execute_sql>", ["execute_sql"])
    ('<execute_sql>SELECT 1</execute_sql>', Move(action='execute_sql', data='SELECT 1', trace=None))
    """
    text = before_next_turn(text)
    if any(closing in text for closing in _OPENING):
        return None
    places = {name: text.find(f"</{name}>") for name in legal if name in _TOOLS}
    found = [name for name, place in places.items() if place >= 0]
    if not found:
        return None
    name = min(found, key=places.__getitem__)
    words = text[: places[name]].rpartition(f"<{name}>")[2]
    data = _TOOLS[name].data_of_text(words.strip()) if _TOOLS[name].fields else None
    return f"<{name}>{words}</{name}>", Move(name, data)


class Output(NamedTuple):
    """An output of a model.

    Attributes:
        kind: what the output is.
        utterance: the part of the output that goes into the dialogue.
    """

    kind: Literal["question", "submission", "untagged"]
    utterance: str


def read_output(text: str) -> Output:
    """Read an output. It is a question if it contains `</s>`, and otherwise a submission if it contains
    `</t>`.

    The utterance is the text from the first opening tag to the first closing tag, without opening tags. The
    utterance of an output with neither tag is the whole output.

    >>> read_output("Let me see. <s>Which year?</s> ### Turn 2 <t>SELECT 1</t>")
    Output(kind='question', utterance='Which year?')
    """
    text = before_next_turn(text)
    if "</s>" in text:
        return Output("question", _enclosed(text, "</s>"))
    if "</t>" in text:
        return Output("submission", _enclosed(text, "</t>"))
    return Output("untagged", text)


def fence_of(dialect: str) -> str:
    """Return the published name of a dialect, which follows the opening backticks.

    >>> fence_of("postgres")
    'postgresql'
    """
    return _FENCES[dialect][0]


def expected_sql(dialect: str) -> str:
    """Return a message that tells a model how to write SQL so that it can be read."""
    return f"No SQL was found in that. Expected: <t>```{fence_of(dialect)} your SQL ```</t>."


def extract_sql(text: str, dialect: str = "sqlite") -> str:
    """Return the SQL in an output: the first of the following texts that exists.

    * a block whose fence names the dialect; a block ends at the next fence or at the end of the text
    * a block whose fence names another SQL dialect
    * a block whose fence has no name, and which begins with an SQL keyword
    * the whole text, if it is one statement
    * `ERROR!`

    >>> extract_sql("<t>```sqlite\\nSELECT 1\\n```</t>"), extract_sql("<t>SELECT 1</t>"), extract_sql("Well")
    ('SELECT 1', 'SELECT 1', 'ERROR!')
    """
    text = before_next_turn(text)
    blocks = [(found[1].lower(), found[2].strip()) for found in _BLOCK.finditer(text)]
    for names in (_FENCES[dialect], _NAMES):
        for name, block in blocks:
            if name in names:
                return block
    for name, block in blocks:
        if not name and _begins_as_sql(block):
            return block
    bare = _TAG.sub("", text).strip()
    if not blocks and _begins_as_sql(bare) and len(split_statements(bare)) == 1:
        return bare
    return NO_SQL


def _begins_as_sql(text: str) -> bool:
    return not _BEGINNINGS.isdisjoint(first_words(text, 1))


def before_next_turn(text: str) -> str:
    """Return the part of an output before the first further turn that the model invented."""
    return text.partition(TURN)[0]


def _enclosed(text: str, closing: str) -> str:
    opening = _OPENING[closing]
    before = text.partition(closing)[0]
    return re.sub(opening, "", before[max(before.find(opening), 0) :]).strip()


def read_markup(text: str, view: View) -> Move:
    """Return the move in a model's output: a question, a tool call, or the submission of fenced SQL.

    If no question is possible now, any output is searched for SQL. An output without SQL submits `ERROR!`, as
    in the published scripts.
    """
    call = read_tool(text, view.legal)
    if call is not None:
        return call[1]
    output = read_output(text)
    if "clarify" in view.legal and output.kind != "submission":
        return Move("clarify", output.utterance)
    source = output.utterance if output.kind == "submission" else text
    return Move("submit_sql", extract_sql(source))
