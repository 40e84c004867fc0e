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
from birdenv.tasks.c_interact import USED_UP

MARKER = "### Turn "
"""What stands before each turn in the pipeline's prompts, which cuts an answer off there."""

_BETWEEN = "\n\n"  # two messages
_CALLS = {"labelled": "labeled", "unlabelled": "unlabeled"}


@dataclass(frozen=True, slots=True)
class Turn:
    """One move of the system. `prompt` is all that it had been sent by then.

    Where the move is a question that the user answered, `question` and `answer` are without markup,
    `user_prompt` is all that the user had been sent by then, and `call` is what the user took it for:
    `labeled("term")`, `unlabeled("segment")`, `unanswerable()`, or (ours alone) `unclear()`.
    """

    prompt: str
    prediction: str
    question: str = ""
    answer: str = ""
    call: str = ""
    user_prompt: str = ""


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
    run: Mapping[str, Any],
    log: Sequence[Mapping[str, Any]],
    instructions: tuple[str, str],
    fence: str,
    where: str,
) -> Dialogue:
    """The episode of a record of `runs.jsonl` and the `log` of its private record.

    `instructions` are the texts that it began with, the system's and the user's; `fence` opens a block of SQL
    (`sqlite`, `postgresql`). Raises `InputError`, naming `where`, if the records do not belong together.
    """
    try:
        events = run["example"]["events"] if "example" in run else []
        moves = [e for e in events if e["agent"] == SYSTEM and e["action"] != "quit"]
        heard = {e["time"]: e["data"] for e in events if e["agent"] == USER}
        answers = iter([entry for entry in log if entry["kind"] == "answer"])
        reasons = [entry.get("reason", "") for entry in log if entry["kind"] == "submission"]
        places = _places(moves, run["attempts"])
        turns: list[Turn] = []
        sent, sent_to_user = ([instruction] for instruction in instructions)
        for move in moves:
            turn = Turn(_BETWEEN.join(sent), _in_markup(move, fence))
            if move["metadata"] is not None:
                reply = move["metadata"]["reply"]
            else:
                reply = heard.get(move["time"] + 1, "")
                sent_to_user.append(move["data"])
                if reply and (entry := next(answers, None)) is not None:
                    asked, user_prompt = move["data"], _BETWEEN.join(sent_to_user)
                    turn = Turn(turn.prompt, turn.prediction, asked, reply, _call(entry), user_prompt)
                sent_to_user.append(reply)
            turns.append(turn)
            sent += [move["data"] if isinstance(move["data"], str) else json.dumps(move["data"]), reply]
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


def _used_an_attempt_up(move: Mapping[str, Any]) -> bool:
    metadata = move["metadata"]
    return metadata is not None and USED_UP in str(metadata.get("reply"))


def _places(moves: Sequence[Mapping[str, Any]], attempts: Sequence[Mapping[str, Any]]) -> list[int]:
    """The index of the move that each attempt was.

    A refused move is an attempt (`malformed`) only where the reply to it says so.
    """
    found: list[int] = []
    for index in range(len(moves) - 1, -1, -1):
        left = len(attempts) - len(found)
        is_malformed = left > 0 and attempts[left - 1]["status"] == "malformed"
        if _is_submission(moves[index]):
            if left == 0 or is_malformed:
                raise ValueError("a submission that is no attempt")
            found.append(index)
        elif is_malformed and _used_an_attempt_up(moves[index]):
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
    return f"{name}({json.dumps(entry['target'], ensure_ascii=False)})" if name else f"{entry['call']}()"
