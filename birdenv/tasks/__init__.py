"""The SQL games. A folder holds one game: its records, its loader, its rules; or what several games share:
`sql`, `interact` (c-Interact and a-Interact).

This door exports what the SQL games share: the two seats, the system's actions, and the text in which it
reads query results.
"""

from birdenv.tasks.sql._actions import (
    ARGUMENTS,
    KINDS,
    SENDERS,
    SYSTEM,
    TOOLS,
    USER,
    Kind,
    SqlMove,
    clarify,
    execute_sql,
    get_all_column_meanings,
    get_all_external_knowledge_names,
    get_all_knowledge_definitions,
    get_column_meaning,
    get_knowledge_definition,
    get_schema,
    submit_sql,
)
from birdenv.tasks.sql._records import Defects, as_script, in_dialect, read_defects, write_defects
from birdenv.tasks.sql._result_text import result_text
from birdenv.tasks.sql._settings import PUBLISHED, REPORTED, SqlSettings, select

__all__ = [
    "ARGUMENTS",
    "KINDS",
    "PUBLISHED",
    "REPORTED",
    "SENDERS",
    "SYSTEM",
    "TOOLS",
    "USER",
    "Defects",
    "Kind",
    "SqlMove",
    "SqlSettings",
    "as_script",
    "clarify",
    "execute_sql",
    "get_all_column_meanings",
    "get_all_external_knowledge_names",
    "get_all_knowledge_definitions",
    "get_column_meaning",
    "get_knowledge_definition",
    "get_schema",
    "in_dialect",
    "read_defects",
    "result_text",
    "select",
    "submit_sql",
    "write_defects",
]
