"""The games. Each folder holds one: its records, its loader and its controller.

This door exports what they share: the two seats, the system's actions, what the system sees, the text in
which it reads query results, and the same dialogue as chat messages.
"""

from birdenv.tasks._actions import KINDS, MAX_TEXT, SYSTEM, USER, Kind, clarify, execute_sql, submit_sql
from birdenv.tasks._chat import chat_messages, tool_schemas
from birdenv.tasks._result_text import result_text
from birdenv.tasks._script import as_script
from birdenv.tasks._view import SENDERS, Sender, SystemView

__all__ = [
    "KINDS",
    "MAX_TEXT",
    "SENDERS",
    "SYSTEM",
    "USER",
    "Kind",
    "Sender",
    "SystemView",
    "as_script",
    "chat_messages",
    "clarify",
    "execute_sql",
    "result_text",
    "submit_sql",
    "tool_schemas",
]
