"""Classify failed episodes by the agent's questions, the user's answers and the submitted SQL.

A point is an annotated ambiguity of the request, with the snippet of the gold SQL that resolves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from birdenv.runs.blame._answer_truth import is_exact, is_true, says_another_value
from birdenv.runs.blame._readings import Execution, Readings, uses
from birdenv.users import Ambiguity, Brief
from birdenv.users.sql_in_words import read_aloud
from birdenv.users.understanding import understand

Class: TypeAlias = Literal["never asked", "misled", "not used", "wrong SQL", "benchmark"]
State: TypeAlias = Literal["told", "misled", "never asked"]
Culprit: TypeAlias = Literal["agent", "user", "benchmark"]

CULPRITS: Final[dict[Class, Culprit]] = {
    "never asked": "agent",
    "not used": "agent",
    "wrong SQL": "agent",
    "misled": "user",
    "benchmark": "benchmark",
}
TITLES: Final[dict[Class, str]] = {
    "never asked": "the agent never asked about an ambiguous term that its SQL gets wrong",
    "not used": "the agent did not use an explanation that the user gave",
    "wrong SQL": "the agent knew all meanings, but its SQL is wrong",
    "misled": "the user refused to explain a term, or explained it wrongly",
    "benchmark": "the annotation does not lead to the gold SQL, or the gold fails",
}

_BENCHMARK_STATUSES: Final = frozenset({"test_error", "gold_error", "infra_error"})


class AnsweredQuestion(NamedTuple):
    """A question from the agent with the user's answer.

    Attributes:
        question: the question.
        words: the text of the answer.
        granted: the SQL snippets that the answer was supposed to describe.
        stopped: True if the leak guard stopped the answer.
    """

    question: str
    words: str
    granted: tuple[str, ...]
    stopped: bool = False


class PointState(NamedTuple):
    """What the agent learned about an annotated ambiguity, and whether its SQL resolves it correctly.

    Attributes:
        term: the ambiguous term in the request.
        state: `told` if the user gave the term's meaning, `misled` if the user was asked but did not give the
            meaning, and `never asked` otherwise.
        used: True if the agent's SQL uses the intended meaning of the term.
    """

    term: str
    state: State
    used: bool


@dataclass(frozen=True, slots=True)
class Blame:
    """The cause of a failed episode.

    Attributes:
        kind: the class of the failure, such as `never asked`.
        points: the state of each critical ambiguity; empty if `kind` does not depend on the ambiguities.
        shown: True if running SQL has shown that the incorrectly resolved ambiguities are the submission's
            only mistakes.
    """

    kind: Class
    points: tuple[PointState, ...] = ()
    shown: bool = False

    @property
    def culprit(self) -> Culprit:
        """Return who caused the failure: the agent, the user or the benchmark."""
        return CULPRITS[self.kind]


def classify(
    brief: Brief,
    exchanges: Sequence[AnsweredQuestion],
    submissions: Sequence[str],
    statuses: Sequence[str],
    phase: int,
    execution: Execution | None = None,
) -> Blame:
    """Determine who caused an episode to fail in a phase.

    Ambiguities that the last submission resolves correctly are not the cause. The agent is to blame if the
    submission misinterprets an ambiguity that the agent never asked about, even if the user misled the agent
    about a different ambiguity, because the episode would have failed anyway.

    Args:
        brief: the information that the user had about the task.
        exchanges: the questions in the first phase, with the user's answers.
        submissions: the SQL that the agent submitted in the phase.
        statuses: the verdict on each of these submissions.
        phase: the failed phase: 1, or 2 for the follow-up, in which nothing is ambiguous.
        execution: the object that runs variants of the last submission; if None, SQL is only compared as
            text.
    """
    if _BENCHMARK_STATUSES & set(statuses):
        return Blame("benchmark")
    if phase > 1:
        return Blame("wrong SQL")
    critical = [point for point in brief.ambiguities if point.kind != "non_critical"]
    last = submissions[-1] if submissions else ""
    used = {p.snippet: uses(last, p.snippet) for p in critical}
    readings: Readings | None = None
    if execution is not None and not all(used.values()):
        readings = execution.explained(list(used)) if exchanges else None  # else it is the agent's anyway
        for snippet, found in used.items():
            if readings is not None:
                used[snippet] = snippet not in readings
            elif not found:
                used[snippet] = execution.has_right(snippet)
    points = tuple(
        PointState(
            p.term, _state(p, brief, exchanges, last, (readings or {}).get(p.snippet)), used[p.snippet]
        )
        for p in critical
    )
    gold = "\n".join(brief.gold)
    untrue = [
        p for p, found in zip(critical, points, strict=True) if found.used and not uses(gold, p.snippet)
    ]
    missing = {found.state for found in points if not found.used}
    if untrue and not missing and gold:
        return Blame("benchmark", points)
    for state, kind in _ORDER:
        if state in missing:
            return Blame(kind, points, readings is not None)
    return Blame("wrong SQL", points)


def point_states(brief: Brief, exchanges: Sequence[AnsweredQuestion], last: str) -> tuple[PointState, ...]:
    """Return the state of each critical ambiguity of a request, comparing SQL only as text.

    Args:
        brief: the information that the user had about the task.
        exchanges: the agent's questions with the user's answers.
        last: the last submitted SQL; empty if nothing was submitted.
    """
    critical = [point for point in brief.ambiguities if point.kind != "non_critical"]
    return tuple(
        PointState(p.term, _state(p, brief, exchanges, last), uses(last, p.snippet)) for p in critical
    )


_ORDER: Final[tuple[tuple[State, Class], ...]] = (
    ("never asked", "never asked"),
    ("misled", "misled"),
    ("told", "not used"),
)


def _state(
    point: Ambiguity,
    brief: Brief,
    exchanges: Sequence[AnsweredQuestion],
    last: str,
    reading: str | None = None,
) -> State:
    """Return what the agent learned about an ambiguity.

    An answer misleads if it fits the submission's expression (`reading`) better than the annotation, or if it
    contains a value of the last submission that the gold does not have.
    """
    asked = False
    for exchange in exchanges:
        granted = any(sql == point.snippet or uses(sql, point.snippet) for sql in exchange.granted)
        if granted and not exchange.stopped and _tells(exchange.words, point, brief, last, reading):
            return "told"
        asked = asked or granted or _is_about(point, brief, exchange.question)
    return "misled" if asked else "never asked"


def _tells(words: str, point: Ambiguity, brief: Brief, last: str, reading: str | None) -> bool:
    if says_another_value(words, point.snippet, last, "\n".join(brief.gold)):
        return False
    aloud = read_aloud(point.snippet, brief.identifiers, brief.notes).text
    if aloud and aloud.casefold() in words.casefold():
        return True
    if reading is not None and is_exact(words, reading) and not is_exact(words, point.snippet):
        return False
    return is_true(words, point.snippet)


@lru_cache(maxsize=4096)  # many episodes ask the same of one task
def _is_about(point: Ambiguity, brief: Brief, question: str) -> bool:
    """Return whether a question is about an ambiguity, by the rules of the rule-based user or by the term."""
    choice = understand(brief, question)
    if choice.call == "labelled":
        return any(item.term == point.term for item in choice.items)
    if choice.call == "unanswerable":
        return False
    return point.term.casefold() in question.casefold()
