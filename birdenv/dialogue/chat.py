"""A seat's side of a dialogue as chat messages with tool calls, and a model's message as a move."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from birdenv.dialogue.dialogue import spoken
from birdenv.dialogue.event import HOUSE, Event
from birdenv.dialogue.move import Move
from birdenv.dialogue.seat import MAX_TEXT, Seat

MALFORMED: Final = "malformed"
"""The action of a move that could not be read. No game has it."""

NO_CALL: Final = "no_call"
"""The action of a message that has no tool call. No game has it either."""


def tool_schemas(seat: Seat, names: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Return JSON tool schemas (OpenAI's `tools` parameter) of a seat's actions, in order.

    Args:
        seat: the seat.
        names: only these actions; all without it.
    """
    wanted = seat.kinds if names is None else tuple(names)
    return [
        {
            "type": "function",
            "function": {
                "name": action.name,
                "description": action.about,
                "parameters": action.schema(),
            },
        }
        for action in seat.actions
        if action.name in wanted
    ]


def chat_messages(
    instruction: str, events: Sequence[Event], seat: Seat, index: int = 0
) -> list[dict[str, Any]]:
    """Return a dialogue from one seat's side: its moves as tool calls, all replies as tool results.

    The instruction is the first message, from the user. A move that is no tool call stands as words, and the
    reply to it as a message of the user's.
    """
    messages: list[dict[str, Any]] = [{"role": "user", "content": instruction}]
    call_id = ""
    for event in events:
        if event.agent != index:
            said = _said(event)
            if call_id:
                messages.append({"role": "tool", "tool_call_id": call_id, "content": said})
                call_id = ""
            else:
                messages.append({"role": "user", "content": said})
            continue
        action = seat.by_name.get(event.action)
        if action is None:
            words = event.action if event.data is None else spoken(event)
            messages.append({"role": "assistant", "content": words})
            if event.metadata is not None:
                messages.append({"role": "user", "content": str(event.metadata["reply"])})
            continue
        call_id = f"call_{event.time}"
        arguments = json.dumps(action.arguments_of(event.data), ensure_ascii=False)
        function = {"name": event.action, "arguments": arguments}
        call = {"id": call_id, "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        if event.metadata is not None:
            reply = str(event.metadata["reply"])
            messages.append({"role": "tool", "tool_call_id": call_id, "content": reply})
            call_id = ""
    return messages


def _said(event: Event) -> str:
    """Another seat's words, and what the house added to them."""
    if event.agent == HOUSE:
        return f"The dialogue was ended: {event.data}."
    words = spoken(event)
    return words if event.metadata is None else f"{words}\n{event.metadata['reply']}"


class ToolCall(NamedTuple):
    """One assistant message as a move. `call_id` is the call that the reply belongs to, if it has one;
    `malformed` is true of all that is not exactly one valid call."""

    move: Move
    call_id: str | None
    malformed: bool


def read_tool_call(message: Any, seat: Seat) -> ToolCall:
    """Read one move out of an assistant message.

    The message has exactly one entry in `tool_calls`, or is that entry alone, or its `function`. `arguments`
    is a JSON text or an object with the tool's arguments and nothing else; they may be missing for a tool
    that has none. A message without tool calls is the move `no_call`, anything else is `malformed`; both have
    the message's words as data.
    """
    call = _only_call(message)
    call_id = call.get("id") if isinstance(call, Mapping) else None
    call_id = call_id if isinstance(call_id, str) else None
    move = _move_of(call, seat)
    if move is not None:
        return ToolCall(move, call_id, False)
    has_none = isinstance(message, Mapping) and call is None and not message.get("tool_calls")
    action = NO_CALL if has_none else MALFORMED
    return ToolCall(Move(action, _content(message)), call_id, True)


def _move_of(call: Any, seat: Seat) -> Move | None:
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return None
    name, arguments = function.get("name"), _arguments(function.get("arguments"))
    action = seat.by_name.get(name) if isinstance(name, str) else None
    if action is None or not isinstance(arguments, Mapping):
        return None
    try:
        data = action.data_of(arguments)
    except ValueError:
        return None
    texts = {each.name for each in action.fields if each.is_text}
    if not all(isinstance(value, str) for key, value in arguments.items() if key in texts):
        return None
    return Move(action.name, data)


def _only_call(message: Any) -> Any:
    if not isinstance(message, Mapping):
        return None
    if "name" in message or "function" in message:
        return message
    calls = message.get("tool_calls")
    return calls[0] if isinstance(calls, list | tuple) and len(calls) == 1 else None


def _arguments(given: Any) -> Any:
    if given is None or given == "":
        return {}
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return None


def _content(message: Any) -> str:
    content = message.get("content") if isinstance(message, Mapping) else None
    return content[:MAX_TEXT] if isinstance(content, str) else ""
