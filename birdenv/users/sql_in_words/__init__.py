"""SQL in the words of a lay user (the decoder's source of words, BIRD-Interact §3, stage 2).

The words carry all that a snippet settles: literals exactly as written, operators and functions in words,
column names split into words or as their meanings have them. They carry nothing else: no table, alias or CTE
name, no type, no name of the schema as it is spelt there, and no SQL.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from birdenv.users._brief import Brief, BriefNotes
from birdenv.users.sql_in_words._clauses import hidden_names
from birdenv.users.sql_in_words._names import (
    Names,
    counted_noun,
    plain_sources,
    respelt,
    spoken_tables,
)
from birdenv.users.sql_in_words._parse import LexicalUnit, Node, parse_fragment, split_words, tokenize
from birdenv.users.sql_in_words._phrases import PRESENT, Phrase, Wording, quoted
from birdenv.users.sql_in_words._steps import in_steps
from birdenv.users.sql_in_words._unparsed import said_token_by_token
from birdenv.users.sql_in_words._words import Speaker

__all__ = [
    "PRESENT",
    "LexicalUnit",
    "Names",
    "Node",
    "Paraphrase",
    "Wording",
    "in_words",
    "parse_fragment",
    "quoted",
    "read_aloud",
    "respelt",
    "split_words",
    "tokenize",
    "verbalise",
]

Form: TypeAlias = Literal["noun", "condition", "addition", "selection", "arrangement", "request"]
"""How words fit into a sentence: "I mean ..", "I mean that ..", "and also ..", "only where ..",
"sorted by ..", "show .."."""

_REQUESTS = frozenset({"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "CREATE", "VALUES"})
_CLAUSES = frozenset(
    """FROM GROUP ORDER LIMIT OFFSET UNION INTERSECT EXCEPT JOIN LEFT RIGHT INNER FULL CROSS NATURAL ON USING
    WINDOW RETURNING SET FETCH PARTITION""".split()
)


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A snippet in words, the form of its sentence, and the names that were kept back."""

    text: str
    form: Form
    hidden: frozenset[str]


def verbalise(snippet: str, identifiers: frozenset[str] = frozenset()) -> str:
    """Return a snippet in words; of `identifiers` (the schema's names) only those in it may be said.

    >>> verbalise("b.PricePerKg - 0.25 * ABS(b.DiscountPct) AS NetPrice")
    'the price per kg minus 0.25 times the absolute value of the discount pct'
    """
    return read_aloud(snippet, identifiers).text


@lru_cache(maxsize=4096)
def read_aloud(
    snippet: str,
    identifiers: frozenset[str] = frozenset(),
    notes: BriefNotes | None = None,
    request: str = "",
    gold: tuple[str, ...] = (),
) -> Paraphrase:
    """Return a snippet in words, with the form of the sentence and the names that were kept back.

    With `notes`, names are said as the meanings of their columns have them. With the `request`, tables that
    it names are named too, and everyday plurals; `gold` only tells which of them a fragment counts.
    """
    tokens, tree = tokenize(snippet), parse_fragment(snippet)
    first = tokens[0].key if tokens else ""
    hidden = hidden_names(tokens, tree)
    spelt = {part for token in respelt(tokens, identifiers) for part in split_words(token.text).split()}
    taken = frozenset({name.lower() for name in identifiers} - spelt | hidden)
    nouns = {**plain_sources(snippet), **spoken_tables(request, identifiers)} if request else {}
    wording = Wording(taken, nouns, counted_noun(snippet, gold, nouns))
    names = Names(identifiers, notes)
    phrase = said_token_by_token(tokens, names) if tree is None else _said(tree, wording, names)
    text = phrase.text
    if first in ("AND", "OR"):
        lead = "and also only cases where {}" if first == "AND" else "or also cases where {}"
        text = wording.say(lead if phrase.condition else f"{first.lower()} also {{}}", text)
    return Paraphrase(text, _form(first, phrase, snippet), hidden)


def in_words(snippet: str, brief: Brief) -> Paraphrase:
    """Say a snippet in the words that the user of this brief has for it."""
    return read_aloud(snippet, brief.identifiers, brief.notes, brief.request, brief.gold)


def _said(tree: Node, wording: Wording, names: Names) -> Phrase:
    try:
        return in_steps(Speaker(wording, names, tree), tree)
    except RecursionError:
        return Phrase("")


def _form(first: str, phrase: Phrase, snippet: str) -> Form:
    if first in _REQUESTS or phrase.text.startswith("first work out"):
        return "request"
    if first in ("WHERE", "HAVING"):
        return "selection"
    if first in _CLAUSES and not (first in ("LEFT", "RIGHT") and phrase.bond < 2):
        return "arrangement"
    if not phrase.condition:
        return "noun"
    return "addition" if first in ("AND", "OR") else "condition"
