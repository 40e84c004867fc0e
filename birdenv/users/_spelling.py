"""The schema's own spelling of names: snippets write `freqdrifthzs` where the schema has `FreqDriftHzs`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from birdenv.users._lexer import Token, split_words

__all__ = ["respelt"]


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
