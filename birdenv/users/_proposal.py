"""Judge what a question proposes ("does 40 count?", "so damaged ones are left out?") by the SQL.

The user never says what is false: if a word reverses or widens a proposal, the result is neither yes nor no.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import ge, gt, le, lt
from typing import Any, Literal

from birdenv.users._brief import Brief
from birdenv.users._claims import PART_STEMS, SIGNS, UNIT_STEMS, Claims, claims_of, says
from birdenv.users._clauses import TIMES, is_foreign, known_names, of_clause, schema_stems
from birdenv.users._facts import Ends, Facts, Value, facts_of, stems_of, values_beside
from birdenv.users._formulas import is_same_formula
from birdenv.users.sql_in_words import in_words
from birdenv.users.understanding import Choice
from birdenv.users.understanding._candidate_words import subject_stems
from birdenv.users.understanding._left_open import SAID
from birdenv.users.understanding._phrases import asks_for_output
from birdenv.users.understanding._question import Question, take_apart
from birdenv.users.understanding._word_forms import GENERIC_STEMS, content_words, stem, words

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {">": gt, ">=": ge, "<": lt, "<=": le}


def agreed(asked: Question, choice: Choice, brief: Brief) -> str:
    """Return "Yes", "No" or a short statement such as "They are left out"; empty if nothing decides it.

    If the answer only repeats a sentence from the request, the result is "Yes" if this sentence contains all
    distinctive words in the question, and an empty string otherwise.
    """
    *before, last = _SENTENCE.findall(asked.text) or [""]
    if before and says(before[0], "enquiry") and says(last, "proposal"):
        asked = take_apart(last)  # "How is it computed? Is it the cost divided by the price?"
    said = says(asked.text, "proposal", "choice", "enquiry")
    _, colon, rest = asked.text.rpartition(": ")
    if colon and says(rest, "enquiry"):
        return ""  # "May I ask one thing: how late is late?"
    if "choice" in said or not (asked.confirms or "proposal" in said or " = " in asked.text):
        return "" if said == {"enquiry"} else _judged(asked, choice, brief, is_proposal=False)
    if choice.answer:
        told = set(map(stem, content_words(words(asked.text)))) - GENERIC_STEMS
        repeats = choice.answer.startswith(SAID) and len(told) > 1 and told <= stems_of(choice.answer)
        return "Yes" if repeats else ""
    judged = of_clause(asked.text, choice, brief)
    return _judged(asked, choice, brief, is_proposal=True) if judged is None else judged


def confirmed(asked: Question, told: Choice, brief: Brief) -> str:
    """Return "Yes", "No" or a short statement about a told point; empty if the question asks for neither.

    An example of a statement is "10 itself is included".
    """
    return "" if says(asked.text, "enquiry") else _judged(asked, told, brief, is_proposal=False)


def _judged(asked: Question, choice: Choice, brief: Brief, *, is_proposal: bool) -> str:
    if len(choice.granted()) != 1:
        return ""
    (sql,) = choice.granted()
    facts = facts_of(sql)
    if not (is_proposal or facts.decide_something):
        return ""
    text = in_words(sql, brief).text
    own = stems_of(text)
    terms = stems_of(" ".join(item.term for item in choice.items))
    term = terms - GENERIC_STEMS
    rest = frozenset(word for word in asked.content if not word.isdigit()) - GENERIC_STEMS
    claims = claims_of(asked.text, months=stem("month") in own)
    claims = replace(claims, after=claims.after & rest - _OF_AMOUNTS - subject_stems(brief))
    said, keeps = claims.said, claims.keeps
    if not (is_proposal or said or claims.amounts) or ("stays" in said and brief.changes_rows):
        return ""
    schema = schema_stems(brief.identifiers, brief.notes)
    if "missing" in said and (found := _of_missing(asked, claims, facts, own | terms, schema)) is not None:
        return found
    if claims.amounts and (other := _other_subject(asked, choice, brief, facts, own - term)):
        return "No" if other == "column" and is_proposal and keeps is None and not facts.joins else ""
    # Of "are 9 docks too large?", "too large" sounds like leaving something out.
    is_twofold = "out" in said and any(says(item.term, "out") for item in choice.items)
    is_counted = claims.noun in rest & schema - own - _OF_AMOUNTS
    if said & {"turned", "valued"} or is_twofold or is_counted:
        return ""
    if "choice" in said:
        claims, keeps = replace(claims, said=said - {*SIGNS, "only"}), None
    elif keeps is None and facts.ranges and claims.after & term - own:
        keeps = True  # "so 3 days is late?"
    if is_proposal and keeps is None and is_same_formula(asked.text, text, term | subject_stems(brief)):
        return "Yes"
    is_plain = rest <= PART_STEMS | own
    found = "" if asks_for_output(asked.said) else _of_conditions(asked, said, facts, is_plain=is_plain)
    if not found and _in_one_unit(claims, facts, own):
        found = _of_amounts(claims, facts, keeps, is_proposal=is_proposal, is_plain=is_plain)
    known = term | subject_stems(brief) | _OTHERS
    if not found and facts.beside.isdisjoint(rest):
        others = values_beside(sql, brief.notes.columns)
        found = _of_values(claims, facts, others, keeps, is_proposal=is_proposal, is_all=rest <= own | known)
    return found


def _other_subject(
    asked: Question, choice: Choice, brief: Brief, facts: Facts, own: frozenset[str]
) -> Literal["", "column", "other"]:
    """Return "column" if an amount in a question belongs to another column, or "other" if to something else.

    The result is empty if the amount belongs to the point. A table's name does not count as another column,
    because "fines of at least 5" may mean the amount of each fine. "9 docks" does not mean a difference of
    docks and trips.

    Args:
        asked: the question.
        choice: the point.
        brief: what the user knows.
        facts: the facts in the point's SQL.
        own: the stems of the point's words that are not in its term.
    """
    tables, kept = subject_stems(brief), stems_of(" ".join(name for name, _ in facts.values))
    known = frozenset(name for name in known_names(choice, brief) if not name - TIMES <= kept)
    names = facts.names | own.intersection(asked.content)
    columns = (name for name in known if not (name <= tables or name - TIMES <= tables & facts.names))
    if is_foreign(asked.text, names - tables, frozenset(columns)):
        return "column"
    others = [item for item in brief.ambiguities if item not in choice.items]
    values = " ".join(name for item in others for name, _ in facts_of(item.snippet).values).split()
    terms = stems_of(" ".join(item.term for item in others)) - tables
    told = stems_of(" ".join(item.term for item in choice.items)) | own | GENERIC_STEMS
    operands = [one & own - UNIT_STEMS for one in facts.compared]
    is_elsewhere = (
        is_foreign(asked.text, names, known)
        or not terms.union(values).difference(told).isdisjoint(asked.content)
        or len({one.isdisjoint(asked.content) for one in operands if one}) > 1
    )
    return "other" if is_elsewhere else ""


def _yes(agrees: bool) -> str:
    return "Yes" if agrees else "No"


def _of_missing(
    asked: Question, claims: Claims, facts: Facts, own: frozenset[str], schema: frozenset[str]
) -> str | None:
    """Judge whether entries without a value are in or out, or count as a number; None if nothing is missing.

    If a question names a different column whose values are missing, the result is an empty string.
    """
    said, keeps = claims.said, claims.keeps
    empty = frozenset(map(stem, _EMPTY.findall(asked.text)))
    is_filled = claims.amounts and not claims.sign and (empty or facts.filled is not None)
    if facts.keeps_missing is None and not is_filled:
        return None
    others = empty - own - (GENERIC_STEMS - schema) | facts.unfilled.intersection(asked.content)
    if "not out" in said or not others <= _OF_GAPS:
        return ""
    if facts.keeps_missing is None:
        is_read = "filled" in said and not said & {"turned", "choice"} and len(claims.amounts) == 1
        return _yes(claims.amounts[0][0] == facts.filled) if is_read and facts.filled is not None else ""
    if said >= {"in", "out"} or "choice" in said:
        return _OUT if "out" in said and not facts.keeps_missing else ""
    return "" if keeps is None else _yes(keeps == facts.keeps_missing)


def _of_conditions(asked: Question, said: frozenset[str], facts: Facts, *, is_plain: bool) -> str:
    """Answer whether all conditions of a point must hold, or whether one is enough.

    Of several groups of conditions, or of a group in another one, the question must name the one that it is
    about.
    """
    found = facts.connected
    if len(found) > 1 or len(facts.joins) > 1:
        found = [group for group in found if not group[1].isdisjoint(asked.content)]
    is_choice = {"both", "one"} <= said
    if len(found) != 1 or not said & {"both", "one"} or "out" in said or not (is_plain or is_choice):
        return ""
    ((kind, _),) = found
    if is_choice:
        return "All of them must hold" if kind == "And" else "One of them is enough"
    return _yes((kind == "And") == ("both" in said))


def _in_one_unit(claims: Claims, facts: Facts, own: frozenset[str]) -> bool:
    """Return whether a question has no unit, or the units of the point.

    Kilometres divided by (minutes divided by 60) are kilometres per hour.
    """
    units = {"hour" if unit == "h" else unit for unit in claims.units}
    is_converted = 60 in facts.amounts and len(own & UNIT_STEMS) > 1
    of_point = {"hour" if is_converted and unit == _MINUTE else unit for unit in own & UNIT_STEMS}
    return not claims.amounts or not units or units == of_point


_MINUTE = stem("minute")


def _of_amounts(
    claims: Claims, facts: Facts, keeps: bool | None, *, is_proposal: bool, is_plain: bool
) -> str:
    """Judge a proposal about numbers, dates or times."""
    values = [_as_in(facts, value, is_percentage) for value, is_percentage in claims.amounts]
    ranges, sign = facts.ranges, claims.sign
    if "only amount" in claims.said or facts.is_turned:
        return ""
    if not values and "edge" in claims.said and len(ranges) == 1 == len(ranges[0]):
        return _of_value(ranges[0][0][1], "", facts, keeps)
    is_excluded = any(one in ("<", ">") and end in values for ends in ranges for one, end in ends)
    is_told_of = claims.said & {"exact", "edge"} or not is_proposal or (is_excluded and claims.after)
    names_value = not sign and is_told_of
    if keeps is not None or names_value:
        is_open = "side" in claims.said and not sign
        return "" if len(values) != 1 or is_open else _of_value(values[0], sign, facts, keeps)
    return _of_bound(values, sign, facts) if values and (is_proposal or is_plain) else ""


def _as_in(facts: Facts, value: Value, is_percentage: bool) -> Value:
    """Return an amount as the snippet writes it: a percentage may be a fraction."""
    if not is_percentage or value in facts.amounts or isinstance(value, str):
        return value
    fractions = [one for one in facts.amounts if not isinstance(one, str) and 0 < one < 1]
    return value / 100 if fractions or value / 100 in facts.amounts else value


def _shape(value: Value) -> str:
    """Return what two values must have in common to be compared: the pattern of digits, or being numbers."""
    return re.sub(r"\d", "0", value) if isinstance(value, str) else "number"


def _of_value(value: Value, sign: str, facts: Facts, keeps: bool | None) -> str:
    """Answer whether a value, or all values on one side of it, is in; and whether a bound itself is."""
    ranges = facts.ranges
    if len(ranges) > 1:
        ranges = [ends for ends in ranges if any(end == value for _, end in ends)]
    if len(ranges) != 1 or any(_shape(end) != _shape(value) for _, end in ranges[0]):
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
    return ". ".join(filter(None, [_yes(keeps == is_in), itself]))


def _includes(ends: Ends, value: Value, sign: str = "") -> bool | None:
    """Return whether a value, or all values on one side of it, is in a range; None if only some are."""
    point = (value, {">": 1, "<": -1}.get(sign, 0))  # just above or below the value
    near = all(_COMPARE[one](point, (end, 0)) for one, end in ends)
    far = all(one[0] == sign[0] for one, _ in ends) if sign else near
    return near if near == far and (not sign or len(ends) == 1) else None


def _of_bound(values: Sequence[Value], sign: str, facts: Facts) -> str:
    """Judge a proposal of amounts, or of a bound, as what a point means."""
    for value in values:
        if _shape(value) not in map(_shape, facts.amounts):
            return ""
    ends = [end for ends in facts.ranges for end in ends]
    if sign and not ends:
        return ""
    bounds = {end for _, end in ends} or facts.amounts
    if not facts.amounts.intersection(values) <= bounds:
        return ""  # in "minutes divided by 60", 60 is no bound
    if not sign and len(values) < len({end for _, end in ends}):
        return ""  # one end of a range
    if bounds.issuperset(values):
        if facts.joins and (facts.values or not facts.amounts <= set(values)):
            return ""  # one condition of several
        signs = {one for one, end in ends if end in values}
        return "Yes" if not sign or sign in signs else "No" if signs else ""
    if not sign and any(_includes(one, value) for one in facts.ranges for value in values):
        return ""  # 45 is not the bound, but it is in
    numbers = [value for value in values if not isinstance(value, str)]
    near = [
        one for one, end in ends for value in numbers if not isinstance(end, str) if abs(end - value) == 1
    ]
    return "" if sign and any(one != sign for one in near) else "No"  # "more than 39" may be "at least 40"


def _of_values(
    claims: Claims,
    facts: Facts,
    others: frozenset[str],
    keeps: bool | None,
    *,
    is_proposal: bool,
    is_all: bool,
) -> str:
    """Judge a proposal about texts: whether those that it mentions are in, or all that are.

    The `others` are texts that the same column may have, and that are out.
    """
    listed = [kept for _, kept in facts.values]
    known = (*facts.values, *((other, False) for other in others))
    named = [kept for name, kept in known if f" {name} " in claims.spaced]
    is_one_of_several = facts.is_turned or (named and facts.leave_open(any(named)))
    if not listed or is_one_of_several or claims.said & {"both", "contrast"}:
        return ""
    if claims.said >= {"in", "out", "choice"} and named and not any(named):
        return _OUT
    if "only" in claims.said and not facts.ranges and not facts.joins and all(listed):
        if keeps is False or False in named:
            return ""  # "not only paid ones?", "just collected, no pending ones?"
        counted = {value for value, _ in claims.amounts} <= {len(listed)}
        is_whole = len(named) == len(listed) or ("only those" in claims.said and not named)
        if not counted or (is_whole and not is_all):
            return ""
        return "Yes" if is_whole else "No" if named else ""
    if keeps is not None:
        return _yes(keeps == named[0]) if len(set(named)) == 1 else ""
    is_whole = is_proposal and is_all and not facts.ranges and not facts.joins
    return "Yes" if is_whole and len(named) == len(listed) and all(listed) else ""


_SENTENCE = re.compile(r"[^.?!]+(?:\.\d[^.?!]*)*[.?!]*")
_EMPTY = re.compile(r"\b(?:without|no|missing|empty|blank|null|lack\w*) (?:an? |the |any |its )?(\w+)")
_OUT = "They are left out"
_OF_AMOUNTS = UNIT_STEMS | {stem("percent")}
"""Words after a number that name nothing that is counted."""

_OF_GAPS = frozenset(map(stem, "missing value count".split()))
"""Words after "missing" or "no" that name no column."""

_OTHERS = frozenset(map(stem, "nobody another else other two".split()))
