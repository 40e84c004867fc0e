"""Recognise English questions: where their clauses begin, and how they refer to one another."""

from __future__ import annotations

import re

_FILLERS = r"(?:(?:and|&|also|but|so|then|next|first|second|third|finally|ok|okay|hi|please)[\s,:-]+){0,4}"
_ASKING_WORD = (
    r"(?:(?:in|by|(?:up )?to|from|at|for|on|above|below|over|under|of|with|within|until|since|after|before"
    r"|between) (?!which case))?(?:what|which|how|when|who|whom|whose|where|whether|why)\b"
)
_VERB = r"(?:is|are|was|were|do|does|did|should|shall|can|could|may|must|will|would|has|have)(?:n't)?\b"
_PERSON, _PRONOUN = "(?:you|i|we)", "(?:it|this|that|these|those|they|such|either)"
_SUBJECT = rf"(?:{_PERSON}|{_PRONOUN}|the|an?|there|each|every|all|any|only|my|your)\b"
_REQUEST = r"(?:clarify|confirm|specify|explain|define|describe|tell|let me know|give|show|print|list|write)"
_UNSURE = r"(?:(?:to|don't|not) know|tell me|let me know|unsure|not sure|not clear|unclear|wonder(?:ing)?)"

_ASKS = re.compile(
    rf"(?i)^{_FILLERS}(?:(?!(?:when|what) (?:{_PERSON}|it)\b)(?:{_ASKING_WORD}|{_VERB})|{_REQUEST}\b"
    rf"|i(?:'m| am)? (?:also |still )?{_UNSURE}\b)"
    rf"|\b(?:{_UNSURE} (?:{_ASKING_WORD}|if\b)|(?:do|did|would|should|shall|can) {_PERSON}\b)"
)
_NEXT = re.compile(
    r"(?i)(?:, |; |: | (?=(?:and|or|but|plus|&) ))(?=(?:and |or |but |plus |& )?(?:also |then |if so,? ){0,2}"
    rf"(?:(?!in (?:which|what) direction\b){_ASKING_WORD}|if\b|{_VERB} {_SUBJECT}|(?<=, and ){_VERB}"
    r"|(?<=and )(?:does|tell|please)\b))"
)

ADDED = re.compile(r"(?i)(?:and|plus|but|also|then|finally|second(?:ly)?|third(?:ly)?|lastly)\b|&")
"""Begins a clause or a sentence that is added to another one."""

SUBORDINATE = re.compile(
    rf"(?i)(?:(?:and|but|so|or) )?(?:if|while|since|as|because|in case|once|(?:when|where)(?! {_VERB}))\b"
)
"""Begins a clause that is no question, such as "if a trip has no rating"."""

GOES_ON = re.compile(
    r"(?i)(?:(?:and|but|so) )?(?:or|for (?:example|instance)|that is|such as|specifically|namely|like"
    r"|if (?:so|not|yes|the latter)|meaning|otherwise|perhaps|maybe|right|correct)\b"
)
"""Begins a clause or a sentence that only continues a question ("Or is it ..?")."""

REFERS = re.compile(
    rf"(?i)\b(?:{_ASKING_WORD}|{_VERB}) {_PRONOUN}\b(?! (?:take|matter))|(?<!on )\b(?:its|their|else)\b"
    r"|\bthe (?:bound|cut-?off|edge|limit|line|threshold)s?\b|\bof (?:it|them|these|those)\b"
    r"|\b(?:it|this|that|these|those|them|each|so|same|only)\W*$"
)
"""Occurs in a question about something said earlier ("How is it computed?")."""

VERB = rf"\b(?:{_VERB}|counts?\b|means?\b|how to\b|what to\b)"
HAS_VERB = re.compile(f"(?i){VERB}")
"""Occurs in a clause that does not need the words of another one, unlike "and in what direction?"."""


def begins_as_question(text: str) -> bool:
    """Return True if a text begins like a question, or asks to clarify something."""
    return _ASKS.search(text) is not None


def clauses_of(sentence: str) -> list[str]:
    """Split a sentence before the clauses that may be questions of their own.

    >>> clauses_of("When does late begin, and what is a premium trip?")
    ['When does late begin', 'and what is a premium trip?']
    """
    starts = [0, *(one.end() for one in _NEXT.finditer(sentence))]
    ends = [*starts[1:], len(sentence)]
    return [sentence[start:end].strip(" ,;") for start, end in zip(starts, ends, strict=True)]
