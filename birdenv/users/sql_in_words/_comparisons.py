"""Read comparisons: how an amount, a date or a category is set against another one, as people say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from birdenv.users.sql_in_words._keywords import (
    ATOM,
    CHAIN,
    COMPARISONS,
    LOOSE,
    NEGATED,
    Phrase,
    enumerate_words,
    side,
)

if TYPE_CHECKING:
    from birdenv.users.sql_in_words._reader import Reader

MISSING = "is empty (has no value)"
PRESENT = "has a value (is not empty)"
_AMOUNTS = {">": "more than", "<": "fewer than", ">=": "at least", "<=": "at most"}
_DATES = {">": "is after", "<": "is before", ">=": "is on or after", "<=": "is on or before"}
_TIMES = {**_DATES, ">=": "is at or after", "<=": "is at or before"}
_CONSTANTS = {"=": "is", "==": "is", "<>": "is not", "!=": "is not"}


def comparison(reader: Reader) -> Phrase:
    """Operands joined by comparisons, up to the next AND or OR."""
    first = reader.arithmetic()
    parts: list[str] = []
    while not reader.stopped() and reader.key() not in ("AND", "OR"):
        sign = reader.key()
        words = _comparator(reader)
        if not words:
            break
        parts.append(words)
        if words.endswith("one of"):
            parts[-1] = _members(reader, first.text, words)
        elif words.endswith("between"):
            low = reader.arithmetic()
            parts.append(side(low))
            if reader.take("AND"):
                high = reader.arithmetic()
                if first.counted and words == "is between" and low.literal == high.literal == "number":
                    return _amount(first, f"between {low.text} and {high.text}")
                parts += ["and", side(high)]
        elif words not in (reader.wording.say(MISSING), reader.wording.say(PRESENT)):
            operand = reader.arithmetic()
            if first.counted and len(parts) == 1 and operand.literal == "number" and sign in _AMOUNTS:
                return _amount(first, f"{_AMOUNTS[sign]} {operand.text}")
            parts[-1] = _fitting(sign, operand, words)
            parts.append(side(operand))
    if not parts:
        return first
    subject = side(first) or "it"
    if parts == ["equals", subject] and subject.startswith("the ") and first.bond == ATOM:
        parts = ["is the same"]
    elif not parts[-1]:
        parts[-1] = "something"
    return Phrase(" ".join([subject, *parts]), CHAIN, True)


def _amount(what: Phrase, amount: str) -> Phrase:
    return Phrase(f"there are {what.counted.format(amount)}", CHAIN, True)


def _fitting(sign: str, operand: Phrase, words: str) -> str:
    """The words of a comparison with this operand."""
    if operand.literal == "date":
        return _DATES.get(sign) or _CONSTANTS.get(sign, words)
    if operand.literal == "time":
        return _TIMES.get(sign) or _CONSTANTS.get(sign, words)
    return _CONSTANTS.get(sign, words) if operand.literal else words


def _comparator(reader: Reader) -> str:
    key = reader.key()
    if key == "IS":
        reader.at += 1
        negated = reader.take("NOT")
        if reader.take("NULL"):
            return reader.wording.say(PRESENT if negated else MISSING)
        if reader.take("DISTINCT"):
            reader.at += reader.key() == "FROM"
            return "is not different from" if negated else "is different from"
        return "is not" if negated else "is"
    if key in ("ISNULL", "NOTNULL"):
        reader.at += 1
        return reader.wording.say(MISSING if key == "ISNULL" else PRESENT)
    if key == "NOT" and reader.key(1) in NEGATED:
        reader.at += 2
        return reader.wording.say(NEGATED[reader.key(-1)])
    if key == "ESCAPE":
        reader.at += 1
        return "with the escape sign"
    if key in COMPARISONS and key != "MATCH":
        reader.at += 1
        reader.at += key == "SIMILAR" and reader.key() == "TO"
        return reader.wording.say(COMPARISONS[key])
    return ""


def _members(reader: Reader, subject: str, words: str) -> str:
    """IN and the bracket after it: a list or a subquery."""
    if reader.key() != "(" or reader.key(1) in ("SELECT", "WITH"):
        inside = reader.arithmetic().text
        lead = words.replace("one of", "among")
        if inside == f"({subject})":
            return f"{lead} those worked out before"
        if inside.startswith((f"({subject} where ", f"({subject} of the ")):
            return f"{lead} those{inside[len(subject) + 1 : -1]}"
        if inside.startswith(f"({subject}; "):
            return f"{lead} those ({inside[len(subject) + 3 :]}"
        return f"{lead} {inside}"
    reader.at += 1
    members = [phrase.inside(LOOSE) for phrase in reader.listed()]
    lead = words.replace("one of", "either") if len(members) == 2 and words == "is one of" else words
    return f"{lead} {enumerate_words(members, 'or')}"
