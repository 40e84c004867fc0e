"""Conversion between dialogues and the chat messages and tool calls of language models.

Supported formats are those of chat completions, the Responses API, the Anthropic API and MCP.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from birdenv.dialogue.dialogue import spoken
from birdenv.dialogue.move import HOUSE, Event, Move
from birdenv.dialogue.seat import MAX_TEXT, Seat

MALFORMED: Final = "malformed"
"""The action of a move that could not be read from a model's message. No game has an action of this name."""

NO_CALL: Final = "no_call"
"""The action of a move that stands for a message without a tool call. No game has an action of this name."""

_json = json.JSONEncoder(ensure_ascii=False, default=str).encode


def tool_schemas(seat: Seat, names: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Return a seat's actions as tool schemas, in the format of OpenAI's `tools` parameter.

    Args:
        seat: the seat that declares the actions.
        names: the names of the actions to return; by default, all actions.
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
    """Return a dialogue as chat messages, with the moves of one seat as the assistant's tool calls.

    The first message is the instruction, with the role `user`. The reply to a tool call becomes the call's
    result. A move that was not a tool call becomes a plain message, and the reply to that move becomes a
    message with the role `user`.

    Args:
        instruction: the instruction of the seat.
        events: the events that the seat has seen.
        seat: the declaration of the seat.
        index: the index of the seat.
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
    """Return the text of another seat's move and of the reply to it."""
    if event.agent == HOUSE:
        return f"The dialogue was ended: {event.data}."
    words = spoken(event)
    return words if event.metadata is None else f"{words}\n{event.metadata['reply']}"


class MessageLog:
    """A dialogue log in the form of chat messages. Messages that a model wrote are kept unchanged.

    Attributes:
        messages: the chat messages so far, beginning with the instruction.
        pending_call: the id of the tool call that the next reply answers; None if it answers plain text.
    """

    def __init__(self, instruction: str, seat: Seat) -> None:
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": instruction}]
        self.pending_call: str | None = None
        self._seat = seat

    def write(self, move: Move, message: Any, turn: int) -> None:
        """Add a move, as the chat message that a model wrote or, if there is none, as a tool call."""
        if isinstance(message, dict) and message.get("role") == "assistant":
            self.messages.append(message)
            return
        action = self._seat.by_name.get(move.action)
        self.pending_call = self.pending_call or f"call_{turn}"
        arguments = action.arguments_of(move.data) if action else {}
        texts = [f"{_json(name)}: {_json(value)}" for name, value in arguments.items()]
        function = {"name": move.action, "arguments": f"{{{', '.join(texts)}}}"}
        call = {"id": self.pending_call, "type": "function", "function": function}
        self.messages.append({"role": "assistant", "content": None, "tool_calls": [call]})

    def write_reply(self, text: str) -> None:
        """Add the reply to the last message, as the result of its tool call or as a user message."""
        last = self.messages[-1]
        if last.get("tool_calls"):
            for call in last["tool_calls"]:
                identity = call.get("id") if isinstance(call, dict) else None
                self.messages.append({"role": "tool", "tool_call_id": identity, "content": text})
        else:
            self.messages.append({"role": "user", "content": text})
        self.pending_call = None


class ToolCall(NamedTuple):
    """A move that was read from a model's message.

    Attributes:
        move: the move; its action is `MALFORMED` or `NO_CALL` if the message contains no valid call.
        call_id: the id of the tool call, which the reply has to repeat; None if the call has no id.
        malformed: True unless the message contains exactly one valid tool call.
    """

    move: Move
    call_id: str | None
    malformed: bool


def read_tool_call(message: Any, seat: Seat) -> ToolCall:
    """Read the move in a model's message.

    The message must have exactly one entry in `tool_calls`. An entry without a message, or its `function`
    alone, is also accepted. The `arguments` must be an object, or JSON text that contains an object, and must
    fit the action. A message that has no tool calls becomes the move `no_call`, and any other invalid message
    becomes the move `malformed`. Both moves have the text of the message as data.
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


ToolForm: TypeAlias = Literal["chat", "responses", "anthropic", "mcp"]

_CALLS: Final = ("function_call", "tool_use")


def tools_as(tools: Iterable[Mapping[str, Any]], form: ToolForm) -> list[dict[str, Any]]:
    """Convert tool schemas to the format of a different API.

    Args:
        tools: schemas in chat completions format, such as `Arena.tools` or `Episode.tools`.
        form: `chat` (unchanged), `responses` (with the nested object `function` flattened), `anthropic` (with
            `input_schema`) or `mcp` (with `inputSchema`).

    Raises:
        ValueError: `form` is not one of these formats.

    >>> function = {"name": "ask", "description": "Ask.", "parameters": {"type": "object"}}
    >>> tools_as([{"type": "function", "function": function}], "mcp")
    [{'name': 'ask', 'description': 'Ask.', 'inputSchema': {'type': 'object'}}]
    """
    functions = [tool["function"] for tool in tools]
    if form == "chat":
        return [{"type": "function", "function": dict(function)} for function in functions]
    if form == "responses":
        return [{"type": "function", **function, "strict": False} for function in functions]
    if form not in ("anthropic", "mcp"):
        raise ValueError(f"unknown form {form!r}; the forms are chat, responses, anthropic and mcp")
    key = "inputSchema" if form == "mcp" else "input_schema"
    return [
        {"name": each["name"], "description": each["description"], key: each["parameters"]}
        for each in functions
    ]


def as_chat_message(message: Any) -> Mapping[str, Any]:
    """Convert a model's output, as returned by an SDK, to a chat completions assistant message.

    Args:
        message: a chat completion, its message, or a tool call in the message; a response from the Responses
            API or its list of output items; or a message from the Anthropic API or its list of content
            blocks. SDK objects and plain data are accepted. Any other mapping is returned unchanged.

    Raises:
        TypeError: `message` has none of these formats.
    """
    found = _plain(message)
    if isinstance(found, Mapping):
        for key in ("choices", "output"):
            if isinstance(found.get(key), list | tuple) and "role" not in found:
                return _first_choice(found) if key == "choices" else _joined(found[key])
        if isinstance(found.get("content"), list | tuple) and found.get("type") == "message":
            return _joined(found["content"])
        return found
    if isinstance(found, list | tuple) and found and all(_is_item(item) for item in found):
        return _joined(found)
    raise TypeError(
        f"expected a model's message with tool calls, got {type(message).__name__}: pass a chat message as a "
        "dict, an object from the OpenAI or Anthropic SDK, or its list of items; pass plain text to say()"
    )


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(exclude_none=True)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _is_item(item: Any) -> bool:
    return isinstance(item, Mapping) and isinstance(item.get("type"), str)


def _first_choice(completion: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = completion["choices"]
    message = choices[0].get("message") if choices and isinstance(choices[0], Mapping) else None
    if not isinstance(message, Mapping):
        raise TypeError("the chat completion has no choice with a message")
    return message


def _joined(items: Sequence[Any]) -> Mapping[str, Any]:
    """Join the text and the tool calls in an output into one message, excluding the reasoning."""
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    for item in filter(_is_item, items):
        if item["type"] == "message":
            texts += _texts(item.get("content"))
        elif item["type"] == "text":
            texts += _texts([item])
        elif item["type"] in _CALLS:
            calls.append(_call(item))
    message: dict[str, Any] = {"role": "assistant", "content": "\n".join(texts) or None}
    return message | ({"tool_calls": calls} if calls else {})


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list | tuple) else ()
    return [each["text"] for each in parts if isinstance(each, Mapping) and isinstance(each.get("text"), str)]


def _call(item: Mapping[str, Any]) -> dict[str, Any]:
    arguments = item.get("arguments", item.get("input"))
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    function = {"name": item.get("name"), "arguments": text}
    return {"id": item.get("call_id") or item.get("id"), "type": "function", "function": function}
