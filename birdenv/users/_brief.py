"""The knowledge of a simulated user: the unambiguous request, and the points made ambiguous in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

AmbiguityKind: TypeAlias = Literal["critical", "non_critical", "knowledge"]

Call: TypeAlias = Literal["labelled", "unlabelled", "unanswerable", "unclear"]
"""The user's classification of a question.

The question is about an annotated point, about another part of the SQL, or out of scope (AMB, LOC and UNA in
BIRD-Interact). If the user does not understand the question, it is unclear, and the user asks the agent to
rephrase.
"""

STAGES: Final = ("encoder", "decoder")
"""The two steps of a user: finding what a question is about, and wording the answer (BIRD-Interact §3.1)."""

UserStyle: TypeAlias = Literal["plain", "terse", "chatty"]
"""The style of the rule-based user's answers: whole sentences, the bare content, or with small talk."""


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """One annotated point that the ambiguous wording leaves open, and the SQL that settles it.

    Attributes:
        term: the unclear words in the request.
        snippet: the piece of SQL that settles the point.
        kind: the kind of annotation.
        type: the type of ambiguity in the task file; empty if it has none.
        deleted_knowledge: the ids of the knowledge entries that are hidden because of this point.
    """

    term: str
    snippet: str
    kind: AmbiguityKind
    type: str = ""
    deleted_knowledge: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class BriefNotes:
    """Notes about a database. Instances are compared by identity.

    Attributes:
        columns: the meanings of columns, by column name in lower case. Columns with the same name share one
            text, even if they are in different tables.
        knowledge: the texts of the knowledge entries, by the entries' ids.
        schema: the schema as text.
    """

    columns: Mapping[str, str]
    knowledge: Mapping[int, str]
    schema: str = ""


NO_NOTES: Final = BriefNotes({}, {})


@dataclass(frozen=True, slots=True)
class Brief:
    """Everything that the user may use to answer questions about one task. The system never sees it.

    Attributes:
        clear_query: the unambiguous request.
        ambiguities: the annotated points.
        gold: the reference statements; empty if they are withheld.
        identifiers: the names of the schema's tables and columns.
        dialect: sqlglot's name of the SQL dialect.
        notes: notes about the database, which help to find what a question is about and are never quoted.
        request: the ambiguous request, which the system has read.
        converses: True if the user remembers the conversation and can ask the agent to rephrase; False if
            the protocol answers each question on its own.
        first_line: True if only the first line of a model's reply is searched for the model's choice.
        style: how a rule-based user words its answers.
        annotated: the ambiguities exactly as in the task's record, for prompts written by others.
        inherited: for a follow-up, the annotated points from the first phase, whose terms questions can still
            use; otherwise empty.
        earlier_gold: for a follow-up, the reference statements from the first phase, because questions can
            ask whether their conditions still hold; otherwise empty.
    """

    clear_query: str
    ambiguities: tuple[Ambiguity, ...]
    gold: tuple[str, ...] = ()
    identifiers: frozenset[str] = frozenset()
    dialect: str = "sqlite"
    notes: BriefNotes = NO_NOTES
    request: str = ""
    converses: bool = True
    first_line: bool = False
    style: UserStyle = "plain"
    annotated: Mapping[str, Any] = field(default_factory=dict, repr=False)
    inherited: tuple[Ambiguity, ...] = ()
    earlier_gold: tuple[str, ...] = ()

    @property
    def changes_rows(self) -> bool:
        """Return True if the reference statements update or delete rows."""
        return any(sql.lstrip()[:6].upper() in ("UPDATE", "DELETE") for sql in self.gold)

    def __hash__(self) -> int:
        """Return the hash of the two requests.

        It is fast because Python caches the hashes of strings, and few briefs have the same requests.
        """
        return hash((self.clear_query, self.request))


class Answer(NamedTuple):
    """The user's answer, and a private trace of how it came about.

    Attributes:
        text: the words that the agent hears.
        call: how the user classified the question.
        target: the annotated term or the id of the segment that the question is about. Empty if the question
            is unanswerable or unclear, or if it asks about something that the gold SQL leaves open.
        granted: the SQL snippets that the answer may draw on.
    """

    text: str
    call: Call
    target: str = ""
    granted: tuple[str, ...] = ()
