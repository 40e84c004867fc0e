"""The user's seat: its knowledge, and the filter for its answers."""

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
"""Which of the system's moves the user sees: only its words, also its SQL with the results, or all."""

LeakGuard: TypeAlias = Literal["filter", "log"]
"""Whether an answer that leaks is replaced, or only logged (when people answer)."""

_KEY, _TRIES = 64, 2  # the largest number of characters in a call's key, and of calls in a stage
_RULES = """\
You asked a data analyst for something in a few words, and the analyst asks you what you mean. Answer in plain
words, one question at a time. Do not write SQL, and tell only what you are asked about."""


class FilteredAnswer(NamedTuple):
    """An answer that went through the leak guard.

    Attributes:
        text: the answer that the system sees.
        entry: the entry for the private log.
    """

    text: str
    entry: dict[str, Any]


def briefs_of(
    task: CInteractTask, *, converses: bool = True, first_line: bool = False, style: UserStyle = "plain"
) -> tuple[Brief, ...]:
    """Return the user's brief for each phase.

    A follow-up is unambiguous, so its brief has no annotated points (BIRD-Interact §2.4).

    Args:
        task: the task.
        converses: True if the user remembers the conversation and may ask back.
        first_line: see `Profile.first_line`.
        style: the style of the rule-based user.
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
    """Return the user's brief for a phase."""
    if phase == 1 or task.private.follow_up is None:
        return task.private.brief
    return briefs_of(task)[1]


def user_instruction(task: CInteractTask) -> str:
    """Return the user's instruction: the request, what it means, and the meanings of its ambiguous terms."""
    return _instruction(task.public.question, task.private.brief)


def user_panels(task: CInteractTask) -> tuple[Panel, ...]:
    """Return the panels for a person in the user's seat."""
    brief = task.private.brief
    meant = Panel("What you mean", entries=tuple(_meanings(brief).items()))
    wanted = f"You asked: {task.public.question}\n\nWhat you want: {brief.clear_query}"
    return (Panel("What you want", wanted), *([meant] if meant.entries else []))


def _meanings(brief: Brief) -> dict[str, str]:
    """Return the meaning of each ambiguous term in words."""
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
    """Filter an answer through the leak guard.

    Args:
        task: the task.
        phase: the phase.
        question: the system's question.
        move: the user's answer. Its trace lists the snippets that the answer may reveal; without a trace,
            they are those that the rule-based user would reveal. Data that is not a text counts as silence.
        guard: what happens to an answer that leaks: `filter` replaces the answer, and `log` only records the
            leak. None lets every answer pass, for recorded answers, which were filtered before.
    """
    from birdenv.users import RuleUser
    from birdenv.users.leak_guard import leak_guard

    brief = brief_of(task, phase)
    text = move.data[:MAX_TEXT] if isinstance(move.data, str) else ""
    trace = read_trace(move.trace)
    if trace is None and guard is not None:
        answer = RuleUser().answer(brief, question)
        trace = {"call": answer.call, "target": answer.target, "granted": list(answer.granted)}
    trace = trace or {"call": "", "target": "", "granted": []}
    calls = _model_calls(move.trace)
    reason = ""
    if guard is not None:
        guarded = leak_guard(brief).filter(text, tuple(trace["granted"]))
        reason, text = guarded.reason, guarded.text if guard == "filter" else text
    return FilteredAnswer(text, {"kind": "answer", "question": question, **trace, "guard": reason, **calls})


def _model_calls(trace: Any) -> dict[str, Any]:
    """Return the keys of the recorded model calls that led to an answer, by stage."""
    calls = trace.get("calls") if isinstance(trace, Mapping) else None
    keys: list[Any] = [calls.get(stage) for stage in STAGES] if isinstance(calls, Mapping) else []
    if not keys or not all(isinstance(each, list) and len(each) <= _TRIES for each in keys):
        return {}
    if not all(isinstance(key, str) and len(key) <= _KEY for each in keys for key in each):
        return {}
    return {"calls": dict(zip(STAGES, keys, strict=True))}


def read_trace(trace: Any) -> dict[str, Any] | None:
    """Return the fields `call`, `target` and `granted` of a user's trace, or None if the trace is not valid.

    A user may come from another package, so its trace may be any value. A trace that is too long for the
    private log is not valid.
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
