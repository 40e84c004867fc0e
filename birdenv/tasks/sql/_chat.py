"""The system's dialogue as chat messages with tool calls, the form that LLM policies and logs use."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from birdenv.dialogue import Event
from birdenv.tasks.sql._actions import ARGUMENTS, SEPARATOR, TOOLS, USER, Kind

_DESCRIPTION: dict[Kind, str] = {
    "clarify": "Ask the user one question about what they mean.",
    "execute_sql": "Run one SQL statement on your own copy of the database and see its result.",
    "submit_sql": "Hand in the final SQL for grading.",
    "get_schema": "Read the database's schema, with a few sample rows of each table.",
    "get_all_column_meanings": "Read what every column of the database holds.",
    "get_column_meaning": "Read what one column holds.",
    "get_all_external_knowledge_names": "Read the names of all knowledge entries about this database.",
    "get_knowledge_definition": "Read one knowledge entry, by its name or its id.",
    "get_all_knowledge_definitions": "Read all knowledge entries about this database.",
}


def tool_schemas(kinds: Iterable[Kind]) -> list[dict[str, Any]]:
    """JSON tool schemas (OpenAI's `tools` parameter) of these actions, in order."""
    return [
        {
            "type": "function",
            "function": {
                "name": kind,
                "description": _DESCRIPTION[kind],
                "parameters": {
                    "type": "object",
                    "properties": {name: {"type": "string"} for name in ARGUMENTS[kind]},
                    "required": list(ARGUMENTS[kind]),
                    "additionalProperties": False,
                },
            },
        }
        for kind in kinds
    ]


def chat_messages(instruction: str, events: Sequence[Event]) -> list[dict[str, Any]]:
    """The dialogue from the system's side: its moves as tool calls, all replies as tool results.

    The instruction is the first message, from the user. What was no tool call stands as words, and the reply
    to it as a message of the user's.
    """
    messages: list[dict[str, Any]] = [{"role": "user", "content": instruction}]
    call_id = ""
    for event in events:
        if event.agent == USER:
            messages.append({"role": "tool", "tool_call_id": call_id, "content": _answer(event)})
            continue
        if event.action not in TOOLS:
            messages.append(
                {"role": "assistant", "content": event.action if event.data is None else str(event.data)}
            )
            if event.metadata is not None:
                messages.append({"role": "user", "content": str(event.metadata["reply"])})
            continue
        call_id = f"call_{event.time}"
        arguments = json.dumps(_arguments(event.action, event.data), ensure_ascii=False)
        function = {"name": event.action, "arguments": arguments}
        messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": call_id, "type": "function", "function": function}],
            }
        )
        if event.metadata is not None:
            reply = str(event.metadata["reply"])
            messages.append({"role": "tool", "tool_call_id": call_id, "content": reply})
    return messages


def _answer(event: Event) -> str:
    """What the user said, and what the environment added to it."""
    return str(event.data) if event.metadata is None else f"{event.data}\n{event.metadata['reply']}"


def _arguments(kind: Kind, text: Any) -> dict[str, Any]:
    """The text of an action as the arguments of its tool."""
    names = ARGUMENTS[kind]
    several = len(names) > 1 and isinstance(text, str)
    return dict(zip(names, text.split(SEPARATOR, len(names) - 1) if several else [text], strict=False))
