"""Reading one action out of an assistant message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from birdenv.tasks import KINDS, tool_schemas

__all__ = ["read_action", "read_content"]

_ARGUMENT: dict[str, str] = {
    schema["function"]["name"]: schema["function"]["parameters"]["required"][0]
    for schema in tool_schemas(KINDS)
}
_CONTENT_LENGTH = 2**16


def read_action(reply: Any) -> dict[str, Any] | None:
    """The environment's action that the reply calls for, or None if it calls for no single valid one.

    A reply is an assistant message with exactly one entry in `tool_calls`, or that entry alone, or its
    `function`. `arguments` is a JSON text or an object, with the tool's argument and nothing else.
    """
    call = _only_call(reply)
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return None
    name, arguments = function.get("name"), _arguments(function.get("arguments"))
    if not isinstance(name, str) or name not in _ARGUMENT or not isinstance(arguments, Mapping):
        return None
    if set(arguments) != {_ARGUMENT[name]} or not isinstance(arguments[_ARGUMENT[name]], str):
        return None
    return {"kind": [*_ARGUMENT].index(name), "text": arguments[_ARGUMENT[name]]}


def read_content(reply: Any) -> str:
    """What the assistant said in words; empty where it said nothing."""
    content = reply.get("content") if isinstance(reply, Mapping) else None
    return content[:_CONTENT_LENGTH] if isinstance(content, str) else ""


def _only_call(reply: Any) -> Any:
    if not isinstance(reply, Mapping):
        return None
    if "name" in reply or "function" in reply:
        return reply
    calls = reply.get("tool_calls")
    return calls[0] if isinstance(calls, (list, tuple)) and len(calls) == 1 else None


def _arguments(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return None
