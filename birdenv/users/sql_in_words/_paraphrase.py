"""Put a snippet into words, and split long formulas into steps.

If sqlglot cannot parse a snippet, the words are its names and literals in order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from string import ascii_uppercase
from typing import Literal, TypeAlias

from birdenv.users._brief import NO_NOTES, Brief, BriefNotes
from birdenv.users.sql_in_words import _clauses  # noqa: F401 - it adds to the table of words
from birdenv.users.sql_in_words._names import Names
from birdenv.users.sql_in_words._parse import (
    FRAME,
    LexicalUnit,
    Node,
    kind_of,
    node_class,
    parse_fragment,
    tokenize,
)
from birdenv.users.sql_in_words._phrases import ARITHMETIC, LOOSE, Phrase, phrases, quoted
from birdenv.users.sql_in_words._tables import sources_of
from birdenv.users.sql_in_words._words import Speaker

Form: TypeAlias = Literal["noun", "condition", "addition", "arrangement", "request"]
"""The form of a sentence: "I mean ..", "I mean that ..", "and also ..", "I want it ..", or "please .."."""

_STATEMENTS = frozenset({"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "CREATE"})
_ARRANGEMENTS = ("grouped by ", "sorted by ", "limited to ", "after ", "matched with ", "together ", "but ")
"""The beginnings of words that say how the result is arranged."""


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A snippet in words.

    Attributes:
        text: the words.
        form: the form of the words, which decides how a sentence introduces them; for example, a condition
            follows "I mean that ..".
        hidden: the tables, aliases and CTEs whose names the words leave out, in lower case.
    """

    text: str
    form: Form
    hidden: frozenset[str]


def verbalise(snippet: str, identifiers: frozenset[str] = frozenset()) -> str:
    """Return a snippet in words; `identifiers` are the names in the schema, as it spells them.

    >>> verbalise("b.PricePerKg - 0.25 * ABS(b.DiscountPct) AS NetPrice")
    'the price per kg minus 0.25 times the absolute value of the discount pct'
    """
    return read_aloud(snippet, identifiers).text


@lru_cache(maxsize=4096)
def read_aloud(
    snippet: str,
    identifiers: frozenset[str] = frozenset(),
    notes: BriefNotes = NO_NOTES,
    request: str = "",
    gold: tuple[str, ...] = (),
) -> Paraphrase:
    """Return a snippet in words, with the form of the sentence and the names that the words leave out.

    Args:
        snippet: the SQL.
        identifiers: the names in the schema, as it spells them.
        notes: notes with the columns' meanings, from which the words for columns come.
        request: the request. The words may name the tables that it mentions.
        gold: the statements that contain the snippet, to find out what a COUNT(*) counts.
    """
    tokens, tree = tokenize(snippet), parse_fragment(snippet)
    while tree is not None and kind_of(tree) in ("Alias", "Paren"):
        tree = tree.this
    names = Names(identifiers, notes)
    phrase = said_in_order(tokens, names)
    if tree is not None:
        with suppress(RecursionError):
            phrase = in_steps(Speaker(tree, names, request, sources_of(snippet, gold)), tree)
    first = tokens[0].key if tokens else ""
    text, form, hidden = phrase.text, _form(first, phrase), hidden_names(tokens, tree)
    if form == "noun":
        text = text.removeprefix("show ")
    if first in ("AND", "OR"):
        cases = "only cases where " if first == "AND" else "cases where "
        text, form = f"{first.lower()} also {cases * phrase.condition}{text}", "addition"
    return Paraphrase(text, form, hidden)


def _form(first: str, phrase: Phrase) -> Form:
    if first in _STATEMENTS:
        return "request"
    if phrase.text.startswith(_ARRANGEMENTS):
        return "arrangement"
    return "condition" if phrase.condition else "noun"


def in_words(snippet: str, brief: Brief) -> Paraphrase:
    """Return a snippet in words, as the user with this brief says it."""
    return read_aloud(snippet, brief.identifiers, brief.notes, brief.request, brief.gold)


def hidden_names(tokens: Sequence[LexicalUnit], tree: Node | None) -> frozenset[str]:
    """Return the names of tables, aliases and CTEs, in lower case."""
    found = {one.text for one, after in pairwise(tokens) if after.key == "."}
    if tree is not None:
        for node in tree.find_all(*map(node_class, ("Table", "TableAlias", "Window"))):
            found |= {node.name, node.alias}
    return frozenset(name.lower() for name in found if name and name != FRAME)


_SIGNS = phrases("signs") | {sign: sign for sign in "(),"}
_LEADS = frozenset({"FROM", "JOIN", "AS", "INTO", "UPDATE"})
"""A name after one of these is a table, an alias or a type."""

_KEYWORD = re.compile(r"AS|END|[A-Z_]{4,}")


def said_in_order(tokens: Sequence[LexicalUnit], names: Names) -> Phrase:
    """Return the words for the names, literals and operators in a token sequence, skipping keywords."""
    said: list[str] = []
    keys = ["", *(token.key for token in tokens[:-1]), "", ""]  # a full stop at the end follows no table
    for token, before, after in zip(tokens, keys, keys[2:], strict=False):
        if token.kind == "string":
            said.append(quoted(token.text))
        elif token.kind in ("symbol", "number"):
            said.append(_SIGNS.get(token.text, token.text if token.kind == "number" else ""))
        elif before not in _LEADS and after != "." and not _KEYWORD.fullmatch(token.text):
            said.append(names.words(token.text))
    if said.count("(") != said.count(")"):
        said = [word for word in said if word not in ("(", ")")]
    text = " ".join(filter(None, said))
    return Phrase(text.replace(" )", ")").replace(" ,", ",").replace("( ", "("), LOOSE)


_MOST_WORDS = 40
"""The maximum number of words for a formula that is not split into steps."""

_LEAST_WORDS = 6
"""The minimum number of words in a part that gets a letter."""

_WRAPPERS = frozenset({"Alias", "Anonymous", "Cast", "Paren"})


def in_steps(speaker: Speaker, tree: Node) -> Phrase:
    """Describe a tree. Parts of a long formula are replaced with letters, which are explained afterwards."""
    whole = speaker.say(tree)
    steps, said = [("", tree)], list[str]()
    names = {node.name.upper() for node in tree.find_all(node_class("Identifier"))}
    letters = (letter for letter in ascii_uppercase if letter not in names)
    for letter, node in steps:
        text = speaker.say(node).text
        if len(text.split()) > _MOST_WORDS:
            parts = [part for part in _parts(node) if len(speaker.text(part).split()) >= _LEAST_WORDS]
            named = [(name, part) for part, name in zip(parts, letters, strict=False)]
            steps += [(name, part.this if kind_of(part) == "Paren" else part) for name, part in named]
            speaker.letters = {id(part): name for name, part in named}
            text = speaker.text(node)
            speaker.letters = {}
        said.append(f"{letter} is {text}" if letter else text)
    if len(said) == 1:
        return whole
    return Phrase(f"{said[0]}. Here {'; '.join(said[1:])}", whole.bond, whole.condition)


def _parts(node: Node) -> list[Node]:
    """Return the operands of a formula, which may be inside a call or brackets."""
    if kind_of(node) in ARITHMETIC:
        operands = (node.this, node.expression)
        return [part for one in operands for part in (_parts(one) if kind_of(one) in ARITHMETIC else [one])]
    children = node.iter_expressions() if kind_of(node) in _WRAPPERS else ()
    return [part for child in children for part in _parts(child)]
