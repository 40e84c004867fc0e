"""The seats and actions of the SQL games, and functions that build moves such as `clarify("Which year?")`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, get_args

from birdenv.dialogue import Action, Field

SENDERS: Final = ("user", "database", "judge")
"""The possible senders of a message to the system."""

TURNS: Final = 1000
"""An upper bound of the observation field `turns_left`, which is always smaller."""

BUDGET: Final = 1000.0
"""The largest possible value of the observation field `budget`."""


SYSTEM, USER = 0, 1
"""The indices of the two seats: the evaluated system, and the simulated or human user."""

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


def _sql(empty: bool = False) -> tuple[Field, ...]:
    return (Field("sql", "code", empty=empty, about="The SQL, without code fences."),)


CLARIFY: Final = Action(
    "clarify",
    (Field("question", about="The question, in plain words."),),
    "Ask the user one question about what they mean.",
)
EXECUTE_SQL: Final = Action(
    "execute_sql", _sql(), "Run one SQL statement on your own copy of the database and see its result."
)
SUBMIT_SQL: Final = Action("submit_sql", _sql(), "Submit your final SQL for grading.")
SUBMIT_ANY_SQL: Final = Action("submit_sql", _sql(empty=True), SUBMIT_SQL.about)
"""The action `submit_sql` for games in which a submission may be empty."""

READING_TOOLS: Final = (
    Action("get_schema", (), "Read the schema of the database, with a few sample rows of each table."),
    Action("get_all_column_meanings", (), "Read what every column of the database holds."),
    Action(
        "get_column_meaning",
        (Field("table", about="The name of the table."), Field("column", about="The name of the column.")),
        "Read what one column holds.",
    ),
    Action(
        "get_all_external_knowledge_names",
        (),
        "Read the names of all knowledge entries about this database.",
    ),
    Action(
        "get_knowledge_definition",
        (Field("name", about="The name or id of the entry."),),
        "Read one knowledge entry, by its name or id.",
    ),
    Action("get_all_knowledge_definitions", (), "Read all knowledge entries about this database."),
)

ANSWER: Final = Action(
    "answer",
    (Field("text", empty=True, about="The answer, in plain words."),),
    "Answer the system's question in plain words.",
)

ASKING_GUIDE: Final = (
    "A customer wants something from a database, but the request is ambiguous. Ask what the customer means, "
    "in plain words and one point at a time. Then write the SQL and submit it. If it is wrong, you may "
    "correct it; if it is right, a second request may follow. The tables and what is known about them are "
    "beside the conversation."
)
ANSWERING_GUIDE: Final = (
    "You asked a data analyst for something in a few words, and the analyst will ask what you mean. What you "
    "want is written beside the conversation. Answer in plain words, answer only what you are asked, and do "
    "not write SQL."
)
"""The guides explain the task to people who take part as the system or as the user."""

ARGUMENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        action.name: tuple(field.name for field in action.fields)
        for action in (CLARIFY, EXECUTE_SQL, SUBMIT_SQL, *READING_TOOLS)
    }
)
"""The names of the arguments of each system action, by the name of the action."""

TOOLS: Final[tuple[Kind, ...]] = get_args(Kind)
"""The names of all actions of the system, of which only a-Interact has more than the first three. The index
of a name is the `kind` of the action in Gymnasium."""

KINDS: Final = TOOLS[:3]
"""The actions of c-Interact and BIRD: `clarify`, `execute_sql`, `submit_sql`."""


class SqlMove(dict[str, Any]):
    """A move by the system, which is also an action in the Gymnasium environments.

    Players can return a move of this type, and `env.step` accepts it. It equals the dict `{"kind": ...,
    "text": ...}`.

    Attributes:
        trace: an explanation of the move for the private record (see `birdenv.Move`), or None.
    """

    trace: Any = None

    def __init__(self, kind: int, text: str, data: Any) -> None:
        super().__init__(kind=kind, text=text)
        self._data = data

    @property
    def action(self) -> str:
        """Return the name of the action."""
        name: str = TOOLS[self["kind"]]
        return name

    @property
    def data(self) -> Any:
        """Return the data of the action."""
        return self._data


def clarify(question: str) -> SqlMove:
    """Return the move that asks the user a question.

    >>> clarify("Which year?")
    {'kind': 0, 'text': 'Which year?'}
    """
    return SqlMove(0, question, question)


def execute_sql(sql: str) -> SqlMove:
    """Return the move that runs an SQL statement on the system's own copy of the database."""
    return SqlMove(1, sql, sql)


def submit_sql(sql: str) -> SqlMove:
    """Return the move that submits SQL for grading, which uses a fresh copy of the database."""
    return SqlMove(2, sql, sql)


def get_schema() -> SqlMove:
    """Return the move that reads the schema: CREATE statements and sample rows (a-Interact)."""
    return SqlMove(3, "", None)


def get_all_column_meanings() -> SqlMove:
    """Return the move that reads the meanings of all columns (a-Interact)."""
    return SqlMove(4, "", None)


def get_column_meaning(table: str, column: str) -> SqlMove:
    """Return the move that reads the meaning of one column (a-Interact).

    >>> get_column_meaning("member", "age")
    {'kind': 5, 'text': 'member|age'}
    """
    return SqlMove(5, f"{table}|{column}", {"table": table, "column": column})


def get_all_external_knowledge_names() -> SqlMove:
    """Return the move that reads the names of the knowledge entries (a-Interact)."""
    return SqlMove(6, "", None)


def get_knowledge_definition(name: str) -> SqlMove:
    """Return the move that reads one knowledge entry, by its name or id (a-Interact)."""
    return SqlMove(7, name, name)


def get_all_knowledge_definitions() -> SqlMove:
    """Return the move that reads all knowledge entries (a-Interact)."""
    return SqlMove(8, "", None)
