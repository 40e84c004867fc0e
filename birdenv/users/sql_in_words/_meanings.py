"""Noun phrases for columns and JSON entries, from the texts about their meanings."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from birdenv.users._brief import BriefNotes
from birdenv.users.identifiers import is_identifier

_FULL_NAME = re.compile(r"Full name: '([^'(]{3,60}?)\s*(?:\([^')]*\))?'")
_LEAD = re.compile(
    r"(?ix) (?:an?\s)? (?: [A-Z][\w ]{0,20} | \w+_enum )? \s* (?:\([^)]{0,80}\))? \s*"
    r"(?:field|value|flag|column|timestamp|rank|count|text)? \s*"
    r"(?:storing|tracking|indicating|capturing|noting|recording|specifying|describing|measuring|counting|for"
    r"|giving|labell?ing|enumerating|providing|representing|showing|defining|rating|covering|documenting"
    r"|[.:]) \s+ (?:(?:the|an?|each|overall|any)\s)*"
)
_END = re.compile(
    r"(?is)\s*(?:[(.,;:/]|\b(?:for|of|in|by|with|when|where|used|from|on|at|as|is|are|was|per|to|that|which"
    r"|associated|during|between|under|within|using|if|or|and|linked|measured|based|currently|possible"
    r"|expressed|including|how|what|whether|this|these)\b).*"
)
_NO_PHRASE = re.compile(
    r"\b(?:key|referenc|unique|identif|link|serial|column|jsonb?|example|data|enum|numeric|varchar)"
)
_PHRASE = re.compile(r"[a-z][a-z’'‑-]*(?: [a-z][a-z’'‑-]*){0,4}")


def noun_phrase(name: str, meaning: str) -> str:
    """Return the noun phrase at the beginning of a column's meaning, if the column's name abbreviates it.

    >>> noun_phrase("sessdur", "A NUMERIC(7,2) measuring session duration in minutes (e.g., 12.5).")
    'session duration'
    >>> noun_phrase("teamref", "A BIGINT foreign key referencing teams.")
    ''
    """
    meaning = meaning[:300]
    if match := _FULL_NAME.match(meaning):
        return match[1].lower()
    lead = _LEAD.match(meaning)
    found = _END.sub("", meaning[lead.end() :], count=1).strip().lower() if lead else ""
    if not _PHRASE.fullmatch(found) or _NO_PHRASE.search(found):
        return ""
    if " " not in found:
        return found if name[:3] == found[:3] else ""
    letters = iter(name)  # in which those of the words must occur in order
    return found if all(word[0] in letters for word in found.split()) else ""


@lru_cache(maxsize=64)
def column_phrases(notes: BriefNotes) -> Mapping[str, str]:
    """Return the noun phrases of columns, by column. Phrases that two columns share are left out."""
    found = {name: noun_phrase(name, meaning) for name, meaning in notes.columns.items()}
    shared = list(found.values())
    return {name: phrase for name, phrase in found.items() if phrase and shared.count(phrase) == 1}


@lru_cache(maxsize=64)
def real_words(notes: BriefNotes) -> frozenset[str]:
    """Return the ordinary words that occur in the column meanings and the knowledge entries."""
    texts = [*notes.columns.values(), *notes.knowledge.values()]
    found = {word.lower() for text in texts for word in _PROSE.findall(text)}
    return frozenset(found - {name for name in notes.columns if is_identifier(name)})


_PROSE = re.compile(r"(?<![\w'.\"])[A-Za-z][a-z]+(?![\w'.][\w])")


@lru_cache(maxsize=1024)
def entry_meaning(meaning: str, path: tuple[str, ...]) -> str:
    """Return the description of an entry of a JSON column, or an empty string."""
    try:
        found: Any = json.loads(meaning) if meaning.startswith("{") else {}
    except ValueError:
        return ""
    for key in ("fields_meaning", *path):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""
