"""Whether words say a date of SQL, as people say dates."""

from __future__ import annotations

import calendar
import re
from typing import Final

_DATE: Final = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?:[ T]00:00(?::00)?)?")
_NUMBER: Final = re.compile(r"(?<!\d)\d+(?=\D|$)")
_MONTHS: Final = [name.lower() for name in calendar.month_abbr]
_MONTH: Final = re.compile(
    rf"\b({'|'.join([*(name.lower() for name in calendar.month_name[1:]), *_MONTHS[1:], 'sept'])})\b"
)
_TO_THE_END: Final = re.compile(r"\b(?:end of|or earlier|up to|until|through|no later than|at the latest)\b")
_FROM_THE_END: Final = re.compile(r"\b(?:after|later than)\b")


def says_date(said: str, date: str) -> bool:
    """Return whether words in lower case say a date.

    The first day of a month or a year may be left unsaid, the last one if its end is named. `up to 2021` and
    `after 2021` name the first day of 2022.

    >>> says_date("since june 1st, 2024", "2024-06-01"), says_date("before 2022", "2022-01-01")
    (True, True)
    >>> says_date("since july 2024", "2024-06-01"), says_date("since 2024", "2024-06-01")
    (False, False)
    """
    found = _DATE.fullmatch(date)
    if found is None:
        return False
    year, month, day = int(found[1]), int(found[2]), int(found[3] or 1)
    numbers = {int(each) for each in _NUMBER.findall(said)}
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
