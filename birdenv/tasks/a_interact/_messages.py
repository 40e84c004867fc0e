"""The messages to the system in a-Interact, and the answers from the six tools that explain the database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from birdenv.databases import QueryError
from birdenv.tasks.a_interact._budget import COSTS, MALFORMED_COST, Budget
from birdenv.tasks.interact._knowledge import DatabaseNotes, shown_knowledge
from birdenv.tasks.interact._task import PublicTask
from birdenv.tasks.sql._actions import ARGUMENTS, TOOLS, Kind
from birdenv.tasks.sql._result_text import not_executed

LONGEST = 60_000
"""The maximum number of characters in a tool's answer. No answer in the public benchmarks is longer."""


def look_up(
    kind: Kind, argument: Any, notes: DatabaseNotes, deleted: frozenset[int], *, renumber: bool = True
) -> str:
    """Return the answer of a tool that explains the database, truncated to `LONGEST` characters.

    Args:
        kind: the name of the tool, such as `get_schema`.
        argument: the argument of the tool. For `get_column_meaning`, this is `{"table": ..., "column": ...}`;
            for `get_knowledge_definition`, the name or visible id of the entry. Names are not case-sensitive.
            Other tools ignore the argument.
        notes: the schema, knowledge and column meanings of the database.
        deleted: the ids of knowledge entries that the system must not see.
        renumber: True to number the visible entries consecutively, because a gap would reveal a deleted
            entry.

    Raises:
        ValueError: `kind` is any other action, such as `submit_sql`.
    """
    entries = shown_knowledge(notes, deleted, renumber=renumber)
    match kind:
        case "get_schema":
            text = notes.schema
        case "get_all_column_meanings":
            text = _all_meanings(notes.column_meanings)
        case "get_column_meaning":
            text = _meaning(notes.column_meanings, argument)
        case "get_all_external_knowledge_names":
            text = _lines({"id": entry["id"], "knowledge": entry["knowledge"]} for entry in entries)
        case "get_knowledge_definition":
            text = _definition(entries, argument)
        case "get_all_knowledge_definitions":
            text = _lines(entries)
        case _:
            raise ValueError(f"{kind} is not a reading tool")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text) - LONGEST} more characters)"


def _lines(entries: Iterable[Mapping[str, Any]]) -> str:
    lines = [json.dumps(entry, ensure_ascii=False) for entry in entries]
    return "\n".join(lines) or "There is no knowledge about this database."


def _definition(entries: Iterable[Mapping[str, Any]], wanted: str) -> str:
    """Return the entries with a given name or id as text. Several entries may have the same name."""
    name = wanted.strip().casefold()
    found = [entry for entry in entries if name in (entry["knowledge"].strip().casefold(), str(entry["id"]))]
    return _lines(found) if found else "There is no knowledge entry with that name or id."


def _all_meanings(meanings: Mapping[str, Any]) -> str:
    lines = [f"{_column(key)}: {_text(meaning)}" for key, meaning in meanings.items()]
    return "\n".join(lines) or "No column meanings are recorded for this database."


def _meaning(meanings: Mapping[str, Any], wanted: Mapping[str, str]) -> str:
    parts = [wanted[name].strip().lower() for name in ("table", "column")]
    for key, meaning in meanings.items():
        if _column(key).lower().split("|") == parts:
            return f"{_column(key)}: {_text(meaning)}"
    return "No meaning is recorded for that column."


def _column(key: str) -> str:
    """Return the part `table|column` of a key `database|table|column`."""
    return key.partition("|")[2]


def _text(meaning: Any) -> str:
    """Return the meaning of a column as text. If the column holds JSON, its meaning is an object."""
    return meaning if isinstance(meaning, str) else json.dumps(meaning, ensure_ascii=False)


LEFT = "You left the task."
DONE_AND_SPENT = "Your SQL is correct. Your budget is used up; the episode ends."
NOT_SUBMITTED = "Only submit_sql was possible; the episode ends."

_RULES = """\
You help a user to get an answer from a {engine} database. The user's request is ambiguous: first find out
what is meant, then write the SQL. Every tool has a price, which is taken from your budget of {budget} before
it runs:
{tools}
Submit as often as your budget allows. A submission that the budget does not cover takes the rest of it, and
is your last one. If your SQL is right, a follow-up request may come, which is paid from the same budget. If
the budget does not cover another tool, the tool is refused, which costs nothing; but then only submit_sql is
possible, and anything else ends the task.
An action that is not one of these, or that lacks an argument, costs {malformed:g}.
The user knows what they want, but not how the data is stored. Ask in plain words, one point at a time."""

_WHAT: dict[Kind, str] = {
    "clarify": "asks the user a question; of several in one message, the user answers only the first two",
    "execute_sql": "runs one statement on your own copy of the database and shows the result",
    "submit_sql": "submits your SQL for grading",
    "get_schema": "shows the schema, with a few sample rows of each table",
    "get_all_column_meanings": "shows what every column holds",
    "get_column_meaning": "shows what one column holds",
    "get_all_external_knowledge_names": "lists the names of the knowledge entries",
    "get_knowledge_definition": "shows one knowledge entry, by its name or id",
    "get_all_knowledge_definitions": "shows all knowledge entries",
}


def instruction(task: PublicTask, engine: str, total: int) -> str:
    """Return the system's instruction: the rules, the tools with their prices, and the request."""
    rules = _RULES.format(
        engine=engine, budget=total, tools="\n".join(map(_tool, TOOLS)), malformed=MALFORMED_COST
    )
    return f"{rules}\n\nRequest: {task.question}\n\nDatabase: {task.database}"


def budget_left(budget: Budget) -> str:
    """Return the sentence that ends every reply, which states the remaining budget."""
    return f"Budget left: {budget.left:g} of {budget.total}."


def malformed(action: str, legal: Sequence[Kind]) -> str:
    """Return the message that refuses an invalid action and names its arguments or the possible actions."""
    arguments = ARGUMENTS.get(action) if action in TOOLS else None
    if not arguments:
        return f"That is not a valid action. Possible actions: {', '.join(legal)}."
    return f"{action} needs {'an argument' if len(arguments) == 1 else 'arguments'}: {'|'.join(arguments)}."


def over_budget(kind: Kind) -> str:
    """Return the message that refuses a tool because the budget does not cover its price."""
    price = f"{kind} costs {COSTS[kind]:g}, which is more than you have left"
    return f"{price}. Only submit_sql is possible now."


def failed(status: str, error: QueryError | None, error_text: bool, *, last: bool) -> str:
    """Return the feedback on a failed submission, which reveals nothing about the expected result."""
    if error is not None:
        why = not_executed(error, error_text)
    elif status == "no_submission":
        why = "There is no SQL in your submission."
    else:
        why = "Your SQL runs, but it is not what the user asked for."
    return f"{why} Your budget is used up; the episode ends." if last else why


def follow_up(query: str) -> str:
    """Return the message that says that phase 1 is passed, followed by the follow-up request."""
    return f"Your SQL is correct. Follow-up request: {query}"


def _tool(kind: Kind) -> str:
    arguments = f" {'|'.join(ARGUMENTS[kind])}" if ARGUMENTS[kind] else ""
    return f"- {kind}{arguments} ({COSTS[kind]:g}): {_WHAT[kind]}"
