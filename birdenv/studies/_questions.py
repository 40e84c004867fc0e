"""Which questions can be asked on a page: their names are the names of its fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from birdenv.dialogue.games import SurveyQuestion

_OWN_FIELDS: Final = frozenset({"form", "item", "try", "winner", "justification"})
"""Fields that pages have beside the questions'."""

_LARGEST_SCALE: Final = 100
_ABOUT: Final = ("partner", "self", "dialogue")


def check_questions(questions: Iterable[SurveyQuestion]) -> None:
    """Refuse questions that a page cannot ask.

    Raises:
        ValueError: a name is one of the page's own or comes twice, or a scale has one step or too many, or a
            question is about nothing known.
    """
    seen: set[str] = set()
    for each in questions:
        if each.name in _OWN_FIELDS:
            raise ValueError(f"{each.name!r} cannot be a name: the page has a field of that name")
        if each.name in seen:
            raise ValueError(f"two questions have the name {each.name!r}")
        if each.scale != 0 and not 2 <= each.scale <= _LARGEST_SCALE:
            raise ValueError(f"{each.name}: the scale is {each.scale}, not 0 (text) or 2 to {_LARGEST_SCALE}")
        if each.about not in _ABOUT:
            raise ValueError(f"{each.name}: about is {each.about!r}, not one of {', '.join(_ABOUT)}")
        seen.add(each.name)
