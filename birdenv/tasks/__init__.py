"""The three SQL games: BIRD, c-Interact and a-Interact.

Each of the packages `bird`, `c_interact` and `a_interact` contains one game. The package `interact` contains
the code that c-Interact and a-Interact share, and `sql` the code that all three games share. This package
exports the names that the rest of birdenv uses: the seats, the system's actions, the settings, and the text
of query results.
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
from birdenv.tasks.sql._settings import PUBLISHED, SqlSettings, select

__all__ = [
    "ARGUMENTS",
    "KINDS",
    "PUBLISHED",
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
