"""Parse and validate responses from endpoints, which vary in ways that typed clients do not notice."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.files import check_text
from birdenv.llm._errors import TransientError

_MOST_LEVELS: Final = 20  # maximum depth of lists and objects in a message
_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
_PAGE: Final = re.compile(r"\s*<(?:!doctype )?html", re.IGNORECASE)
_THINK, _THOUGHT = "<think>", "</think>"
_BROKEN_OFF: Final = ("error", "abort")
"""The finish reasons of servers that gave up before the answer was complete."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer.

    Attributes:
        message: the assistant's message as the endpoint sent it.
        content: the text of the message; empty if the message has no text.
        tool_calls: the tool calls as the endpoint sent them.
        reasoning: the model's reasoning; empty if the endpoint does not return it.
        refusal: the model's explanation for refusing to answer; empty if it answered.
        finish_reason: the reason why generation stopped, such as `stop`, `tool_calls`, `length` or
            `content_filter`.
        prompt_tokens: the number of prompt tokens; None if the endpoint does not report this number.
        completion_tokens: the number of completion tokens; None if the endpoint does not report this number.
        cached_tokens: the number of prompt tokens that the endpoint had cached, which may cost less.
        cost_usd: the cost in US dollars; None if the price is unknown.
    """

    message: Mapping[str, Any]
    content: str = ""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    reasoning: str = ""
    refusal: str = ""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int = 0
    cost_usd: float | None = field(default=None, compare=False)

    @property
    def raw_content(self) -> str:
        """Return the text of the message, including any reasoning that the server left in it."""
        return _words(self.message.get("content"))

    def history(self) -> dict[str, Any]:
        """Return the message to include in the next request, with text and tool calls but no reasoning.

        Every tool call has an id, and its arguments are a JSON object as text. Arguments of any other type
        are wrapped in an object, because some servers reject them.
        """
        sent: dict[str, Any] = {"role": "assistant", "content": self.content or self.refusal or None}
        if self.tool_calls:
            sent["tool_calls"] = [_sendable(call, n) for n, call in enumerate(self.tool_calls, 1)]
        elif sent["content"] is None:
            sent["content"] = ""
        return sent


def _sendable(call: Mapping[str, Any], number: int) -> dict[str, Any]:
    function = call.get("function")
    function = function if isinstance(function, Mapping) else {}
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = "{}" if arguments is None else json.dumps(arguments)
    if not _is_object(arguments):  # some servers refuse other values
        arguments = json.dumps({"arguments": arguments})
    name = function.get("name")
    return {
        "id": call_id(call, number),
        "type": "function",
        "function": {"name": name if isinstance(name, str) and name else "unknown", "arguments": arguments},
    }


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def call_id(call: Mapping[str, Any], number: int) -> str:
    """Return the id of a tool call; if the call has no id, return an id that contains `number`."""
    found = call.get("id")
    return found if isinstance(found, str) and found else f"call_{number}"


def read_completion(text: str) -> Completion:
    """Parse the body of an endpoint's response and return the completion.

    Raises:
        TransientError: the body is not a chat completion. The message describes the body.
    """
    try:
        body = json.loads(text)
        body = whole_characters(body) if _HALF.search(text) else body
    except (ValueError, RecursionError):
        page = " (this is a web page: check the base URL and any proxy)" if _PAGE.match(text) else ""
        raise TransientError(f"the response is not JSON: {shortened(text)}{page}", "bad reply") from None
    if not isinstance(body, dict):
        raise TransientError(f"the response is not a chat completion: {shortened(text)}", "bad reply")
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        why = error_text(body) or f"the chat completion has no choices: {shortened(text)}"
        raise TransientError(why, "bad reply")
    reason = choices[0].get("finish_reason")
    if choices[0].get("error") or reason in _BROKEN_OFF:  # from gateways whose own server failed
        raise TransientError(error_text(choices[0]) or f"the answer ended with {reason!r}", "bad reply")
    message: Any = choices[0].get("message")
    try:
        check_message(message, "the answer's message")
    except InputError as error:
        raise TransientError(str(error), "bad reply") from None
    return completion_of(message, reason, body.get("usage"))


def check_message(message: Any, where: str) -> None:
    """Check that a value is a chat message, so that a server fault is not mistaken for an empty answer.

    Raises:
        InputError: the value is not a chat message. The error message begins with `where`.
    """
    if not isinstance(message, dict):
        raise InputError(f"{where} is not an object")
    for name, kinds in _KINDS.items():
        if not isinstance(message.get(name), kinds):
            raise InputError(f"{where}: {name!r} has the wrong type")
    check_text(message, where, most=_MOST_LEVELS)


_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "content": (str, list, type(None)),
    "refusal": (str, list, type(None)),
    "tool_calls": (list, type(None)),
}


def whole_characters(value: Any) -> Any:
    """Return a JSON value with its lone surrogates replaced, so that the value can be encoded as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
        return value
    except UnicodeEncodeError:
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


UNPAID: Final = {"prompt_tokens": 0, "completion_tokens": 0}
"""The usage of a request that costs nothing, because the content filter of the endpoint refused it."""


def completion_of(message: Mapping[str, Any], finish_reason: Any, usage: Any) -> Completion:
    """Return a `Completion` for a message, ignoring fields of an unexpected type."""
    usage = usage if isinstance(usage, Mapping) else {}
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, Mapping) else {}
    calls = message.get("tool_calls")
    reasoning = _words(message.get("reasoning_content") or message.get("reasoning"))
    content = _words(message.get("content"))
    if _THOUGHT in content or content.lstrip().startswith(_THINK):
        thought, content = _parted(content)
        reasoning = f"{reasoning}{thought}".strip()
    return Completion(
        message=message,
        content=content,
        tool_calls=tuple(c for c in calls if isinstance(c, Mapping)) if isinstance(calls, list) else (),
        reasoning=reasoning,
        refusal=_words(message.get("refusal")),
        finish_reason=finish_reason if isinstance(finish_reason, str) else "",
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        cached_tokens=_count(details.get("cached_tokens")) or 0,
    )


def _parted(content: str) -> tuple[str, str]:
    """Return the reasoning that a server has left in the text, and the text after the reasoning.

    The opening tag may be missing, because the prompts of some models end with this tag. Without the closing
    tag, the whole text is reasoning.
    """
    thought, end, words = content.lstrip().removeprefix(_THINK).rpartition(_THOUGHT)
    return (thought, words.lstrip()) if end else (words, "")


def _words(content: Any) -> str:
    """Return a string unchanged, or join the text of a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40
    return value if is_count else None


def error_text(body: Any) -> str:
    """Return the error message in the body of a failed response, or an empty string if there is none."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    found = error.get("message") if isinstance(error, Mapping) else error
    return shortened(found) if isinstance(found, str) else ""


_SHOWN = 200


def shortened(text: str) -> str:
    """Return the beginning of the text as a single line, for error messages."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * _SHOWN]).split())
    return repr(line[:_SHOWN] + (" …" if len(line) > _SHOWN else "")) if line else "nothing"
