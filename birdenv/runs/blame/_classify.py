"""One failed episode: what was asked, what was said, what was done with it, and so whose fault it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from birdenv.runs.blame._truth import is_true, uses
from birdenv.users import Ambiguity, Brief
from birdenv.users.understanding import understand

Class: TypeAlias = Literal["never asked", "misled", "not used", "wrong SQL", "benchmark"]
Culprit: TypeAlias = Literal["agent", "user", "benchmark"]

CULPRITS: Final[dict[Class, Culprit]] = {
    "never asked": "agent",
    "not used": "agent",
    "wrong SQL": "agent",
    "misled": "user",
    "benchmark": "benchmark",
}
TITLES: Final[dict[Class, str]] = {
    "never asked": "the agent never asked about a point that its SQL has wrong",
    "not used": "the agent was told, and did not use it",
    "wrong SQL": "the agent knew everything, and its SQL is wrong",
    "misled": "the agent asked, and was refused or told something else",
    "benchmark": "the annotation does not lead to the gold SQL, or the gold fails",
}

_BENCHMARK_STATUSES: Final = frozenset({"test_error", "gold_error", "infra_error"})


class Exchange(NamedTuple):
    """A question of the agent, and how it was answered."""

    question: str
    words: str
    granted: tuple[str, ...]
    stopped: bool = False


class PointState(NamedTuple):
    """What became of one annotated point: `told`, `misled` or `never asked`; and whether the SQL has it."""

    term: str
    state: Literal["told", "misled", "never asked"]
    used: bool


@dataclass(frozen=True, slots=True)
class Blame:
    """The verdict on one failed episode.

    Attributes:
        kind: the class of the failure.
        points: the annotated points that count.
    """

    kind: Class
    points: tuple[PointState, ...] = ()

    @property
    def culprit(self) -> Culprit:
        """Whose fault it was."""
        return CULPRITS[self.kind]


def classify(
    brief: Brief,
    exchanges: Sequence[Exchange],
    submissions: Sequence[str],
    statuses: Sequence[str],
    phase: int,
) -> Blame:
    """Return whose fault it was that an episode failed in a phase.

    A point that the last submission has right was not the cause, asked about or not. Of the others, one that
    the agent never asked about counts before one on which it was misled: it would have failed in any case.

    Args:
        brief: what the user knew.
        exchanges: the questions of the first phase, with their answers.
        submissions: the SQL submitted in the phase.
        statuses: how the submissions of the phase were judged.
        phase: 1, or 2 for the follow-up, in which nothing is ambiguous.
    """
    if _BENCHMARK_STATUSES & set(statuses):
        return Blame("benchmark")
    if phase > 1:
        return Blame("wrong SQL")
    critical = [point for point in brief.ambiguities if point.kind != "non_critical"]
    last = submissions[-1] if submissions else ""
    points = tuple(PointState(p.term, _state(p, brief, exchanges), uses(last, p.snippet)) for p in critical)
    gold = "\n".join(brief.gold)
    untrue = [
        p for p, found in zip(critical, points, strict=True) if found.used and not uses(gold, p.snippet)
    ]
    missing = {found.state for found in points if not found.used}
    if untrue and not missing and gold:
        return Blame("benchmark", points)
    for state, kind in _ORDER:
        if state in missing:
            return Blame(kind, points)
    return Blame("wrong SQL", points)


_ORDER: Final[tuple[tuple[str, Class], ...]] = (
    ("never asked", "never asked"),
    ("misled", "misled"),
    ("told", "not used"),
)


def _state(
    point: Ambiguity, brief: Brief, exchanges: Sequence[Exchange]
) -> Literal["told", "misled", "never asked"]:
    asked = False
    for exchange in exchanges:
        granted = point.snippet in exchange.granted
        if granted and not exchange.stopped and is_true(exchange.words, point.snippet):
            return "told"
        asked = asked or granted or _is_about(point, brief, exchange.question)
    return "misled" if asked else "never asked"


def _is_about(point: Ambiguity, brief: Brief, question: str) -> bool:
    """Whether a question is about a point, by the rules of the rule-based user, or because it names it."""
    choice = understand(brief, question)
    if choice.call == "labelled":
        return any(item.term == point.term for item in choice.items)
    if choice.call == "unanswerable":
        return False
    return point.term.casefold() in question.casefold()
