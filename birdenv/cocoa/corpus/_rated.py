"""What people said of the dialogues of a corpus, as far as the analysis needs to know it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

RatedUnit: TypeAlias = tuple[str, str, str]
"""What is rated: a dialogue, or one seat of it, and who sat there. Empty where a rating does not tell."""


class CorpusRatings(Protocol):
    """Statistics of ratings."""

    def to_json(self) -> dict[str, Any]:
        """Return the statistics as a JSON object."""
        ...

    def text(self) -> str:
        """Return the statistics as a table."""
        ...


@dataclass(frozen=True, slots=True)
class Rated:
    """Ratings of dialogues.

    Attributes:
        report: statistics of the ratings; None where there are none.
        answers: answers in numbers, by question and by what is rated.
    """

    report: CorpusRatings | None = None
    answers: Mapping[str, Mapping[RatedUnit, Sequence[float]]] = field(default_factory=dict)
