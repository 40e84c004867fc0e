"""A reader for model output in the markup of the published c-Interact prompts (BIRD-Interact §2.2)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final, Literal, NamedTuple

from birdenv.dialogue import Move, View
from birdenv.sql import NO_QUERY, first_words, split_statements
from birdenv.tasks.sql._actions import EXECUTE_SQL, READING_TOOLS

TURN = "### Turn "
"""The text that begins a turn in the prompt. Whatever a model writes after this text is ignored."""

NO_SQL = "ERROR!"
"""The text that is submitted if a model's output contains no SQL, as in the published scripts."""

SQL_EXPECTED = "No SQL was found in your message. Write it as a fenced code block between <t> and </t>."
"""The message to a model whose output contains no SQL. Prompts differ in the language name of the block."""

_TOOLS: Final = {action.name: action for action in (EXECUTE_SQL, *READING_TOOLS)}


def markup_help(names: Iterable[str], fence: str = "sql") -> str:
    """Return the instructions that tell a model how to write actions in markup.

    Args:
        names: the names of the actions. `submit_sql` is explained in any case.
        fence: the language name that follows the opening backticks of an SQL block.
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
"""The names of each dialect after the opening backticks. The published prompts use the first name."""

_NAMES: Final = sorted({name for names in _FENCES.values() for name in names}, key=len, reverse=True)
_BLOCK: Final = re.compile(rf"```({'|'.join(_NAMES)}|)(.*?)(?:```|\Z)", re.IGNORECASE | re.DOTALL)
_TAG: Final = re.compile(r"</?[st]>")
_BEGINNINGS: Final = NO_QUERY | {"SELECT", "WITH", "VALUES", "TABLE", "REPLACE", "PRAGMA"}

_OPENING = {"</s>": "<s>", "</t>": "<t>"}


def read_tool(text: str, legal: Collection[str]) -> tuple[str, Move] | None:
    """Return the first tool call in a model's output, as text and as a move, or None if there is none.

    Also return None if the output contains a question or a submission, because these take precedence over
    tool calls, as in the published scripts.

    Args:
        text: the model's output.
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
    """A model's output, as parsed by `read_output`.

    Attributes:
        kind: `question` or `submission`, or `untagged` if the output contains no closing tag.
        utterance: the part of the output that goes into the dialogue.
    """

    kind: Literal["question", "submission", "untagged"]
    utterance: str


def read_output(text: str) -> Output:
    """Read a model's output as a question if it contains `</s>`, or as a submission if it contains `</t>`.

    An output with both closing tags is a question. The utterance is the text between the first opening tag
    and the first closing tag, with any other opening tags removed. If there is no closing tag, the utterance
    is the whole output.

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
    """Return the language name that follows the opening backticks in the published prompts for a dialect.

    >>> fence_of("postgres")
    'postgresql'
    """
    return _FENCES[dialect][0]


def extract_sql(text: str, dialect: str = "sqlite") -> str:
    """Return the SQL in a model's output.

    The result is the first item in this list that exists:

    * a code block marked as SQL in the dialect (an unclosed block extends to the end of the output)
    * a code block marked as SQL in a different dialect
    * a code block without a language name that begins with an SQL keyword
    * the whole output, if it is one SQL statement
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
    """Return a model's output up to the first turn that the model invented."""
    return text.partition(TURN)[0]


def _enclosed(text: str, closing: str) -> str:
    opening = _OPENING[closing]
    before = text.partition(closing)[0]
    return re.sub(opening, "", before[max(before.find(opening), 0) :]).strip()


def read_markup(text: str, view: View) -> Move:
    """Return the move that a model's output contains: a question, a tool call, or a submission of SQL.

    If questions are not possible now, the whole output is searched for SQL. If there is no SQL to submit, the
    move submits `ERROR!`, as in the published scripts.
    """
    call = read_tool(text, view.legal)
    if call is not None:
        return call[1]
    output = read_output(text)
    if "clarify" in view.legal and output.kind != "submission":
        return Move("clarify", output.utterance)
    source = output.utterance if output.kind == "submission" else text
    return Move("submit_sql", extract_sql(source))
