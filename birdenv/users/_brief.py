"""What a simulated user knows: the clear question and where its wording was made ambiguous."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

AmbiguityKind: TypeAlias = Literal["critical", "non_critical", "knowledge"]

Call: TypeAlias = Literal["labelled", "unlabelled", "unanswerable", "unclear"]
"""What a question is: about an annotated point, about another part, out of scope (BIRD-Interact's AMB, LOC
and UNA), or not understood: the user asks back."""


STAGES: Final = ("encoder", "decoder")
"""The two steps of a user: what a question is about, and the answer (BIRD-Interact §3.1)."""

UserStyle: TypeAlias = Literal["plain", "terse", "chatty"]
"""How the rule-based user words its answers: in whole sentences, as the bare content, or with small talk."""


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """One annotated point that the ambiguous wording leaves open, and the SQL that settles it."""

    term: str
    snippet: str
    kind: AmbiguityKind
    type: str = ""
    deleted_knowledge: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class BriefNotes:
    """The notes about a database: the meanings of its columns, its knowledge entries, its schema as text.

    `columns` maps a column's name in lower case to what all columns of that name mean; `knowledge` maps an
    entry's id to its text. Two objects are never equal: a database's notes are one object.
    """

    columns: Mapping[str, str]
    knowledge: Mapping[int, str]
    schema: str = ""


@dataclass(frozen=True, slots=True)
class Brief:
    """Everything the user's side may use to answer questions about one task. Never shown to the system.

    `gold` are the reference statements (empty where they are withheld); `identifiers` the schema's table and
    column names; `dialect` is sqlglot's name of the SQL dialect; `notes` help to see what a question is
    about, and are never said; `request` is the ambiguous question, which the system has read. `converses` is
    false where the protocol answers each question by itself and never asks back; `first_line` is true where
    it takes a model's first line for its choice; `style` is how a rule-based user words its answers;
    `annotated` are the ambiguities as the task's record has them, for prompts of others.
    `inherited` are the points of an earlier phase, by whose terms this one's conditions may be called, and
    `earlier_gold` are its reference statements: a follow-up may ask which of their conditions still hold.
    """

    clear_query: str
    ambiguities: tuple[Ambiguity, ...]
    gold: tuple[str, ...] = ()
    identifiers: frozenset[str] = frozenset()
    dialect: str = "sqlite"
    notes: BriefNotes | None = None
    request: str = ""
    converses: bool = True
    first_line: bool = False
    style: UserStyle = "plain"
    annotated: Mapping[str, Any] = field(default_factory=dict, repr=False)
    inherited: tuple[Ambiguity, ...] = ()
    earlier_gold: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """Return the hash of the two questions: strings remember theirs, and few briefs share them."""
        return hash((self.clear_query, self.request))


class Answer(NamedTuple):
    """The user's words, and the private trace of how they came about.

    `call` is the encoder's choice; `target` the annotated term or segment id it chose ("" if unanswerable
    or unclear, or if an unlabelled question is about a kind of clause that the gold SQL does not have);
    `granted` are the SQL snippets that the answer may draw on.
    """

    text: str
    call: Call
    target: str = ""
    granted: tuple[str, ...] = ()
