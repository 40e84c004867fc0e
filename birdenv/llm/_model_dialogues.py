"""The dialogues of a run as its models saw them, out of the recorded calls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from birdenv.errors import InputError
from birdenv.llm._completion import completion_of
from birdenv.llm._recording import read_call


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
    if not path.is_file():
        return found
    entries = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(keepends=True), 1):
        if not line.endswith("\n"):
            break
        entries.append((number, read_call(line, path, number)))
    sent: dict[str, list[dict[str, Any]]] = {}
    offered: dict[str, dict[str, dict[str, Any]]] = {}
    for number, entry in sorted(entries, key=lambda each: (each[1]["scope"], each[1]["n"])):
        scope = entry["scope"]
        try:
            sent[scope] = sent.get(scope, [])[: entry["kept"]] + entry["messages"]
            for tool in entry.get("params", {}).get("tools", ()):
                offered.setdefault(scope, {}).setdefault(tool["function"]["name"], tool)
        except (TypeError, KeyError, AttributeError):
            raise InputError(f"{path}: line {number} is no recorded call") from None
        answer = completion_of(entry["message"], entry.get("finish_reason"), None).history()
        found[scope] = RecordedDialogue([*sent[scope], answer], list(offered.get(scope, {}).values()))
    return found
