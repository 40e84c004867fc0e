"""Candidates: the things that a question may be about.

The facets of a candidate are its group and its kinds. The ranking has separate weights for each facet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from birdenv.users._brief import Ambiguity
from birdenv.users.segments import Segment
from birdenv.users.understanding._phrases import KINDS, PLAIN_KINDS

GROUPS = ("critical", "knowledge", "non_critical", "part", "open", "said")

Field: TypeAlias = Literal["term", "sql", "notes", "values"]
FIELDS: tuple[Field, ...] = ("term", "sql", "notes", "values")

FACETS: tuple[str, ...] = (
    *GROUPS,
    *KINDS,
    *(f"{group} {kind}" for group in ("main", "open", "said") for kind in sorted(PLAIN_KINDS)),
    "refuse",
    "ask back",
)
"""What the word runs speak for: groups and kinds of candidates, a refusal, asking back."""

_PLACE = {name: place for place, name in enumerate(FACETS)}


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Something that a question may be about.

    `group` is "critical", "knowledge" or "non_critical" for an annotated point, "part" for a part of the gold
    SQL, "open" for a kind of thing that the gold SQL leaves open, and "said" for something that the request
    says in a task whose gold SQL is withheld. `names` are the forms of an annotated term. Candidates with the
    same number in `same` have the same content. `main_kinds` are the kinds of thing that a question may ask
    for to mean this candidate without naming it. `answer` is the complete answer if the answer is not made
    from SQL, and otherwise empty.
    """

    group: str
    target: str
    kinds: frozenset[str]
    clause: str = ""
    items: tuple[Ambiguity, ...] = ()
    segments: tuple[Segment, ...] = ()
    names: tuple[str, ...] = ()
    literals: tuple[str, ...] = ()
    same: int = 0
    main_kinds: frozenset[str] = frozenset()
    answer: str = ""

    @property
    def sql(self) -> tuple[str, ...]:
        """Return the SQL from which the answer is made."""
        return tuple(item.snippet for item in self.items) or tuple(part.sql for part in self.segments)


def facets_of(candidate: Candidate) -> tuple[int, ...]:
    """Return the indices in `FACETS` of a candidate's group and kinds."""
    names = [
        candidate.group,
        *sorted(candidate.kinds),
        *(f"main {kind}" for kind in sorted(candidate.main_kinds)),
    ]
    if candidate.group in ("open", "said"):
        names += [f"{candidate.group} {kind}" for kind in sorted(candidate.main_kinds)]
    return tuple(_PLACE[name] for name in names)
