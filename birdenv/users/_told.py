"""What a follow-up question asks about a point that the user has just told.

A point has parts: the operands of its formula, its conditions, and other candidates that define a name in
it. A question can ask for a part ("the second factor in that", "the score that goes into it") or whether
something follows from the point ("does exactly 10 count?", "so damaged ones are left out?").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from operator import ge, gt, le, lt
from typing import Any

from birdenv.users._brief import Brief
from birdenv.users._proposal import CHOICE, mentions_another, numbers_in, verdict
from birdenv.users.segments import Segment
from birdenv.users.sql_in_words import Node, fragment_dialect, in_words, parse_fragment
from birdenv.users.understanding import Choice, take_apart
from birdenv.users.understanding._candidate import Candidate
from birdenv.users.understanding._choice import choice_of
from birdenv.users.understanding._gold_parts import bare_text, has_snippet
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._phrases import any_of, read_phrases
from birdenv.users.understanding._question import Question
from birdenv.users.understanding._word_forms import GENERIC_STEMS, clean, content_words, stem, words

ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()

PART = "part"
"""What stands for the clause of a part of a point that was told."""

_PLACE = re.compile(
    rf"\b({'|'.join(ORDINALS)}|last) (?:\w+ )?(?:factor|term|part|component|condition|piece|summand"
    r"|operand|ingredient|criterion|half|step|number|case|addend)\b(?! of my)"
)
_FAMILIES = ({"And"}, {"Or"}, {"Add", "Sub"}, {"Mul", "Div"})
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {"GT": gt, "GTE": ge, "LT": lt, "LTE": le}


_GROUPS = read_phrases(__package__, "follow_ups.txt")
PART_STEMS = frozenset(map(stem, _GROUPS.pop("part words").split()))
"""Words in questions about a part or the bound of a point, which name nothing of a request."""

LIST_STEMS = frozenset(map(stem, _GROUPS.pop("list words").split()))
"""Words that refer to the questions in a list."""

_BEFORE = re.compile(_GROUPS.pop("before"))


def without_courtesy(asked: Question) -> str:
    """Return a question without what stands before it, such as "Thanks."; empty if nothing does."""
    text = _BEFORE.sub("", asked.text)
    return text if text != asked.text else ""


def says(text: str) -> set[str]:
    """Return the groups in `follow_ups.txt` that have a phrase in a cleaned text."""
    spaced = " ".join(words(text))
    return {name for name, pattern in _patterns().items() if pattern.search(spaced)}


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {name: any_of(phrases) for name, phrases in _GROUPS.items()}


def part_asked_for(asked: Question, told: Choice, brief: Brief) -> Choice | None:
    """Return the choice of the part of a told point that a question asks for, or None if it asks for none.

    If another candidate defines the part, the choice is this candidate.
    """
    said, place = says(asked.text), _PLACE.search(asked.text)
    if len(told.granted()) != 1:
        return None
    if place or said & {"divisor", "dividend"}:
        parts = list(_operands(_body(told.granted()[0]), set() if place else {"Div"}))
        at = ORDINALS.index(place[1]) if place and place[1] != "last" else 0 if "dividend" in said else -1
        if at >= len(parts) or len(parts) < 2:
            return None
        sql = parts[at].sql(dialect=fragment_dialect())
        part = Choice("unlabelled", told.target, (), (Segment(told.target, PART, sql),))
        defined = linked(part, brief) if len(_names(sql)) == 1 else []
        return choice_of(defined[0]) if defined else part
    found = linked(told, brief) if "input" in said else []
    alike = [len(_stems(f"{one.target} {one.sql[0]}").intersection(asked.content)) for one in found]
    return choice_of(found[alike.index(max(alike))]) if found else None


def is_part(choice: Choice) -> bool:
    """Return True if an answer tells only a part of a point."""
    return any(part.clause == PART for part in choice.parts)


def linked(told: Choice, brief: Brief) -> list[Candidate]:
    """Return the candidates that define a name in a told point, or whose SQL is a part of it."""
    own = {bare_text(sql) for sql in told.granted()}
    names = set[str]().union(*map(_names, told.granted()))
    found = (one for one in index_of(brief).candidates if one.group != "non_critical" and len(one.sql) == 1)
    return [
        one
        for one in found
        if bare_text(one.sql[0]) not in own
        and (_alias(one.sql[0]) in names or (one.items and has_snippet(told.granted(), one.sql[0])))
    ]


def _alias(sql: str) -> str | None:
    tree = parse_fragment(sql)
    return tree.alias.lower() if type(tree).__name__ == "Alias" else None


def _body(sql: str) -> Node | None:
    """Return the condition or formula in a snippet, without an alias and brackets."""
    tree = parse_fragment(sql)
    if type(tree).__name__ == "Select":
        tree = tree.args.get("where") or tree.args.get("having") or tree
    while type(tree).__name__ in ("Alias", "Paren", "Where", "Having"):
        tree = tree.this
    return tree


def _names(sql: str) -> set[str]:
    tree = _body(sql)
    found = tree.walk() if tree is not None else ()
    return {node.name.lower() for node in found if type(node).__name__ == "Column"}


def _operands(tree: Node | None, kinds: set[str]) -> Iterator[Node]:
    """Yield the operands of the outermost operator of a tree; of the given kinds if there are any."""
    for node in tree.bfs() if tree is not None else ():
        family = next((one for one in _FAMILIES if type(node).__name__ in one), set())
        if type(node).__name__ in (kinds or family):
            yield from _flat(node, set() if kinds else family)
            return


def _flat(node: Node, family: set[str]) -> Iterator[Node]:
    for child in (node.this, node.expression):
        child = child.unnest() if type(child).__name__ == "Paren" else child
        if type(child).__name__ in family:
            yield from _flat(child, family)
        elif child.sql() != "1.0":
            yield child


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, words(clean(text))))


def confirmed(asked: Question, told: Choice, brief: Brief) -> str:
    """Return "Yes", "No" or a short statement about a told point; empty if the question asks for neither.

    An example of a statement is "10 itself is included".
    """
    sql, text, said = "".join(told.granted()[:1]), _PRONOUN.sub("", asked.text), says(asked.text)
    tree = parse_fragment(sql) if len(told.granted()) == 1 else None
    if tree is None or "enquiry" in said or (numbers_in(text) and mentions_another(text, sql, brief)):
        return ""
    own = _stems(in_words(sql, brief).text)
    wanted = None if CHOICE.search(text) or not said & {"in", "out"} else "out" not in said
    rows = not _is_turned(tree)
    return (
        (rows and _of_number(text, tree, said, wanted, _stems(told.target), own))
        or _of_connection(_body(sql), said)
        or (rows and _of_values(asked, tree, said, wanted, own))
        or _of_unit(text, own)
        or _of_contrast(text, sql, own)
        or ""
    )


_PRONOUN = re.compile(r"(?<!exactly )(?<!precisely )\bone (?=that|who|which|with)")


def _yes(agrees: bool) -> str:
    return "Yes" if agrees else "No"


def _is_turned(tree: Node) -> bool:
    """Return whether a condition in a tree restricts nothing by itself: it picks a value, or is negated."""
    for node in tree.walk():
        if type(node).__name__ == "Not":
            inner = node.this.unnest()
            if type(inner).__name__ not in ("In", "Like", "Is") or inner.args.get("query"):
                return True
        elif type(node).__name__ == "Case":
            rest = node.args.get("default")
            if len(node.args["ifs"]) > 1 or (rest is not None and rest.sql() not in ("0", "NULL")):
                return True
    return False


def _of_number(
    text: str, tree: Node, said: set[str], wanted: bool | None, term: frozenset[str], own: frozenset[str]
) -> str:
    """Answer whether the number or date in a question, or a value equal to the only bound, is in."""
    ranges = list(_ranges(tree))
    values, after = _values(text, months=stem("month") in own), re.split(r"\d", text)[-1]
    if wanted is None and values and not CHOICE.search(text) and _stems(after) & (term - GENERIC_STEMS):
        wanted = True  # "so 3 days is late?"
    if not values and "edge" in said and len(ranges) == 1 == len(ranges[0]):
        values = [_value(ranges[0][0][1])]
    elif not ("exact" in said or (wanted is not None and "bound" not in said)) or _has_unit(text, own):
        return ""
    if len(ranges) > 1:
        ranges = [one for one in ranges if any(_value(name) in values for _, name in one)]
    if len(values) != 1 or len(ranges) != 1:
        return ""
    at = [name for _, name in ranges[0] if _value(name) == values[0]]
    if any(type(_value(name)) is not type(values[0]) for _, name in ranges[0]):
        return ""
    holds = all(compare(values[0], _value(name)) for compare, name in ranges[0])
    fact = f"{at[0]} itself is {'' if holds else 'not '}included" if at else ""
    return ". ".join(filter(None, ["" if wanted is None else _yes(wanted == holds), fact]))


def _ranges(tree: Node) -> Iterator[list[tuple[Callable[[Any, Any], bool], str]]]:
    """Yield what is compared with literals: for each end of a range, the comparison and the literal."""
    for node in tree.walk():
        kind = type(node).__name__
        ends = [(_COMPARISONS[kind], node.expression)] if kind in _COMPARISONS else []
        if kind == "Between":
            ends = [(ge, node.args["low"]), (le, node.args["high"])]
        if ends and all(type(end).__name__ == "Literal" for _, end in ends):
            yield [(compare, end.name) for compare, end in ends]


def _value(literal: str) -> Decimal | str:
    return Decimal(literal) if re.fullmatch(r"\d+(?:\.\d+)?", literal) else literal


_MONTHS = "january february march april may june july august september october november december".split()
_DATE = re.compile(
    rf"\b(?:(?P<day>\d\d?)(?:st|nd|rd|th)? )?(?:of )?(?P<month>{'|'.join(_MONTHS)})\b(?: (?P<year>\d{{4}}))?"
)


def _values(text: str, *, months: bool) -> list[Decimal | str]:
    """Return the dates, times and numbers in a question. A month is a number if the point is about months."""

    def spelt(match: re.Match[str]) -> str:
        month = f"{_MONTHS.index(match['month']) + 1:02}"
        if match["day"] and match["year"]:
            return f"{match['year']}-{month}-{match['day']:0>2}"
        return month if months and not match["year"] else match[0]

    text = _DATE.sub(spelt, text).replace("twice", "2").replace(" once", " 1")
    dates = re.findall(r"\d{4}-\d\d-\d\d|\b\d\d:\d\d", text)
    return dates or [
        number / 100 if percent and number > 1 else number for number, percent in numbers_in(text)
    ]


def _has_unit(text: str, own: frozenset[str]) -> bool:
    """Return whether a number has a unit that the point does not mention."""
    unit = re.search(r"\d (\w*(?:hour|minute|day|week|month|year)s?|k\w{1,2})\b", text)
    return unit is not None and stem(unit[1]) not in own


def _of_connection(tree: Node | None, said: set[str]) -> str:
    """Answer whether all conditions of a point must hold, or whether one is enough."""
    if type(tree).__name__ == "Case" and len(tree.args["ifs"]) == 1:
        tree = tree.args["ifs"][0].this.unnest()
    kind = type(tree).__name__
    if kind not in ("And", "Or") or not said & {"both", "one"}:
        return ""
    if {type(node).__name__ for part in _flat(tree, {kind}) for node in part.walk()} & {"And", "Or"}:
        return ""
    if {"both", "one"} <= said:
        return "All of them must hold" if kind == "And" else "One of them is enough"
    return _yes((kind == "And") == ("both" in said))


def _of_values(asked: Question, tree: Node, said: set[str], wanted: bool | None, own: frozenset[str]) -> str:
    """Answer whether a value that the point mentions is in or out, and whether the values are all."""
    spaced, named, listed = f" {' '.join(map(stem, words(asked.text)))} ", list[bool](), 0
    for node in tree.walk():
        if (kind := type(node).__name__) not in ("EQ", "NEQ", "In", "Like"):
            continue
        keeps = kind != "NEQ" and not node.args.get("negate") and type(node.parent).__name__ != "Not"
        values = [one for one in node.expressions or [node.expression] if type(one).__name__ == "Literal"]
        listed += len(values) * keeps
        for value in values:
            name = " ".join(map(stem, words(clean(value.name))))
            named += [keeps] * (value.is_string and bool(name) and f" {name} " in spaced)
    if "only" in said and type(tree).__name__ in ("EQ", "In"):
        counted = {number for number, _ in numbers_in(asked.text)} <= {listed}
        those = "only those" in said and set(asked.content) - GENERIC_STEMS - _OTHERS <= own
        return "Yes" if counted and (len(named) == listed or those) else ""
    return "" if wanted is None or len(set(named)) != 1 else _yes(wanted == named[0])


def _of_unit(text: str, own: frozenset[str]) -> str:
    """Answer "is that in hours?"."""
    match, units = _UNIT.match(text), own & _TIMES
    return _yes(stem(match[1]) in units) if match and units and stem(match[1]) in _TIMES else ""


_UNIT = re.compile(r"(?:and |so )?(?:is|are) (?:it|that|this|those|they) (?:\w+ )?in (\w+)\W*$")
_TIMES = frozenset(map(stem, "minute min hour day week month year".split()))
_OTHERS = frozenset(map(stem, "nobody another else other two".split()))
_CONTRAST = re.compile(r"^(.+?)(?:,? (?:and|but) not|,? rather than|,? instead of|, not) (.+)$")
_UNSURE = re.compile(r"\b(?:divid\w+|minus|plus|times|less|over|per|not|no|without)\b|n't\b")


def _of_contrast(text: str, sql: str, own: frozenset[str]) -> str:
    """Answer "you mean A and not B?"."""
    match = _CONTRAST.match(text)
    if match is None or _UNSURE.search(match[1]):
        return ""
    if numbers_in(match[1]):
        return verdict(take_apart(f"is it {match[1]}"), [sql])
    this, that = (set(map(stem, content_words(words(one)))) - GENERIC_STEMS for one in match.groups())
    if this and this <= own and that.isdisjoint(own):
        return "Yes"
    return "No" if that and that - this <= own and this.isdisjoint(own) else ""
