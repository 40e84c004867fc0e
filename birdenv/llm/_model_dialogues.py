"""The dialogues of a run as its models saw them, out of the recorded calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from birdenv.errors import InputError
from birdenv.files import exists, lines_of
from birdenv.llm._completion import check_message, completion_of
from birdenv.llm._recording import CallFile, read_call


class RecordedDialogue(NamedTuple):
    """All messages of one seat in one episode, with the last answer, and the tools that it was offered."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]


def recorded_dialogues(path: Path) -> Mapping[str, RecordedDialogue]:
    """Return the dialogues by scope (task, attempt and seat); none if there is no such file.

    Raises:
        InputError: a line is damaged, other than a torn last one.
    """
    found: dict[str, RecordedDialogue] = {}
    if not exists(path):
        return found
    # the last line may be torn
    whole = ((number, line) for number, line in lines_of(path) if line.endswith(b"\n"))
    entries = [(number, read_call(line, path, number)) for number, line in whole]
    sent: dict[str, list[dict[str, Any]]] = {}
    offered: dict[str, dict[str, dict[str, Any]]] = {}
    for number, entry in sorted(entries, key=lambda each: (each[1]["scope"], each[1]["n"])):
        scope = entry["scope"]
        try:
            sent[scope] = _messages(sent.get(scope, []), entry)
            for tool in entry.get("params", {}).get("tools", ()):
                offered.setdefault(scope, {}).setdefault(tool["function"]["name"], tool)
        except (TypeError, KeyError, AttributeError, InputError):
            raise InputError(f"{path}: line {number} is no recorded call") from None
        answer = completion_of(entry["message"], entry.get("finish_reason"), None).history()
        found[scope] = RecordedDialogue([*sent[scope], answer], list(offered.get(scope, {}).values()))
    return found


def recorded_exchange(calls: CallFile, keys: Sequence[str]) -> tuple[str, str]:
    """Return the messages of the last of these calls as one text, and the words of its answer as they came.

    Args:
        calls: the file.
        keys: calls of which each goes on from the one before it, such as a second try.

    Raises:
        InputError: a call is not in the file, or is damaged.
    """
    messages: list[dict[str, Any]] = []
    answer = ""
    for key in keys:
        entry = calls.find(key)
        if entry is None:
            raise InputError(f"{calls.path} lacks the call {key[:12]}, which the run's records name")
        try:
            messages = _messages(messages, entry)
            answer = completion_of(entry["message"], None, None).raw_content
        except (TypeError, KeyError, AttributeError, InputError):
            raise InputError(f"{calls.path}: the call {key[:12]} is damaged") from None
    return "\n\n".join(str(message.get("content") or "") for message in messages), answer


def _messages(before: list[dict[str, Any]], entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a call sent: the beginning of what the one before it sent, and its own.

    Raises:
        KeyError, TypeError, AttributeError, InputError: a field is missing or wrong.
    """
    kept: int = entry["kept"]
    new: list[dict[str, Any]] = entry["messages"]
    if not 0 <= kept <= len(before) or not all(isinstance(each.get("role"), str) for each in new):
        raise TypeError
    for each in new:
        check_message(each, "")
        if not all(isinstance(call["function"]["name"], str) for call in each.get("tool_calls") or ()):
            raise TypeError
    return before[:kept] + new
