"""Tools and messages in the forms of SDKs: chat completions, Responses, Anthropic, MCP."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

ToolForm: TypeAlias = Literal["chat", "responses", "anthropic", "mcp"]

_CALLS: Final = ("function_call", "tool_use")


def tools_as(tools: Iterable[Mapping[str, Any]], form: ToolForm) -> list[dict[str, Any]]:
    """Return tool schemas in the form of another API.

    Args:
        tools: schemas in the form of chat completions, such as `Arena.tools` or `Episode.tools`.
        form: `chat` (as they are), `responses` (flat), `anthropic` (`input_schema`) or `mcp` (`inputSchema`).

    Raises:
        ValueError: there is no such form.

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
        raise ValueError(f"no form {form!r}; there are chat, responses, anthropic and mcp")
    key = "inputSchema" if form == "mcp" else "input_schema"
    return [
        {"name": each["name"], "description": each["description"], key: each["parameters"]}
        for each in functions
    ]


def as_chat_message(message: Any) -> Mapping[str, Any]:
    """Return what a model's SDK returned as one assistant message of a chat completion.

    Takes a mapping (returned as it is), a chat completion, its message or one of its tool calls, a response
    of the Responses API or its list of output items, and a message of Anthropic's or its list of content
    blocks; each as an object of the SDK or as plain data.

    Raises:
        TypeError: it is none of these.
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
        f"expected a model's message with tool calls, got {type(message).__name__}: give a chat message as a "
        "dict, what the OpenAI or Anthropic SDK returned, or its list of items; plain text goes to say()"
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
    """Join the items of one output: its texts and its calls, without reasoning."""
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    for item in items:
        if item.get("type") == "message":
            texts += [part["text"] for part in item.get("content") or () if isinstance(part.get("text"), str)]
        elif item.get("type") == "text":
            texts.append(item.get("text") or "")
        elif item.get("type") in _CALLS:
            calls.append(_call(item))
    message: dict[str, Any] = {"role": "assistant", "content": "\n".join(texts) or None}
    return message | ({"tool_calls": calls} if calls else {})


def _call(item: Mapping[str, Any]) -> dict[str, Any]:
    arguments = item.get("arguments", item.get("input"))
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    function = {"name": item.get("name"), "arguments": text}
    return {"id": item.get("call_id") or item.get("id"), "type": "function", "function": function}
