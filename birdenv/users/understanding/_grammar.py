"""Recognise English questions: where their clauses begin, and how they refer to one another."""

from __future__ import annotations

import re

_FILLERS = (
    r"(?:(?:and|&|also|but|so|then|next|finally|lastly|additionally|furthermore|secondly|firstly|first|second"
    r"|third|another|one more|question|ok|okay|hi|hello|thanks|please|kindly|plus|besides|just|moreover|last)"
    r"[\s,:-]+){0,4}"
)
_ASKING_WORD = (
    r"(?:(?:in|by|to|from|at|for|on|above|below|over|under|of|with|within|until|since|after|before|between"
    r"|compared to) (?!which case))?(?:what|which|how|when|who|whom|whose|where|whether|why)\b"
)
_VERB = (
    r"(?:is|are|was|were|do|does|did|should|shall|can|could|may|might|must|will|would|has|have|had)(?:n't)?\b"
)
_PERSON = "(?:you|i|we)"
_PRONOUN = "(?:it|this|that|these|those|they|such|either)"
_SUBJECT = rf"(?:{_PERSON}|{_PRONOUN}|the|an?|there|each|every|all|any|only|my|your)\b"

_BEGINS = re.compile(rf"(?i){_FILLERS}(?!(?:when|what) (?:{_PERSON}|it)\b)(?:{_ASKING_WORD}|{_VERB})")
_REQUESTS = re.compile(
    rf"(?i){_FILLERS}(?:(?:can|could|would|will) you )?(?:please )?(?:also )?(?:clarify|confirm|specify"
    r"|explain|define|tell me|let me know|describe|advise|give me|print|show me|list|write|provide)\b"
    rf"|{_FILLERS}i(?:'d| would|'m| am)? (?:also |still |further )?(?:wonder(?:ing)?|need to know"
    r"|want to know|like to know|unsure|not sure|not clear|unclear)\b"
)
_EMBEDS = re.compile(
    r"(?i)\b(?:(?:need|want|like|have) to know|(?:don't|not) know|tell me|let me know|unsure|not sure"
    rf"|not clear|unclear|wonder(?:ing)?) (?:{_ASKING_WORD}|if\b)"
    rf"|\b(?:do|did|would|should|shall|can) {_PERSON}\b"
)
_NEXT = re.compile(
    rf"(?i), (?=(?:and|or|but|plus) (?:also |then )?(?:{_ASKING_WORD}|if\b|{_VERB}))"
    rf"|,? (?=(?:and|or|but|plus|&) (?:also |then |if so,? |that is,? ){{0,2}}"
    rf"(?:{_ASKING_WORD}|(?:if|do|does|did|i|tell|please)\b|{_VERB} {_SUBJECT}))"
    rf"|[,;:] (?=(?:then |if so,? |that is,? )?(?:{_ASKING_WORD}|if\b|{_VERB} {_SUBJECT}))"
)

ADDED = re.compile(r"(?i)(?:and|plus|but|also|then|finally)\b|&")
"""Begins a clause or a sentence that is added to another one."""

SUBORDINATE = re.compile(
    r"(?i)(?:and |but |so |or )?(?:if|while|since|as|because|in case|once"
    rf"|(?:when|where)(?! {_VERB}| exactly))\b"
)
"""Begins a clause that is no question, such as "if a trip has no rating"."""

GOES_ON = re.compile(
    r"(?i)(?:and |but |so )?(?:or|for example|for instance|that is|such as|specifically|in particular|namely"
    r"|like|if (?:so|not|yes|the latter|the former|possible|any|needed)|if (?:it|there)\b.*,"
    r"|in other words|meaning|otherwise|perhaps|maybe|right|correct|just (?:tell|give|show|say))(?!\w)"
)
"""Begins a clause or a sentence that only continues a question ("Or is it ..?")."""

REFERS = re.compile(
    rf"(?i)^(?:and )?{_ASKING_WORD} {_PRONOUN}\b|\b{_VERB} {_PRONOUN}\b(?! (?:take|matter))"
    r"|(?<!on )\b(?:its|their)\b|\belse\b|\bof (?:it|them|these|those)\b"
    r"|\b(?:it|this|that|these|those|them|each|so|same)\W*$"
)
"""Occurs in a question about something said earlier ("How is it computed?")."""


def begins_as_question(text: str) -> bool:
    """Return True if a text begins like a question, or asks to clarify something."""
    return bool(_BEGINS.match(text) or _REQUESTS.match(text) or _EMBEDS.search(text))


def clauses_of(sentence: str) -> list[str]:
    """Split a sentence before the clauses that may be questions of their own.

    >>> clauses_of("When does late begin, and what is a premium trip?")
    ['When does late begin', 'and what is a premium trip?']
    """
    starts = [0, *(one.end() for one in _NEXT.finditer(sentence))]
    ends = [*starts[1:], len(sentence)]
    return [sentence[start:end].strip(" ,;") for start, end in zip(starts, ends, strict=True)]


_HAS_VERB = re.compile(rf"(?i)\b(?:{_VERB}|counts?\b|means?\b|how to\b|what to\b)")


def is_elliptical(clause: str) -> bool:
    """Return True if a clause such as "and in what direction?" needs the words of another one."""
    return len(clause.split()) < _SHORTEST and _HAS_VERB.search(clause) is None


_SHORTEST = 5
