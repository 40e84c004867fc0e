"""The three SQL games: BIRD, c-Interact and a-Interact.

Each of the packages `bird`, `c_interact` and `a_interact` contains one game. The package `interact` contains
the code that c-Interact and a-Interact share, and `sql` the code that all three games share. This package
exports the names that the rest of birdenv uses: the seats, the system's actions, the settings, and the
functions that handle task records.
"""

from birdenv.tasks.sql._actions import (
    SENDERS,
    SYSTEM,
    USER,
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
from birdenv.tasks.sql._records import Defects, as_script, in_dialect, write_defects
from birdenv.tasks.sql._settings import PUBLISHED, SqlSettings, select

__all__ = [
    "PUBLISHED",
    "SENDERS",
    "SYSTEM",
    "USER",
    "Defects",
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
    "select",
    "submit_sql",
    "write_defects",
]
