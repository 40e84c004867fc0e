"""Read questions with known answers, ask them to a user, and judge the user's answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict

from birdenv.checks import read_as
from birdenv.dialogue import Arena, Move
from birdenv.dialogue.players import advance
from birdenv.dialogue.record import model_faults
from birdenv.errors import InputError
from birdenv.files import read_records
from birdenv.llm import Models
from birdenv.tasks import SYSTEM
from birdenv.tasks.c_interact import InteractRules, InteractTasks


def schema_names(arena: Arena, instance_id: str) -> frozenset[str]:
    """Return the names of all tables and columns in a task's database."""
    assert isinstance(arena._tasks, InteractTasks)
    return arena._tasks.tasks[instance_id].private.brief.identifiers


@dataclass(frozen=True, slots=True)
class HeardAnswer:
    """The user's answer to a question, with details from the private log.

    Attributes:
        text: the answer as shown to the agent.
        call: the user's classification of the question.
        target: the term or segment that the user took the question to be about.
        guard: the reason why the leak guard stopped the answer; empty if the answer was not stopped.
        faults: the number of mistakes that the user's model made in this answer, keyed by kind of mistake.
    """

    text: str
    call: str = ""
    target: str = ""
    guard: str = ""
    faults: Mapping[str, int] = field(default_factory=dict)


def ask(
    arena: Arena, instance_id: str, question: str, times: int = 1, models: Models | None = None
) -> HeardAnswer:
    """Ask the user of `arena` a question at the start of a task.

    Args:
        arena: the arena with the user.
        instance_id: the id of the task.
        question: the question to ask.
        times: how many times in a row to ask the question; the last answer is returned.
        models: the language models for the user; None to use the models named in environment variables.

    Raises:
        InputError: there is no such task.
        InfrastructureError: the user's model does not answer.
    """
    dialogue = arena.start(instance_id)
    rules = dialogue.rules
    assert isinstance(rules, InteractRules)
    players = arena.seat_players(dialogue, instance_id, but=SYSTEM, models=models)
    with closing(dialogue):
        for _ in range(times):
            dialogue.apply(SYSTEM, Move("clarify", question))
            advance(dialogue, players, SYSTEM)
        words = next((event.data for event in reversed(dialogue.events) if event.action == "answer"), "")
        answers = [entry for entry in rules.private_log if entry["kind"] == "answer"]
    entry: dict[str, Any] = answers[-1] if answers else {}
    faults = sum((Counter(model_faults(player)) for player in players), Counter[str]())
    return HeardAnswer(
        str(words), entry.get("call", ""), entry.get("target", ""), entry.get("guard", ""), faults
    )


def noted(heard: Iterable[HeardAnswer]) -> str:
    """Summarise the mistakes of the user's model in one line; return "" if there were none."""
    faults = sum((Counter(one.faults) for one in heard), Counter[str]())
    listed = ", ".join(f"{kind} {count}" for kind, count in sorted(faults.items()))
    return f"Notes on the user's model (see docs/language-models.md): {listed}" if faults else ""


Outcome: TypeAlias = Literal["right", "half", "asked back", "refused", "wrong"]
OUTCOMES: tuple[Outcome, ...] = ("right", "half", "asked back", "refused", "wrong")
"""The outcomes from best to worst. Wrong content misleads; a refusal or a counter-question costs a turn."""

_REFUSAL = re.compile(
    r"(?i)^\W*(?:(?:i am |i'm )?(?:very )?sorry|i (?:cannot|can't|can not|won't|will not|am not able)\b"
    r"|(?:that|this) is (?:out of scope|nothing i can)|i would rather not|no comment)"
)
_QUESTION_BACK = re.compile(r"\?\W*$")


@dataclass(frozen=True, slots=True)
class Judged:
    """A question, the user's answer, and the outcome of judging the answer."""

    question: UserQuestion
    heard: HeardAnswer
    outcome: Outcome


def judge(question: UserQuestion, heard: HeardAnswer) -> Judged:
    """Judge the user's answer to a question.

    An answer is correct if it contains the expected content, even if it says more. Answers without the
    content are classified as refusals or counter-questions by their wording. If the question should be
    refused, a refusal is correct.
    """
    return Judged(question, heard, _outcome(question, heard.text))


def _outcome(question: UserQuestion, text: str) -> Outcome:
    if question.is_refused:
        if _REFUSAL.search(text) or not text.strip():
            return "right"
        return "asked back" if _QUESTION_BACK.search(text) else "wrong"
    if _holds(question.must, text):
        return "right"
    if _holds(question.half, text):
        return "half"
    if _REFUSAL.search(text) or not text.strip():
        return "refused"
    return "asked back" if _QUESTION_BACK.search(text) else "wrong"


def _holds(lists: tuple[tuple[str, ...], ...], text: str) -> bool:
    return any(all(re.search(one, text, re.IGNORECASE) for one in patterns) for patterns in lists if patterns)


QuestionKind = Literal["labelled", "unlabelled", "unanswerable", "extraction"]
"""A question about an annotated ambiguity, about another part of the request, out of scope, or for the
solution."""

DEMO_QUESTIONS = Path(__file__).parent / "demo_questions.jsonl"
"""Questions about tasks of the demo. The rule-based user was not derived from them."""


def _compiles(lists: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    for patterns in lists:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
    return lists


_Patterns = Annotated[tuple[tuple[str, ...], ...], AfterValidator(_compiles)]


class UserQuestion(BaseModel):
    """A question about a task, with its expected answer.

    Attributes:
        instance_id: the id of the task.
        question: the text of the question.
        kind: the subject of the question: an annotated ambiguity (`labelled`), a different part of the
            request (`unlabelled`), an out-of-scope topic (`unanswerable`), or the solution (`extraction`).
        must: lists of regular expressions; an answer is correct if all expressions in at least one list
            match.
        half: lists of regular expressions, as in `must`; an answer is half correct if all expressions in at
            least one list match.
        style: a label for the question's phrasing, by which results are broken down.
        hand: a label for the question's author, by which results are broken down.
    """

    model_config = ConfigDict(frozen=True)

    instance_id: str
    question: str
    kind: QuestionKind
    must: _Patterns = ()
    half: _Patterns = ()
    style: str = ""
    hand: str = ""

    @property
    def is_refused(self) -> bool:
        """True if the correct answer is a refusal."""
        return self.kind in ("unanswerable", "extraction")


def read_questions(file: Path) -> Sequence[UserQuestion]:
    """Read questions with their expected answers from a file with one JSON object per line.

    Raises:
        InputError: the file cannot be read, or a line is not a question.
    """
    questions = [
        read_as(UserQuestion, record, f"{file}, question {number}")
        for number, record in enumerate(read_records(file), 1)
    ]
    if not questions:
        raise InputError(f"{file} has no questions")
    return questions
