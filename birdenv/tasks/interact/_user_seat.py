"""The user's side of the dialogue: what that seat knows, and what of its words reaches the system.

Seats a simulated user in a c-Interact dialogue.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from birdenv.dialogue import Event, Move
from birdenv.tasks.interact._task import CInteractTask
from birdenv.tasks.sql._actions import MAX_TEXT
from birdenv.users import Answer, Brief, RuleUser, User, guard_answer


@dataclass(frozen=True, slots=True)
class UserView:
    """All that the user's seat may see: its brief, the dialogue, and the question to answer (if any)."""

    brief: Brief
    ambiguous_query: str
    question: str
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class FilteredAnswer:
    """What the system hears of an answer, and the entry for the private log."""

    text: str
    entry: dict[str, Any]


def brief_of(task: CInteractTask, phase: int) -> Brief:
    """The user's brief. A follow-up is unambiguous: nothing of it is annotated (BIRD-Interact §2.4)."""
    brief, follow_up = task.private.brief, task.private.follow_up
    if phase == 1 or follow_up is None:
        return brief
    return replace(brief, clear_query=follow_up.query, ambiguities=(), gold=follow_up.gold)


def filter_answer(brief: Brief, question: str, said: object) -> FilteredAnswer:
    """An answer after the leak guard.

    Our own simulators say an `Answer`, with its trace. Text comes from a learner, a human or a stranger: what
    it may mention follows from the question. Anything else is silence.
    """
    if isinstance(said, Answer):
        answer = said
    else:
        text = said[:MAX_TEXT] if isinstance(said, str) else ""
        answer = replace(RuleUser().answer(brief, question), text=text)
    guarded = guard_answer(answer.text, brief, answer.granted)
    entry = {
        "kind": "answer",
        "question": question,
        "call": answer.call,
        "target": answer.target,
        "granted": list(answer.granted),
        "guard": guarded.reason,
    }
    return FilteredAnswer(guarded.text, entry)


class UserSession:
    """Answers each question through a `User`; the answer keeps its trace for the private log."""

    def __init__(self, user: User) -> None:
        self._user = user

    def move(self, view: UserView) -> Move:
        return Move("answer", self._user.answer(view.brief, view.question))
