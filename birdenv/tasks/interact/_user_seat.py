"""The user's seat: the user's brief, and the filter for the user's answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

from birdenv.dialogue import Move
from birdenv.dialogue.people import Panel
from birdenv.dialogue.seat import MAX_TEXT
from birdenv.tasks.interact._task import CInteractTask
from birdenv.users import STAGES, Brief, UserStyle

UserSees: TypeAlias = Literal["words", "results", "all"]
"""The moves of the system that the user sees: only questions; also executed SQL with its results; or all."""

LeakGuard: TypeAlias = Literal["filter", "log"]
"""What happens to an answer that reveals SQL: it is replaced, or (if people answer) only logged."""

_KEY, _TRIES = 64, 2  # the most characters in the key of a model call, and the most calls in a stage
_RULES = """\
You asked a data analyst for something in a few words, and the analyst asks you what you mean. Answer in plain
words, one question at a time. Do not write SQL, and tell only what you are asked about."""


class FilteredAnswer(NamedTuple):
    """A user's answer that has passed through the leak guard.

    Attributes:
        text: the answer that the system sees.
        entry: the entry for the private log.
    """

    text: str
    entry: dict[str, Any]


def briefs_of(
    task: CInteractTask, *, converses: bool = True, first_line: bool = False, style: UserStyle = "plain"
) -> tuple[Brief, ...]:
    """Return the simulated user's briefs, one for each phase. A brief states what the user wants.

    A follow-up is unambiguous, so its brief lists no ambiguities (BIRD-Interact §2.4).

    Args:
        task: the task being played.
        converses: True if the user remembers the conversation and may ask what a question means.
        first_line: True to use only the first line of a model's output (`Profile.first_line`).
        style: the rule-based user's answer style.
    """
    brief, follow_up = task.private.brief, task.private.follow_up
    if not converses or first_line or style != "plain":
        brief = replace(brief, converses=converses, first_line=first_line, style=style)
    if follow_up is None:
        return (brief,)
    return brief, replace(
        brief,
        clear_query=follow_up.query,
        ambiguities=(),
        gold=follow_up.gold,
        request=follow_up.query,
        annotated={},
        inherited=brief.ambiguities,
        earlier_gold=brief.gold,
    )


def brief_of(task: CInteractTask, phase: int) -> Brief:
    """Return the user's brief for phase 1 or 2, with the default style."""
    if phase == 1 or task.private.follow_up is None:
        return task.private.brief
    return briefs_of(task)[1]


def user_instruction(task: CInteractTask) -> str:
    """Return the instruction to the user: the request, what it means, and what its ambiguous terms mean."""
    return _instruction(task.public.question, task.private.brief)


def user_panels(task: CInteractTask) -> tuple[Panel, ...]:
    """Return the panels that show the clear request and the meanings to a person in the user's seat."""
    brief = task.private.brief
    meant = Panel("What you mean", entries=tuple(_meanings(brief).items()))
    wanted = f"You asked: {task.public.question}\n\nWhat you want: {brief.clear_query}"
    return (Panel("What you want", wanted), *([meant] if meant.entries else []))


def _meanings(brief: Brief) -> dict[str, str]:
    """Return what each ambiguous term means, in words instead of SQL."""
    from birdenv.users.sql_in_words import in_words

    said = {point.term: in_words(point.snippet, brief).text for point in brief.ambiguities}
    return {term: " ".join(meaning.split()) for term, meaning in said.items()}


@lru_cache(maxsize=256)
def _instruction(question: str, brief: Brief) -> str:
    points = [f"- {term}: {meaning}" for term, meaning in _meanings(brief).items()]
    parts = [
        _RULES,
        f"You asked: {question}",
        f"What you want: {brief.clear_query}",
        "\n".join(["What you mean by", *points]) if points else "",
    ]
    return "\n\n".join(part for part in parts if part)


def filter_answer(
    task: CInteractTask, phase: int, question: str, move: Move, guard: LeakGuard | None
) -> FilteredAnswer:
    """Check a user's answer with the leak guard, and return the answer that the system sees.

    The leak guard looks for SQL and meanings that the answer must not reveal.

    Args:
        task: the task being played.
        phase: the phase, 1 or 2.
        question: the system's question.
        move: the user's answer, with a trace that lists the SQL snippets that the answer is allowed to
            explain. If there is no trace, the answer is allowed to explain the same snippets as the
            rule-based user. Data that is not text counts as an empty answer.
        guard: `filter` to replace an answer that leaks; `log` to only log the leak; None for recorded
            answers, which have already been filtered.
    """
    from birdenv.users.leak_guard import guard_answer

    brief = brief_of(task, phase)
    text = move.data[:MAX_TEXT] if isinstance(move.data, str) else ""
    trace = read_trace(move.trace)
    if trace is None and guard is not None:
        from birdenv.users import RuleUser

        answer = RuleUser().answer(brief, question)
        trace = {"call": answer.call, "target": answer.target, "granted": list(answer.granted)}
    trace = trace or {"call": "", "target": "", "granted": []}
    calls = _model_calls(move.trace)
    reason = ""
    if guard is not None:
        guarded = guard_answer(text, brief, trace["granted"])
        reason, text = guarded.reason, guarded.text if guard == "filter" else text
    return FilteredAnswer(text, {"kind": "answer", "question": question, **trace, "guard": reason, **calls})


def _model_calls(trace: Any) -> dict[str, Any]:
    """Return the keys of the model calls behind an answer, keyed by the simulated user's stage."""
    calls = trace.get("calls") if isinstance(trace, Mapping) else None
    keys: list[Any] = [calls.get(stage) for stage in STAGES] if isinstance(calls, Mapping) else []
    if not keys or not all(isinstance(each, list) and len(each) <= _TRIES for each in keys):
        return {}
    if not all(isinstance(key, str) and len(key) <= _KEY for each in keys for key in each):
        return {}
    return {"calls": dict(zip(STAGES, keys, strict=True))}


def read_trace(trace: Any) -> dict[str, Any] | None:
    """Return the fields `call`, `target` and `granted` of a user's trace, or None if the trace is invalid.

    The trace describes how the user understood the question, and which SQL snippets the answer may reveal. A
    user from a third-party package can return any value as a trace. A trace that is too long for the log is
    invalid.
    """
    if not isinstance(trace, dict | Mapping):  # `dict` first, because the check for `Mapping` is slow
        return None
    call, target, granted = trace.get("call"), trace.get("target"), trace.get("granted")
    if not isinstance(call, str) or not isinstance(target, str) or not isinstance(granted, list | tuple):
        return None
    length = len(call) + len(target)
    for snippet in granted:
        if not isinstance(snippet, str):
            return None
        length += len(snippet) + 1
    if length > MAX_TEXT:
        return None
    return {"call": call, "target": target, "granted": list(granted)}
