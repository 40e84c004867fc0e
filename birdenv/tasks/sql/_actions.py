"""The two seats and the system's kinds of action.

What the system seat may see at one moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias, TypedDict

SYSTEM, USER = 0, 1
"""Seat indices: the evaluated agent and the simulated (or human) user."""

Kind: TypeAlias = Literal[
    "clarify",
    "execute_sql",
    "submit_sql",
    "get_schema",
    "get_all_column_meanings",
    "get_column_meaning",
    "get_all_external_knowledge_names",
    "get_knowledge_definition",
    "get_all_knowledge_definitions",
]

ARGUMENTS: Mapping[Kind, tuple[str, ...]] = MappingProxyType(
    {
        "clarify": ("question",),
        "execute_sql": ("sql",),
        "submit_sql": ("sql",),
        "get_schema": (),
        "get_all_column_meanings": (),
        "get_column_meaning": ("table", "column"),
        "get_all_external_knowledge_names": (),
        "get_knowledge_definition": ("name",),
        "get_all_knowledge_definitions": (),
    }
)
"""What the text of each action holds; two arguments stand in it with the separator between them."""

TOOLS: tuple[Kind, ...] = tuple(ARGUMENTS)
"""Index in this tuple = the `kind` of a Gymnasium action. Only a-Interact has those behind the third."""

KINDS: tuple[Kind, ...] = TOOLS[:3]
"""The kinds of action in c-Interact and BIRD: `clarify`, `execute_sql`, `submit_sql`."""

SEPARATOR = "|"
"""Between a table and a column, as in the benchmark's own column meanings."""

MAX_TEXT = 2**16
"""Characters of one action; a longer one is malformed."""


class Action(TypedDict):
    """A member of the environments' action space."""

    kind: int
    text: str


def clarify(question: str) -> Action:
    """Ask the user a question.

    >>> clarify("Which year?")
    {'kind': 0, 'text': 'Which year?'}
    """
    return {"kind": 0, "text": question}


def execute_sql(sql: str) -> Action:
    """Run a statement on the episode's own database and read the result."""
    return {"kind": 1, "text": sql}


def submit_sql(sql: str) -> Action:
    """Hand in the answer; it is graded on pristine data."""
    return {"kind": 2, "text": sql}


def get_schema() -> Action:
    """Read the schema: CREATE statements and sample rows."""
    return {"kind": 3, "text": ""}


def get_all_column_meanings() -> Action:
    """Read what every column holds."""
    return {"kind": 4, "text": ""}


def get_column_meaning(table: str, column: str) -> Action:
    """Read what one column holds.

    >>> get_column_meaning("member", "age")
    {'kind': 5, 'text': 'member|age'}
    """
    return {"kind": 5, "text": f"{table}{SEPARATOR}{column}"}


def get_all_external_knowledge_names() -> Action:
    """Read the names of the knowledge entries."""
    return {"kind": 6, "text": ""}


def get_knowledge_definition(name: str) -> Action:
    """Read one knowledge entry, by its name or its id."""
    return {"kind": 7, "text": name}


def get_all_knowledge_definitions() -> Action:
    """Read all knowledge entries."""
    return {"kind": 8, "text": ""}


Sender: TypeAlias = Literal["user", "database", "judge"]

SENDERS: tuple[Sender, ...] = ("user", "database", "judge")


class SystemView(NamedTuple):
    """The system's side of the dialogue.

    `instruction` is constant in an episode. `message` is the last thing said to the system and `sender` who
    said it. `turns_left` counts clarification questions (c-Interact; in a-Interact those that `budget` would
    pay for) or actions (BIRD). `legal` are the actions that the protocol accepts now. `candidates` are public
    candidate statements for the current question, where the benchmark has them. `budget` is what is left to
    spend on tools; None in the games without prices.
    """

    instruction: str
    message: str
    sender: Sender
    phase: int
    turns_left: int
    legal: tuple[Kind, ...]
    candidates: tuple[str, ...] = ()
    budget: float | None = None
