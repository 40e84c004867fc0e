"""SQL in the words of a lay user (the decoder's source of words, BIRD-Interact §3, stage 2).

The words carry all that a snippet settles: literals exactly as written, operators and functions in words,
column names split into words. They carry nothing else: no table, alias or CTE name, no name of the schema
as it is spelt there, and no SQL.

The schema's own spelling of names: snippets write `freqdrifthzs` where the schema has `FreqDriftHzs`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from birdenv.users._brief import Brief, Notes
from birdenv.users.sql_in_words._clauses import Paraphrase, reading
from birdenv.users.sql_in_words._keywords import CLAUSE_WORDS, Wording
from birdenv.users.sql_in_words._lexer import Token, balanced, split_words, tokenize
from birdenv.users.sql_in_words._reader import Reader
from birdenv.users.sql_in_words._spelling import spelt_out
from birdenv.users.sql_in_words._table_names import counted_noun, plain_sources, spoken_tables


def respelt(tokens: Iterable[Token], identifiers: frozenset[str]) -> list[Token]:
    """`tokens` with each name spelt as the one of `identifiers` that splits its letters into most words."""
    best = _best_spellings(identifiers)
    return [
        Token(token.kind, best.get(token.text.lower(), token.text))
        if token.kind in ("word", "quoted") and _parts(best.get(token.text.lower(), "")) > _parts(token.text)
        else token
        for token in tokens
    ]


def _parts(name: str) -> int:
    return len(split_words(name).split())


@lru_cache(maxsize=256)
def _best_spellings(identifiers: frozenset[str]) -> dict[str, str]:
    best: dict[str, str] = {}
    for name in sorted(identifiers):
        if _parts(name) > _parts(best.get(name.lower(), "")):
            best[name.lower()] = name
    return best


_NEVER_PROSE = frozenset({"IS", "NOT", "NULL", "LIKE", "BETWEEN", "CASE", "WHEN", "DESC", "ASC"})
_CAPITALS = frozenset({"SELECT", "FROM", "WHERE", "JOIN", "GROUP", "ORDER", "HAVING", "SET"})


def verbalise(snippet: str, identifiers: frozenset[str] = frozenset()) -> str:
    """`snippet` in words; of `identifiers` (the schema's names) only those in the snippet may be said.

    >>> verbalise("b.PricePerKg - 0.25 * ABS(b.DiscountPct) AS NetPrice")
    'the price per kg minus 0.25 times the absolute value of the discount pct (called net price)'
    """
    return read_aloud(snippet, identifiers).text


@lru_cache(maxsize=4096)
def read_aloud(
    snippet: str,
    identifiers: frozenset[str] = frozenset(),
    notes: Notes | None = None,
    request: str = "",
    gold: tuple[str, ...] = (),
) -> Paraphrase:
    """`verbalise`, with the form of the sentence and the names that were kept back.

    With `notes`, names are said as the meanings of their columns have them. With the `request`, tables that
    it names are named too, and everyday plurals; `gold` only tells which of them a fragment counts.
    """
    tokens = balanced(respelt(tokenize(snippet), identifiers))
    if notes is not None:
        tokens = spelt_out(tokens, notes)
    if _is_prose(tokens):
        return Paraphrase(_as_written(tokens), "noun", frozenset())
    draft = reading(Reader(tokens, Wording(frozenset())))
    names = {name.lower() for name in identifiers} | draft.hidden
    taken = names - {part for token in tokens for part in split_words(token.text).split()} | draft.hidden
    nouns = {**plain_sources(snippet), **spoken_tables(request, identifiers)} if request else {}
    return reading(Reader(tokens, Wording(frozenset(taken), nouns, counted_noun(snippet, gold, nouns))))


def in_words(snippet: str, brief: Brief) -> Paraphrase:
    """Say a snippet in the words that the user of this brief has for it."""
    return read_aloud(snippet, brief.identifiers, brief.notes, brief.request, brief.gold)


def _is_prose(tokens: list[Token]) -> bool:
    """Whether an annotator wrote a remark instead of SQL: nothing but words, four in a row, no operators."""
    run = longest = 0
    for token in tokens:
        if token.kind != "word" and token.key not in (",", ".", ":", "-"):
            return False
        if token.key in _NEVER_PROSE or token.text in _CAPITALS:
            return False
        run = run + 1 if token.kind == "word" else 0
        longest = max(longest, run)
    return longest > 3 and tokens[0].key not in CLAUSE_WORDS


def _as_written(tokens: list[Token]) -> str:
    words = ""
    for token in tokens:
        gap = " " if words and token.kind == "word" else ""
        words += gap + (split_words(token.text) if token.kind == "word" else token.text)
    return words.rstrip(".")
