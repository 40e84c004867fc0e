"""The games. Each folder holds one: its records, its loader and its controller.

This door exports what they share: the two seats, the system's actions, what the system sees, the text in
which it reads query results, and the same dialogue as chat messages.
"""

from birdenv.tasks.sql._actions import (
    ARGUMENTS,
    KINDS,
    MAX_TEXT,
    SENDERS,
    SEPARATOR,
    SYSTEM,
    TOOLS,
    USER,
    Kind,
    Sender,
    SystemView,
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
from birdenv.tasks.sql._chat import chat_messages, tool_schemas
from birdenv.tasks.sql._dialects import as_script, in_dialect
from birdenv.tasks.sql._result_text import result_text

__all__ = [
    "ARGUMENTS",
    "KINDS",
    "MAX_TEXT",
    "SENDERS",
    "SEPARATOR",
    "SYSTEM",
    "TOOLS",
    "USER",
    "Kind",
    "Sender",
    "SystemView",
    "as_script",
    "chat_messages",
    "clarify",
    "execute_sql",
    "get_all_column_meanings",
    "get_all_external_knowledge_names",
    "get_all_knowledge_definitions",
    "get_column_meaning",
    "get_knowledge_definition",
    "get_schema",
    "in_dialect",
    "result_text",
    "submit_sql",
    "tool_schemas",
]
