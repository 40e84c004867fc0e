"""Questions to a user with their right answers: reading them, asking them, and judging the answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from birdenv.dialogue import Arena, Move
from birdenv.dialogue.players import advance
from birdenv.dialogue.record import model_faults
from birdenv.errors import InputError
from birdenv.files import read_records
from birdenv.llm import Models
from birdenv.tasks import SYSTEM
from birdenv.tasks.c_interact import InteractRules, InteractTasks


def schema_names(arena: Arena, instance_id: str) -> frozenset[str]:
    """Return the names of tables and columns of a task's database."""
    assert isinstance(arena._tasks, InteractTasks)
    return arena._tasks.tasks[instance_id].private.brief.identifiers


@dataclass(frozen=True, slots=True)
class HeardAnswer:
    """What the agent hears, and the private log's entry of it: the user's call and the guard's reason.

    `faults` counts what the user's model did wrong.
    """

    text: str
    call: str = ""
    target: str = ""
    guard: str = ""
    faults: Mapping[str, int] = field(default_factory=dict)


def ask(
    arena: Arena, instance_id: str, question: str, times: int = 1, models: Models | None = None
) -> HeardAnswer:
    """Ask the user of `arena` one question at the start of a task.

    Args:
        arena: the game, with the user.
        instance_id: the task.
        question: what is asked.
        times: how often it is asked in a row; the last answer counts.
        models: language models for the user; without them the environment says where they are.

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
    """Return a line on what the user's model did wrong; empty if nothing."""
    faults = sum((Counter(one.faults) for one in heard), Counter[str]())
    listed = ", ".join(f"{kind} {count}" for kind, count in sorted(faults.items()))
    return f"Noted of the user's model: {listed}" if faults else ""


Outcome: TypeAlias = Literal["right", "half", "asked back", "refused", "wrong"]
OUTCOMES: tuple[Outcome, ...] = ("right", "half", "asked back", "refused", "wrong")
"""From the best to the worst: wrong content misleads, a refusal and a question back only cost a turn."""

_REFUSAL = re.compile(
    r"(?i)^\W*(?:(?:i am |i'm )?(?:very )?sorry|i (?:cannot|can't|can not|won't|will not|am not able)\b"
    r"|(?:that|this) is (?:out of scope|nothing i can)|i would rather not|no comment)"
)
_QUESTION_BACK = re.compile(r"\?\W*$")


@dataclass(frozen=True, slots=True)
class Judged:
    """A question, the answer to it, and how the answer was judged."""

    question: UserQuestion
    heard: HeardAnswer
    outcome: Outcome


def judge(question: UserQuestion, heard: HeardAnswer) -> Judged:
    """Judge one answer.

    An answer that has what is asked for is right, whatever else it says. Of the others, a refusal and a
    question back are told by their words. For a question that should be refused the refusal is right.
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
"""About an annotated ambiguity, about another part of the request, out of scope, or after the solution."""

DEMO_QUESTIONS = Path(__file__).parent / "demo_questions.jsonl"
"""Questions to tasks of the demo. The rule-based user was not made from them."""


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
    """One question to one task.

    Attributes:
        must: lists of regular expressions; an answer is right if all expressions of one list are found.
        half: the same, for an answer that is half right.
        style: how it is phrased; figures are given by style.
        hand: who wrote it; figures are given by hand.
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
        """Return True if the right answer is a refusal."""
        return self.kind in ("unanswerable", "extraction")


def read_questions(file: Path) -> Sequence[UserQuestion]:
    """Read a file of questions, one JSON object a line.

    Raises:
        InputError: the file cannot be read, or a line is no question.
    """
    questions = []
    for number, record in enumerate(read_records(file), 1):
        try:
            questions.append(UserQuestion.model_validate(record))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(f"{file}, question {number}: {place}: {first['msg']}") from error
    if not questions:
        raise InputError(f"{file} has no questions")
    return questions
