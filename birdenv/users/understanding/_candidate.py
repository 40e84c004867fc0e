"""A candidate: something that a question may be about. Its facets are its group and its kinds."""

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

    `group` is "critical", "knowledge", "non_critical", "part", "open" (a kind of thing that the gold SQL
    leaves open) or "said" (something that the request says, in tasks whose gold SQL is withheld). `names` are
    the forms of an annotated term. Candidates with the same number in `same` say the same. `main_kinds` are
    the kinds of thing by which questions may ask for the candidate without naming it. `answer` is the
    complete answer, if it is not made from SQL.
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
    """Return the indices of a candidate's facets in the tables of weights."""
    names = [
        candidate.group,
        *sorted(candidate.kinds),
        *(f"main {kind}" for kind in sorted(candidate.main_kinds)),
    ]
    if candidate.group in ("open", "said"):
        names += [f"{candidate.group} {kind}" for kind in sorted(candidate.main_kinds)]
    return tuple(_PLACE[name] for name in names)
