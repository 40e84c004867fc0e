"""Convert a stored c-Interact episode to the published pipeline's turns and markup.

The pipeline (BIRD-Interact `bird_interact_conv`) sends the whole conversation as one string at each turn. It
reads questions from `<s>..</s>` and SQL from a fenced block in `<t>..</t>`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from birdenv.errors import InputError
from birdenv.llm import CallFile, recorded_exchange
from birdenv.tasks import SYSTEM, USER
from birdenv.tasks.c_interact import USED_UP
from birdenv.users import STAGES

MARKER = "### Turn "
"""The heading of each turn in the pipeline's prompts. The pipeline cuts an answer off at this text."""

_BETWEEN = "\n\n"
_CALLS = {"labelled": "labeled", "unlabelled": "unlabeled"}


class StageExchange(NamedTuple):
    """The prompt and the answer of one of the simulated user's two stages."""

    prompt: str
    response: str


@dataclass(frozen=True, slots=True)
class SystemTurn:
    """A move by the system and, if the move is a question, the user's answer.

    Attributes:
        prompt: the whole conversation up to the system's move.
        prediction: the system's move in the pipeline's markup.
        user: the exchanges with the user's two stages; empty unless the move is a question that was answered.
        call: the user's classification of the question: `labeled("term")`, `unlabeled("segment")`,
            `unanswerable()`, or birdenv's `unclear()`.
    """

    prompt: str
    prediction: str
    user: tuple[StageExchange, ...] = ()
    call: str = ""


@dataclass(frozen=True, slots=True)
class Handed:
    """An attempt at a phase.

    Attributes:
        turn: the turn in which the attempt was made, counted from 1.
        sql: the submitted SQL; None for an attempt without a submission.
        status: the verdict on the attempt.
        reason: the reason why the attempt failed. It is private, because it may quote the gold SQL.
    """

    turn: int
    sql: str | None
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class PipelineDialogue:
    """The turns of an episode, and its attempts keyed by phase number and name (`first` or `debug`)."""

    turns: tuple[SystemTurn, ...]
    attempts: Mapping[tuple[int, str], Handed]


def read_dialogue(
    run: Mapping[str, Any],
    log: Sequence[Mapping[str, Any]],
    instructions: tuple[str, str],
    fence: str,
    where: str,
    calls: CallFile | None = None,
) -> PipelineDialogue:
    """Convert a stored episode to the turns and attempts of the pipeline.

    Args:
        run: the public record of the episode, from `runs.jsonl`.
        log: the `log` in the private record of the episode.
        instructions: the first message to the system in the episode, and the first message to the user.
        fence: the language of a fenced SQL block (`sqlite`, `postgresql`).
        where: the file and the record, for error messages.
        calls: the run's recorded model calls, which contain the prompts if the user is a language model.

    Raises:
        InputError: the two records contradict each other.
    """
    try:
        events = run["example"]["events"] if "example" in run else []
        moves = [e for e in events if e["agent"] == SYSTEM and e["action"] != "quit"]
        heard = {e["time"]: e["data"] for e in events if e["agent"] == USER}
        answers = iter([entry for entry in log if entry["kind"] == "answer"])
        reasons = [entry.get("reason", "") for entry in log if entry["kind"] == "submission"]
        places = _places(moves, run["attempts"])
        turns: list[SystemTurn] = []
        sent, sent_to_user = ([instruction] for instruction in instructions)
        for move in moves:
            turn = SystemTurn(_BETWEEN.join(sent), _in_markup(move, fence))
            if move["metadata"] is not None:
                reply = move["metadata"]["reply"]
            else:
                reply = heard.get(move["time"] + 1, "")
                sent_to_user.append(move["data"])
                if reply and (entry := next(answers, None)) is not None:
                    call = _call(entry)
                    user = _exchanges(entry, calls, _BETWEEN.join(sent_to_user), (call, reply))
                    turn = SystemTurn(turn.prompt, turn.prediction, user, call)
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
        raise InputError(f"{where}: these are not c-Interact episode records") from None
    return PipelineDialogue(tuple(turns), attempts)


def _exchanges(
    entry: Mapping[str, Any], calls: CallFile | None, seat: str, said: tuple[str, str]
) -> tuple[StageExchange, ...]:
    """Return both stages of an answer: recorded model calls, or the seat's text and the words in markup.

    For a user with a language model, the prompt of a stage that called no model is empty.
    """
    made = [StageExchange(seat, f"<s>{words}</s>") for words in said]
    if calls is not None and "calls" in entry:
        for place, stage in enumerate(STAGES):
            keys = entry["calls"][stage]
            sent = StageExchange(*recorded_exchange(calls, keys)) if keys else made[place]._replace(prompt="")
            made[place] = sent
    return tuple(made)


def _is_submission(move: Mapping[str, Any]) -> bool:
    return move["action"] == "submit_sql" and isinstance(move["data"], str)


def _used_an_attempt_up(move: Mapping[str, Any]) -> bool:
    metadata = move["metadata"]
    return metadata is not None and USED_UP in str(metadata.get("reply"))


def _places(moves: Sequence[Mapping[str, Any]], attempts: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the index of the move of each attempt.

    A refused move is an attempt (`malformed`) only if the reply to it says so.
    """
    found: list[int] = []
    for index in range(len(moves) - 1, -1, -1):
        left = len(attempts) - len(found)
        is_malformed = left > 0 and attempts[left - 1]["status"] == "malformed"
        if _is_submission(moves[index]):
            if left == 0 or is_malformed:
                raise ValueError("a submission without an attempt")
            found.append(index)
        elif is_malformed and _used_an_attempt_up(moves[index]):
            found.append(index)
    if len(found) != len(attempts):
        raise ValueError("an attempt without a move")
    return found[::-1]


def _in_markup(move: Mapping[str, Any], fence: str) -> str:
    """Return a move as the pipeline's model would write it, or the raw text of a refused move."""
    data = move["data"] if isinstance(move["data"], str) else ""
    if _is_submission(move):
        return f"<t>```{fence}\n{data}\n```</t>"
    is_question = move["action"] == "clarify" and move["metadata"] is None
    return f"<s>{data}</s>" if is_question else data


def _call(entry: Mapping[str, Any]) -> str:
    name = _CALLS.get(entry["call"])
    return f"{name}({json.dumps(entry['target'], ensure_ascii=False)})" if name else f"{entry['call']}()"
