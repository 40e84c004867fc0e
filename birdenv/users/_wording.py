"""The words that the verbaliser adds of its own, kept apart from the names it must not say.

A template such as "the total of {}" is plain English, but a task's schema may have a table called `total`;
saying the word would then look like naming the table. Every template therefore goes through
`Wording.say`, which swaps a word that is taken for the first free synonym.
"""

from __future__ import annotations

import re

__all__ = ["Wording", "enumerate_words", "quoted"]

_WORD = re.compile(r"\{\}|[^\W\d_]+")

_SYNONYMS: dict[str, tuple[str, ...]] = {
    "average": ("mean",),
    "cases": ("instances", "occurrences"),
    "change": ("alter", "modify"),
    "characters": ("letters", "signs"),
    "date": ("day", "calendar day"),
    "different": ("distinct", "non-repeated"),
    "entry": ("item", "element"),
    "entries": ("items", "elements"),
    "figure": ("quantity", "amount"),
    "first": ("foremost", "leading"),
    "format": ("form", "shape"),
    "group": ("bunch", "set"),
    "groups": ("bunches", "sets"),
    "highest": ("largest", "greatest"),
    "length": ("size", "extent"),
    "list": ("collection", "enumeration"),
    "lowest": ("smallest", "least"),
    "month": ("calendar month",),
    "number": ("count", "quantity"),
    "order": ("sequence", "succession"),
    "part": ("piece", "portion"),
    "pattern": ("mask", "wildcard"),
    "position": ("place", "spot"),
    "rank": ("ranking", "place"),
    "records": ("rows", "lines"),
    "result": ("outcome", "output"),
    "running": ("consecutive", "sequential"),
    "rows": ("lines", "records"),
    "show": ("present", "display"),
    "table": ("grid", "sheet"),
    "text": ("string", "wording"),
    "time": ("moment", "clock time"),
    "today": ("now", "this day"),
    "total": ("sum", "overall amount"),
    "value": ("content", "figure"),
    "view": ("perspective", "saved list"),
    "week": ("calendar week",),
    "year": ("calendar year",),
}


class Wording:
    """Template text in which no word is one of the `taken` names (lower case)."""

    def __init__(self, taken: frozenset[str]) -> None:
        self._taken = taken

    def say(self, template: str, *parts: str) -> str:
        """`template` with free synonyms for taken words, and its `{}` filled in turn by `parts`."""
        filled = iter(parts)

        def replace(match: re.Match[str]) -> str:
            return next(filled, "") if match.group() == "{}" else self._free(match.group())

        return _WORD.sub(replace, template)

    def _free(self, word: str) -> str:
        if word.lower() not in self._taken:
            return word
        for synonym in _SYNONYMS.get(word.lower(), ()):
            if not self._taken.intersection(synonym.replace("-", " ").split()):
                return synonym
        return word


def quoted(text: str) -> str:
    """`text` in quotation marks that do not occur in it, where there are such."""
    return f'"{text}"' if "'" in text and '"' not in text else f"'{text}'"


def enumerate_words(parts: list[str], last: str = "and") -> str:
    """Parts as an English enumeration: "a", "a and b", "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"
