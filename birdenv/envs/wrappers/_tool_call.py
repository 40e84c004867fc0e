"""Reading one action out of an assistant message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from birdenv.tasks import ARGUMENTS, SEPARATOR, TOOLS

__all__ = ["read_action", "read_content"]

_CONTENT_LENGTH = 2**16


def read_action(reply: Any) -> dict[str, Any] | None:
    """The environment's action that the reply calls for, or None if it calls for no single valid one.

    A reply is an assistant message with exactly one entry in `tool_calls`, or that entry alone, or its
    `function`. `arguments` is a JSON text or an object, with the tool's arguments and nothing else; they may
    be missing for a tool that has none.
    """
    call = _only_call(reply)
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return None
    name, arguments = function.get("name"), _arguments(function.get("arguments"))
    kind = next((kind for kind in TOOLS if kind == name), None)
    if kind is None or not isinstance(arguments, Mapping) or set(arguments) != set(ARGUMENTS[kind]):
        return None
    texts = [arguments[argument] for argument in ARGUMENTS[kind]]
    if not all(isinstance(text, str) for text in texts):
        return None
    return {"kind": TOOLS.index(kind), "text": SEPARATOR.join(texts)}


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
    if arguments is None or arguments == "":
        return {}
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return None
