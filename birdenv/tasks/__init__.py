"""The SQL games.

`bird`, `c_interact` and `a_interact` hold one game each. `interact` holds what c-Interact and a-Interact
share, and `sql` what all three games share. This package exports the shared names that others use: the seats,
the actions of the system, the settings, and the text of query results.
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
