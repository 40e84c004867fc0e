"""The text and panels that people see when they take part in an SQL game."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from birdenv.dialogue.people import ActionWords, ColumnNote, Panel, SeatWords, TableNote
from birdenv.tasks.sql._actions import ANSWER, CLARIFY, EXECUTE_SQL, SUBMIT_SQL

_SQL: Final = {"sql": "SQL"}
SUBMITTED: Final = ActionWords(
    "Submit", "Submit your answer to be judged.", done="submitted this SQL", fields=_SQL
)
RAN: Final = ActionWords("Run", "Try the SQL and see its result.", done="ran this SQL", fields=_SQL)

ASKING_WORDS: Final = SeatWords(
    {
        CLARIFY.name: ActionWords("Ask", "Ask the customer one question, in plain words"),
        EXECUTE_SQL.name: RAN,
        SUBMIT_SQL.name: SUBMITTED,
    },
    {"user": "Customer", "database": "Database", "judge": "Referee"},
    {
        "completed": "The task is over: nothing more can be submitted.",
        "ungraded": "Your SQL was received. This task has no published answer, so it is not judged.",
    },
    "Your SQL earned {points} of 1 point.",
    (
        ("it is not what the user asked for.", "it is not what the customer asked for."),
        ("You have one more attempt: submit_sql.", "You have one more attempt."),
        ("No further questions are possible: answer with submit_sql.", "You can ask no more questions."),
        ("Only submit_sql is possible now.", "Now you can only submit."),
        ("Only submit_sql was possible; the episode ends.", "You could only submit: the task is over."),
        (" The episode ends.", " That was your last attempt."),
        ("; the episode ends.", "; the task is over."),
        ("\nThe episode ends.", "\nThat was your last attempt."),
        ("No SQL given. execute_sql needs one SQL statement.", "There was no SQL to run."),
        ("No SQL given. submit_sql needs one SQL statement.", "There was no SQL to submit."),
        ("SQL submitted for evaluation.", "Your SQL was submitted."),
    ),
)
"""The labels and messages for a person in the system's seat, who asks questions and writes SQL."""

ANSWERING_WORDS: Final = SeatWords(
    {ANSWER.name: ActionWords("Answer", "Answer the analyst, in plain words")},
    {"system": "Analyst", "judge": "Referee"},
    {"completed": "The analyst has submitted an answer and has no more questions."},
    "The analyst's SQL earned {points} of 1 point.",
)
"""The labels and messages for a person in the user's seat, who answers questions."""

_CREATE: Final = re.compile(r"^\s*CREATE\s+TABLE\b", re.IGNORECASE | re.MULTILINE)
_NAME: Final = re.compile(r"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"`\[]?(\w+)", re.IGNORECASE)


def tables_panel(schema: str, meanings: Mapping[str, Any], dialect: str, about: str) -> Panel:
    """Return a panel that shows the tables of a schema, with their columns and sample rows.

    Args:
        schema: the CREATE statement of each table, optionally followed by sample rows.
        meanings: the meaning of each column, keyed by `database|table|column`.
        dialect: the SQL dialect, as sqlglot names it.
        about: the text to show above the tables.
    """
    known = tuple((key.lower(), _meaning(value)) for key, value in meanings.items())
    return Panel("Tables", about, tables=_tables(schema, known, dialect))


@lru_cache(maxsize=64)
def _tables(schema: str, meanings: tuple[tuple[str, str], ...], dialect: str) -> tuple[TableNote, ...]:
    by_column = {tuple(key.split("|")[1:]): meaning for key, meaning in meanings}
    starts = [found.start() for found in _CREATE.finditer(schema)]
    blocks = [schema[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
    return tuple(_table(block, by_column, dialect) for block in blocks)


def _table(block: str, meanings: Mapping[tuple[str, ...], str], dialect: str) -> TableNote:
    """Return the columns of a table, or its unchanged text if the CREATE statement cannot be parsed."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    found = _NAME.search(block)
    name = found[1] if found else "?"
    statement, _, sample = block.partition(");")
    try:
        columns = list(sqlglot.parse_one(f"{statement})", dialect=dialect).find_all(exp.ColumnDef))
    except SqlglotError:
        return TableNote(name, (), block)
    return TableNote(
        name,
        tuple(
            ColumnNote(
                each.name,
                each.kind.sql(dialect) if each.kind else "",
                meanings.get((name.lower(), each.name.lower()), ""),
            )
            for each in columns
        ),
        sample.strip(),
    )


def _meaning(value: Any) -> str:
    """Return the meaning of a column and, if the column holds JSON, the meaning of each field."""
    if not isinstance(value, Mapping):
        return str(value)
    fields = value.get("fields_meaning", {})
    return "\n".join([str(value.get("column_meaning", "")), *_fields(fields, "")]).strip()


def _fields(fields: Any, above: str) -> list[str]:
    if not isinstance(fields, Mapping):
        return []
    lines = []
    for name, value in fields.items():
        inside = isinstance(value, Mapping)
        lines += _fields(value, f"{above}{name}.") if inside else [f"{above}{name}: {value}"]
    return lines


def knowledge_panel(entries: Sequence[Mapping[str, Any]]) -> Panel:
    """Return a panel that shows the entries of a knowledge base."""
    return Panel(
        "Knowledge",
        entries=tuple(
            (
                str(entry["knowledge"]),
                "\n".join(str(entry[name]) for name in ("description", "definition") if entry[name]),
            )
            for entry in entries
        ),
    )


def counted(number: int, noun: str) -> str:
    """Return a number and a noun in the matching form, such as "1 question" or "no questions"."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
