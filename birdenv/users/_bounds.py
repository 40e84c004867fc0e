"""Find the bound of a figure, and judge the amounts in a question by it: numbers, dates and times of day."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import ge, gt, le, lt
from typing import Any

from birdenv.users._brief import Brief
from birdenv.users._facts import Ends, Facts, Value, facts_of
from birdenv.users.understanding import Choice
from birdenv.users.understanding._choice import choice_of
from birdenv.users.understanding._gold_parts import bare_text
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._question import Question

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {">": gt, ">=": ge, "<": lt, "<=": le}


def yes_or_no(agrees: bool) -> str:
    """Return the verdict on a proposal that the SQL decides."""
    return "Yes" if agrees else "No"


def as_in(facts: Facts, value: Value, is_percentage: bool) -> Value:
    """Return an amount as the snippet writes it: a percentage may be a fraction."""
    if not is_percentage or value in facts.amounts or isinstance(value, str):
        return value
    fractions = [one for one in facts.amounts if not isinstance(one, str) and 0 < one < 1]
    return value / 100 if fractions or value / 100 in facts.amounts else value


def _shape(value: Value) -> str:
    """Return what two values must have in common to be compared: the pattern of digits, or being numbers."""
    return re.sub(r"\d", "0", value) if isinstance(value, str) else "number"


def _are_comparable(ends: Ends, value: Value) -> bool:
    return all(_shape(end) == _shape(value) for _, end in ends)


def of_value(value: Value, sign: str, facts: Facts, keeps: bool | None) -> str:
    """Answer whether a value, or all values on one side of it, is in; and whether a bound itself is.

    Args:
        value: the value in the question.
        sign: the sign of the side, such as ">="; empty for the value alone.
        facts: the facts in the point's SQL.
        keeps: whether the question proposes that the value is in, or None if it does not.
    """
    ranges = facts.ranges
    if len(ranges) != 1 or not _are_comparable(ranges[0], value):
        return ""
    (ends,) = ranges
    is_in = _includes(ends, value, sign)
    itself = ""
    if any(end == value for _, end in ends):
        itself = f"{value} itself is {'' if _includes(ends, value) else 'not '}included"
    if keeps is None or facts.leave_open(is_in):
        return itself
    if is_in is None or (sign and keeps == is_in and not itself):
        return ""
    return ". ".join(filter(None, [yes_or_no(keeps == is_in), itself]))


def _includes(ends: Ends, value: Value, sign: str = "") -> bool | None:
    """Return whether a value, or all values on one side of it, is in a range; None if only some are."""
    point = (value, {">": 1, "<": -1}.get(sign, 0))  # just above or below the value
    near = all(_COMPARE[one](point, (end, 0)) for one, end in ends)
    far = all(one[0] == sign[0] for one, _ in ends) if sign else near
    return near if near == far and (not sign or len(ends) == 1) else None


def of_bound(values: Sequence[Value], sign: str, facts: Facts) -> str:
    """Judge a proposal of amounts, or of a bound, as what a point means."""
    ends = [end for ends in facts.ranges for end in ends]
    bounds = {end for _, end in ends} or facts.amounts
    if (sign and not ends) or not {*map(_shape, values)} <= {*map(_shape, bounds)}:
        return ""  # "six in the evening" is no time of day
    if not facts.amounts.intersection(values) <= bounds:
        return ""  # in "minutes divided by 60", 60 is no bound
    if not sign and len(values) < len({end for _, end in ends}):
        return ""  # one end of a range
    if bounds.issuperset(values):
        if facts.joins and (facts.values or len(ends) < 2 or not facts.amounts <= set(values)):
            return ""  # one condition of several
        signs = {one for one, end in ends if end in values}
        return "Yes" if not sign or sign in signs else "No" if signs else ""
    if not bounds.isdisjoint(values):
        return ""  # "is the 3 replacing the 4?"
    pairs = ((one, value) for one in facts.ranges for value in values if _are_comparable(one, value))
    if not sign and any(_includes(*pair) for pair in pairs):
        return ""  # 45 is not the bound, but it is in
    numbers = [value for value in values if not isinstance(value, str)]
    near = [
        one for one, end in ends for value in numbers if not isinstance(end, str) if abs(end - value) == 1
    ]
    return "" if sign and any(one != sign for one in near) else "No"  # "more than 39" may be "at least 40"


def bound_of(asked: Question, choice: Choice, brief: Brief) -> Choice:
    """Return the point that compares a figure, if a question asks for its bound ("above what?").

    If several points compare the figure, the first annotated one counts. If no point compares it, the result
    is the choice itself.
    """
    if asked.said.found & {"bound", "computed"} != {"bound"} or len(choice.granted()) != 1:
        return choice
    (sql,) = choice.granted()
    own = {choice.target.lower(), facts_of(sql).alias, bare_text(sql)}
    found = [
        one
        for one in index_of(brief).candidates
        if len(one.sql) == 1 and not own.isdisjoint(facts_of(*one.sql).bounded)
    ]
    labelled = [one for one in found if one.items] or found
    return choice_of(labelled[0]) if labelled else choice
