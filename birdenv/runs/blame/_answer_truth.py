"""Check whether a user's answer agrees with the SQL that it describes, by comparing values and operators."""

from __future__ import annotations

import calendar
import re
from typing import Final

_DATE: Final = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?:[ T]00:00(?::00)?)?")
_DAY_OR_YEAR: Final = re.compile(r"(?<!\d)\d+(?=\D|$)")
_MONTHS: Final = [name.lower() for name in calendar.month_abbr]
_MONTH: Final = re.compile(
    rf"\b({'|'.join([*(name.lower() for name in calendar.month_name[1:]), *_MONTHS[1:], 'sept'])})\b"
)
_TO_THE_END: Final = re.compile(r"\b(?:end of|or earlier|up to|until|through|no later than|at the latest)\b")
_FROM_THE_END: Final = re.compile(r"\b(?:after|later than)\b")


def says_date(said: str, date: str) -> bool:
    """Return whether the text names a date.

    The text does not need to state the day if the date is the first day of a month or year, or if it is the
    last day and the text mentions an end. `up to 2021` and `after 2021` also name the first day of 2022.

    Args:
        said: the text, in lower case.
        date: the date, such as 2024-06-01.

    >>> says_date("since june 1st, 2024", "2024-06-01"), says_date("before 2022", "2022-01-01")
    (True, True)
    >>> says_date("since july 2024", "2024-06-01"), says_date("since 2024", "2024-06-01")
    (False, False)
    """
    found = _DATE.fullmatch(date)
    if found is None:
        return False
    year, month, day = int(found[1]), int(found[2]), int(found[3] or 1)
    numbers = {int(each) for each in _DAY_OR_YEAR.findall(said)}
    months = {_MONTHS.index(name[:3]) for name in _MONTH.findall(said)}
    if year not in numbers:
        is_year_end = (month, day) == (1, 1) and year - 1 in numbers and not months
        return is_year_end and bool(_TO_THE_END.search(said) or _FROM_THE_END.search(said))
    is_whole_year = not months and not numbers - {year}
    if (month, day) == (1, 1) and is_whole_year:
        return True
    if (month, day) == (12, 31) and is_whole_year:
        return _TO_THE_END.search(said) is not None
    if not (month in months or (not months and month in numbers)):
        return False
    is_end = day >= 28 and _TO_THE_END.search(said) is not None
    return day in numbers or day == 1 or is_end


_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)")
_ANY_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
_STRING = re.compile(r"'((?:[^']|'')*)'")
_SAID_BY_THE_WAY: Final = frozenset({0.0, 1.0, 100.0})  # 1.0 * x, NULLIF(x, 0), per cent
_FACTOR = re.compile(r"(?<=[*/])\s*\d+(?:\.\d+)?(?![\w.])|(?<![\w.])\d+(?:\.\d+)?\s*(?=[*/])")
_OF_UNITS: Final = frozenset({7.0, 12.0, 24.0, 60.0, 365.0, 365.25, 1000.0, 1024.0, 1440.0, 3600.0, 86400.0})
_NUMBERS: Final = dict(
    zip(
        "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy "
        "eighty ninety".split(),
        (*range(2, 13), *range(20, 100, 10)),
        strict=True,
    )
)
_UP = re.compile(r"\b(more|above|over|greater|at least|minimum|higher|exceed\w*|larger|after|longer)\b")
_DOWN = re.compile(r"\b(less|below|under|at most|maximum|lower|fewer|smaller|before|up to|shorter)\b")
_NOT_UP = re.compile(
    r"\b(?:no|not) (?:more|greater|higher|larger|longer) than\b|\bnot (?:above|over|exceed\w*)\b"
)
_NOT_DOWN = re.compile(r"\b(?:no|not) (?:less|fewer|lower|smaller|shorter) than\b|\bnot (?:below|under)\b")

_IS_KNOWN = re.compile(r"(?i)\bIS\s+NOT\s+NULL\b")
_CASES = re.compile(r"(?i)\bWHEN\b.*\bWHEN\b")
_UNEQUAL = re.compile(r"(?i)<>|!=|\bNOT\b")
_COMPARED = re.compile(r"(?i)[<>=!]+|\b(?:IN|LIKE)\b")
_BUT: Final = r"\b(?:all but|except|excluding|other than|apart from|neither|not(?! only| just))"
_NEGATION = re.compile(
    r"n't\b|\b(?:not?|never|neither|nor|none|without|except\w*|exclu\w*|other|others|otherwise|apart|but|besides|"
    r"differ\w*|ignor\w*|unless|leav\w*|skip\w*|omit\w*|drop\w*|non|un\w+|rest|remaining|aside)\b"
)

_DENIED: Final = re.compile(
    r"(?:\bnot|n't|\brather than|\binstead of)\b(?:\s+(?!at\b)[a-z]+){0,2}\s+(?:'[^']*'|[\w.]*\w)"
)
"""Values that an answer rejects."""

_BOUND = re.compile(r"[<>]=?|<>")
_TAKES_IN = re.compile(r"\b(at least|at most|minimum|maximum|up to|or (?:more|less|fewer|later|earlier))\b")
_LEAVES_OUT = re.compile(
    r"\b(more than|above|over|greater than|exceed\w*|less than|below|under|fewer than)\b"
)


