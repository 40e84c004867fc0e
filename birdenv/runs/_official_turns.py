"""A stored c-Interact episode as turns of the published pipeline: one growing prompt, answers in its markup.

The pipeline (BIRD-Interact `bird_interact_conv`) sends the whole conversation as one text a turn and reads
questions from `<s>..</s>`, SQL from a fenced block in `<t>..</t>`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from birdenv.errors import InputError
from birdenv.tasks import SYSTEM, USER

__all__ = ["MARKER", "Dialogue", "Handed", "Turn", "read_dialogue"]

MARKER = "### Turn "
"""What stands before each turn; the pipeline cuts an answer off there."""

_CALLS = {"labelled": "labeled", "unlabelled": "unlabeled"}


@dataclass(frozen=True, slots=True)
class Turn:
    """One move of the system. `prompt` is all that it had been told by then.

    Where the move is a question that the user answered, `question` and `answer` are without markup, and
    `call` is what the user took it for: `labeled("term")`, `unlabeled("segment")` or `unanswerable()`.
    """

    prompt: str
    prediction: str
    question: str = ""
    answer: str = ""
    call: str = ""


@dataclass(frozen=True, slots=True)
class Handed:
    """One attempt: the turn (from 1) at which it was made, its SQL (None if it was none), its verdict.

    `reason` is private: it may quote the gold.
    """

    turn: int
    sql: str | None
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Dialogue:
    """All turns of an episode, and its attempts by (phase, `first` or `debug`)."""

    turns: tuple[Turn, ...]
    attempts: Mapping[tuple[int, str], Handed]


def read_dialogue(
    run: Mapping[str, Any], log: Sequence[Mapping[str, Any]], instruction: str, fence: str, where: str
) -> Dialogue:
    """The episode of a record of `runs.jsonl` and the `log` of its private record.

    `instruction` is the text that it began with; `fence` opens a block of SQL (`sqlite`, `postgresql`).
    Raises `InputError`, naming `where`, if the records do not belong together.
    """
    try:
        events = run["example"]["events"] if "example" in run else []
        moves = [e for e in events if e["agent"] == SYSTEM and e["action"] != "quit"]
        heard = {e["time"]: e["data"] for e in events if e["agent"] == USER}
        answers = iter([entry for entry in log if entry["kind"] == "answer"])
        reasons = [entry.get("reason", "") for entry in log if entry["kind"] == "submission"]
        places = _places(moves, run["attempts"])
        turns: list[Turn] = []
        text = instruction
        for number, move in enumerate(moves, 1):
            prompt = f"{text}\n\n{MARKER}{number}:\n- You: "
            said = _in_markup(move, fence)
            turn, sender, reply = Turn(prompt, said), "User", ""
            if move["metadata"] is not None:
                sender, reply = move["metadata"]["sender"].capitalize(), move["metadata"]["reply"]
            elif (reply := heard.get(move["time"] + 1, "")) and (entry := next(answers, None)) is not None:
                turn = Turn(prompt, said, move["data"], reply, _call(entry))
            turns.append(turn)
            text = f"{prompt}{said}\n- {sender}: {reply}"
        attempts = {
            (attempt["phase"], attempt["attempt"]): Handed(
                place + 1,
                moves[place]["data"] if _is_submission(moves[place]) else None,
                attempt["status"],
                reason,
            )
            for place, attempt, reason in zip(places, run["attempts"], reasons, strict=True)
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{where}: not the records of a c-Interact episode") from None
    return Dialogue(tuple(turns), attempts)


def _is_submission(move: Mapping[str, Any]) -> bool:
    return move["action"] == "submit_sql" and isinstance(move["data"], str)


def _places(moves: Sequence[Mapping[str, Any]], attempts: Sequence[Mapping[str, Any]]) -> list[int]:
    """The index of the move that each attempt was.

    A refused move costs a question while there is one, and is an attempt (`malformed`) only after that: of
    the refused moves before a submission the last ones are the attempts.
    """
    found: list[int] = []
    for index in range(len(moves) - 1, -1, -1):
        left = len(attempts) - len(found)
        is_malformed = left > 0 and attempts[left - 1]["status"] == "malformed"
        if _is_submission(moves[index]):
            if left == 0 or is_malformed:
                raise ValueError("a submission that is no attempt")
            found.append(index)
        elif is_malformed and moves[index]["metadata"] is not None:
            found.append(index)
    if len(found) != len(attempts):
        raise ValueError("an attempt without a move")
    return found[::-1]


def _in_markup(move: Mapping[str, Any], fence: str) -> str:
    """The move as the pipeline's model would have written it; a refused one as its raw text."""
    data = move["data"] if isinstance(move["data"], str) else ""
    if _is_submission(move):
        return f"<t>```{fence}\n{data}\n```</t>"
    is_question = move["action"] == "clarify" and move["metadata"] is None
    return f"<s>{data}</s>" if is_question else data


def _call(entry: Mapping[str, Any]) -> str:
    name = _CALLS.get(entry["call"])
    return f"{name}({json.dumps(entry['target'], ensure_ascii=False)})" if name else "unanswerable()"
