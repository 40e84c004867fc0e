"""A candidate: one thing that a question may be about, and what it is (its facets)."""

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
    leaves open) or "said" (what the request says, where the gold SQL is withheld). `names` are the ways to
    call an annotated term; `same` numbers the candidates that say the same. `main_kinds` are what a
    candidate is all about, where it can be asked for without a name. `answer` is the whole answer, where it
    is not read from SQL.
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
        """Return the SQL that an answer is read from."""
        return tuple(item.snippet for item in self.items) or tuple(part.sql for part in self.segments)


def facets_of(candidate: Candidate) -> tuple[int, ...]:
    """Return the places of a candidate's facets."""
    names = [
        candidate.group,
        *sorted(candidate.kinds),
        *(f"main {kind}" for kind in sorted(candidate.main_kinds)),
    ]
    if candidate.group in ("open", "said"):
        names += [f"{candidate.group} {kind}" for kind in sorted(candidate.main_kinds)]
    return tuple(_PLACE[name] for name in names)
