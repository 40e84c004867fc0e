"""Candidates: the things that a question may be about.

A candidate's facets are its group and its kinds of thing. The ranking has separate weights for each facet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from birdenv.users._brief import Ambiguity
from birdenv.users.segments import Segment

Field: TypeAlias = Literal["term", "sql", "notes"]
FIELDS: tuple[Field, ...] = ("term", "sql", "notes")


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Something that a question may be about.

    Attributes:
        group: "critical", "knowledge" or "non_critical" for an annotated point; "part" for a part of the gold
            SQL; "open" for a kind of thing that the gold SQL leaves open; "said" for something that the
            request says, in a task whose gold SQL is withheld.
        target: the annotated term, or the id of the part of the gold SQL; otherwise empty.
        kinds: the kinds of thing that the candidate settles.
        clause: the kind of clause, or the kind of thing if the gold SQL has no such clause; empty for an
            annotated point.
        items: the annotated points.
        segments: the parts of the gold SQL.
        names: the forms in which a question may mention the annotated term.
        values: the values in the candidate's SQL.
        main_kinds: the kinds of thing for which this candidate can be meant without being named.
        answer: the complete answer, if it is not made from SQL; otherwise empty.
        stems: the stems of the words that a question may use to refer to the candidate, by their source.
    """

    group: str
    target: str
    kinds: frozenset[str]
    clause: str = ""
    items: tuple[Ambiguity, ...] = ()
    segments: tuple[Segment, ...] = ()
    names: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    main_kinds: frozenset[str] = frozenset()
    answer: str = ""
    stems: Mapping[Field, set[str]] = field(default_factory=dict)

    @property
    def sql(self) -> tuple[str, ...]:
        """Return the SQL that the answer is made from."""
        return tuple(item.snippet for item in self.items) or tuple(part.sql for part in self.segments)


def facets_of(candidate: Candidate) -> tuple[str, ...]:
    """Return what a word sequence can indicate about a candidate: its group and its kinds of thing."""
    main = sorted(candidate.main_kinds)
    names = [candidate.group, *sorted(candidate.kinds), *(f"main {kind}" for kind in main)]
    if candidate.group in ("open", "said"):
        names += [f"{candidate.group} {kind}" for kind in main]
    return tuple(names)