def is_true(words: str, snippet: str) -> bool:
    """Return whether an answer states every value in an SQL snippet without reversing the comparison.

    Conversion factors, such as the 60 in `minutes / 60`, may be omitted.

    Args:
        words: the text of the answer.
        snippet: the SQL snippet that the answer describes.

    >>> is_true("With at least 40 seats.", "b.seats >= 40"), is_true("With at least 50.", "b.seats >= 40")
    (True, False)
    >>> is_true("With 40 seats at most.", "b.seats >= 40")
    False
    """
    said = words.casefold()
    numbers = _numbers_said(said)
    for text in _STRING.findall(snippet):
        parts = [part for part in re.split(r"[^\w]+", text.casefold()) if part]
        if not all(part in said for part in parts) and not says_date(said, text):
            return False
    if _is_negated_otherwise(said, snippet):
        return False
    bare = _STRING.sub(" ", snippet)
    compared = _FACTOR.sub(lambda found: " " if float(found[0]) in _OF_UNITS else found[0], bare)
    wanted = {float(each) for each in _NUMBER.findall(compared)} - _SAID_BY_THE_WAY
    spoken = numbers | {round(number / 100, 10) for number in numbers}  # 50 percent is 0.5
    if not wanted <= spoken | {round(number * 100, 10) for number in numbers}:
        return False
    return not _is_turned_round(said, bare)


def says_another_value(words: str, snippet: str, submission: str, gold: str) -> bool:
    """Return whether an answer contains a value that is in the submitted SQL but not in the gold SQL.

    String values count only if the answer also contains the snippet's string values, because the user might
    otherwise have worded the values differently from the database.

    Args:
        words: the text of the answer.
        snippet: the snippet of the gold SQL that the answer describes.
        submission: the submitted SQL.
        gold: the gold SQL.

    >>> gold, wrong = "SELECT 1 WHERE seats >= 40", "SELECT 1 WHERE seats >= 50"
    >>> says_another_value("At least 40 seats, or 50.", "seats >= 40", wrong, gold)
    True
    >>> says_another_value("At least 40 seats, not 50.", "seats >= 40", wrong, gold)
    False
    """
    said = _DENIED.sub(" ", _NOT_DOWN.sub("at least", _NOT_UP.sub("at most", words.casefold())))
    known = _numbers_of(gold) | _SAID_BY_THE_WAY
    known |= {round(factor * number, 10) for number in known for factor in (0.01, 100)}
    if (_numbers_of(submission) - known) & _numbers_said(said):
        return True
    own, others = (
        {text.casefold() for text in _STRING.findall(sql) if len(text) > 1} for sql in (snippet, submission)
    )
    if not own or not all(_stands_in(text, said) for text in own):
        return False
    return any(_stands_in(text, said) for text in others if text not in gold.casefold())


def _numbers_said(said: str) -> set[float]:
    numbers = {float(each) for each in _NUMBER.findall(said.replace(",", ""))}
    return numbers | {float(_NUMBERS[word]) for word in re.findall(r"[a-z]+", said) if word in _NUMBERS}


def _numbers_of(sql: str) -> set[float]:
    """Return all numbers in SQL, including those inside strings, such as dates."""
    return {float(each) for each in _ANY_NUMBER.findall(sql)}


def _stands_in(text: str, said: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said) is not None


def _is_negated_otherwise(said: str, snippet: str) -> bool:
    """Return whether the words exclude values that the snippet selects, or select values that it excludes."""
    values = "|".join(re.escape(text.casefold()) for text in _STRING.findall(snippet) if text)
    bare = _STRING.sub(" ", _IS_KNOWN.sub(" ", snippet))
    unequal = len(_UNEQUAL.findall(bare))
    if not values or _CASES.search(bare):
        return False
    if unequal == 0:
        return re.search(rf"{_BUT}(?:[\s'\"]+\w+)?[\s'\"]+(?:{values})\b", said) is not None
    return unequal == len(_COMPARED.findall(bare)) and not _NEGATION.search(said)


def _is_turned_round(said: str, snippet: str) -> bool:
    said = _NOT_DOWN.sub("at least", _NOT_UP.sub("at most", said))
    up, down = ">" in snippet.replace("<>", ""), "<" in snippet.replace("<>", "")
    if up == down:
        return False
    says_up, says_down = bool(_UP.search(said)), bool(_DOWN.search(said))
    return (up and says_down and not says_up) or (down and says_up and not says_down)


def is_exact(words: str, snippet: str) -> bool:
    """Return whether an answer matches an SQL snippet exactly, distinguishing `>` from `>=`.

    >>> is_exact("More than 40 seats.", "b.seats > 40"), is_exact("More than 40 seats.", "b.seats >= 40")
    (True, False)
    """
    said = _NOT_DOWN.sub("at least", _NOT_UP.sub("at most", words.casefold()))
    bounds = {each for each in _BOUND.findall(_STRING.sub(" ", snippet)) if each != "<>"}
    leaves_out, takes_in = bool(_LEAVES_OUT.search(said)), bool(_TAKES_IN.search(said))
    if len(bounds) == 1 and leaves_out != takes_in and leaves_out == ("=" in bounds.pop()):
        return False
    return is_true(words, snippet)
