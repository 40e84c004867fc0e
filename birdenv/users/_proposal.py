"""Whether a proposal ("Does high mean above 0.35?") fits a snippet: yes, no, or not said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Literal, TypeAlias

from birdenv.users.sql_in_words import Token, split_words, tokenize
from birdenv.users.understanding import Choice
from birdenv.users.understanding._left_open import SAID
from birdenv.users.understanding._question import Question, take_apart
from birdenv.users.understanding.vocabulary._word_forms import (
    GENERIC_STEMS,
    clean,
    content_words,
    stem,
    words,
)

Verdict: TypeAlias = Literal["Yes", "No", ""]

_PROPOSAL = re.compile(
    r"^(?:(?:so|ok|okay|and|but|then|yes|no|hence|thus|just|only|meaning|ah|well)\W+)*"
    r"(?:is|are|was|were|do|does|did|should|shall|can|could|will|would"
    r"|must|has|have|may|you said|you mean|i take)\b"
    r"|^so\b"
)
_APPROVAL = re.compile(
    r"\b(?:right|correct|ok|okay|yes|true|agreed|enough|sufficient|complete|that's (?:it|all)|isn't it)\W*$"
)
_CHOICE = re.compile(
    r"\bor\b(?! (?:more|less|fewer|above|below|later|earlier|higher|lower|over|under|not)\b)"
)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?=\s*(%|percent\b)?)")
_SPELT = {
    word: str(number)
    for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)
}
_SPELT_OUT = re.compile(r"\b(" + "|".join(_SPELT) + r")\b(?! (?:of|row|line|more|another)\b)")
_BOUNDS = (
    (">=", re.compile(r"\bat least\b|\bor (?:more|above|higher|later|over)\b|\bminimum\b|\bno less than\b")),
    ("<=", re.compile(r"\bat most\b|\bor (?:less|fewer|below|lower|earlier)\b|\bmaximum\b|\bup to\b")),
    (">", re.compile(r"\b(?:more|greater|higher|larger|longer) than\b|\babove\b|\bover\b|\bexceed\w*\b")),
    ("<", re.compile(r"\b(?:less|fewer|lower|smaller|shorter) than\b|\bbelow\b|\bunder\b")),
)
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_COLUMNS = re.compile(r"\b(\d+|" + "|".join(_SPELT) + r") (?:\w+ )?(?:columns|fields)\b")
_APPROVING = frozenset(
    map(stem, "right correct ok okay yes true agreed enough sufficient complete it all".split())
)
"""The last words of texts that `_APPROVAL` fits: cheaper to look at than to try the pattern everywhere."""

_COMPARES = frozenset({">", "<", ">=", "<="})


def agreed(question: str | Question, choice: Choice) -> Verdict:
    """Say yes or no to what a question proposes, by the choice that answers it.

    To what the request itself says, "yes" if it has all the telling words of the question.
    """
    if not choice.tells:
        return ""
    if not choice.answer:
        return verdict(question, choice.granted(), choice.parts[0].clause if len(choice.parts) == 1 else "")
    if not choice.answer.startswith(SAID):
        return ""
    asked = take_apart(question) if isinstance(question, str) else question
    if not _proposes(asked):
        return ""
    told = set(map(stem, words(clean(choice.answer))))
    said = set(map(stem, content_words(words(asked.text)))) - GENERIC_STEMS
    return "Yes" if len(said) > 1 and said <= told else ""


def _proposes(asked: Question) -> bool:
    """Whether a question proposes one thing."""
    text = asked.text
    proposes = asked.confirms or _PROPOSAL.match(text) or _is_approved(asked)
    return bool(proposes) and not _CHOICE.search(text)


def verdict(question: str | Question, snippets: Sequence[str], clause: str = "") -> Verdict:
    """Compare the numbers, bounds, values and names that a question proposes with those of the snippets.

    Args:
        question: the question.
        snippets: the SQL that the answer draws on; more than one is not compared.
        clause: the clause that the SQL is, if it is one.

    >>> verdict("Does roomy mean more than 40 seats?", ["b.seats >= 40"])
    'No'
    >>> verdict("So at least 40 seats?", ["b.seats >= 40"])
    'Yes'
    >>> verdict("So just the name and the index?", ["name, wear_index"], "output")
    'Yes'
    """
    if len(snippets) != 1:
        return ""
    asked = take_apart(question) if isinstance(question, str) else question
    text = asked.text
    if not _proposes(asked):
        return ""
    if clause in _LISTS:
        return _names(text, snippets[0], all_of_them=clause == "output")
    tokens = _tokens(snippets[0])
    if dates := set(_DATE.findall(text)):
        real_dates = {
            token.text for token in tokens if token.kind == "string" and _DATE.fullmatch(token.text)
        }
        return ("Yes" if dates <= real_dates else "No") if real_dates else ""
    proposed = _numbers(text)
    if proposed:
        real = {Decimal(token.text) for token in tokens if _is_number(token)}
        if not all(number in real or (percent and number / 100 in real) for number, percent in proposed):
            return "No" if real else ""
        return "No" if _other_bound(text, tokens) else "Yes"
    return _values(text, tokens)


def _is_approved(asked: Question) -> bool:
    """Whether a question asks for approval at its end."""
    return not _APPROVING.isdisjoint(asked.stems[-1:]) and _APPROVAL.search(asked.text) is not None


_LISTS = frozenset({"output", "group"})


@lru_cache(maxsize=4096)
def _tokens(snippet: str) -> tuple[Token, ...]:
    return tuple(tokenize(snippet))


def _names(text: str, listed: str, all_of_them: bool) -> Verdict:
    """A proposal of columns or of what there is a row for: yes, if it names them; no, if it names none."""
    said = set(map(stem, words(text)))
    names = [set(map(stem, split_words(name).split())) for name in listed.split(",")]
    named = [bool(one & said) for one in names]
    if all_of_them and any(named) and (count := _COLUMNS.search(text)):
        return "Yes" if _SPELT.get(count[1], count[1]) == str(len(names)) else "No"
    if all(named) if all_of_them else any(named):
        return "Yes"
    told = set(map(stem, content_words(words(text))))
    return "No" if all_of_them and not any(named) and told - GENERIC_STEMS else ""


def _is_number(token: Token) -> bool:
    return token.kind == "number" and re.fullmatch(r"\d+(\.\d+)?", token.text) is not None


def _numbers(text: str) -> list[tuple[Decimal, bool]]:
    spelt = _SPELT_OUT.sub(lambda match: _SPELT[match[1]], text)
    return [(Decimal(match.group()), bool(match[1])) for match in _NUMBER.finditer(spelt)]


def _other_bound(text: str, tokens: Sequence[Token]) -> bool:
    signs = [token.key for token in tokens if token.key in _COMPARES]
    said = next((sign for sign, pattern in _BOUNDS if pattern.search(text)), "")
    return bool(said) and len(signs) == 1 and signs[0] != said


def _values(text: str, tokens: Sequence[Token]) -> Verdict:
    """A proposal without numbers: yes, if it names every value; no, if it names some of them only."""
    keys = {token.key for token in tokens}
    values = [" ".join(words(clean(token.text))) for token in tokens if token.kind == "string"]
    spaced = f" {' '.join(words(text))} "
    named = [value for value in values if value and f" {value} " in spaced]
    if not named or keys & {"<>", "!=", "NOT", "CASE", "LIKE"} or not keys & {"=", "IN"}:
        return ""
    if len(named) == len(values):
        return "Yes"
    return "No" if re.search(r"\b(?:only|just)\b", text) else ""
