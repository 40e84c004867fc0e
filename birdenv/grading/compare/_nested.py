"""Values that are nested deeper than Python can follow: an answer at the door, too.

Inside, the graders see the `RecursionError`, because their verdict is an error of the prediction's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from birdenv.grading.compare._multiset import Comparison

_P = ParamSpec("_P")
_T = TypeVar("_T")

NESTED_TOO_DEEPLY: Final = "its values are nested too deeply to be compared"
DIFFERENT: Final = Comparison(False, NESTED_TOO_DEEPLY)


def bounded(compare: Callable[_P, _T], too_deep: _T) -> Callable[_P, _T]:
    """Return the function with an answer for values that it cannot follow."""

    @wraps(compare)
    def answer(*args: _P.args, **named: _P.kwargs) -> _T:
        try:
            return compare(*args, **named)
        except RecursionError:
            return too_deep

    return answer
