"""What a follow-up question asks about a point that the user has just told.

A point has parts: the operands of its formula, its conditions, and other candidates that define a name in
it. A question can ask for a part ("the second factor in that", "the score that goes into it") or whether
something follows from the point ("does exactly 10 count?", "so damaged ones are left out?").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from decimal import Decimal
from functools import cache
from operator import ge, gt, le, lt
from typing import Any, TypeAlias

from birdenv.users._amounts import MOMENT, TURNS, numbers_in, proposes_bound
from birdenv.users._brief import Brief
from birdenv.users._proposal import CHOICE, mentions_another, verdict
from birdenv.users.segments import Segment
from birdenv.users.sql_in_words import Node, fragment_dialect, in_words, parse_fragment
from birdenv.users.sql_in_words._words import kind_of, node_class
from birdenv.users.understanding import Choice, take_apart
from birdenv.users.understanding._candidate import Candidate
from birdenv.users.understanding._choice import choice_of
from birdenv.users.understanding._gold_parts import bare_text, has_snippet
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._phrases import any_of, read_phrases
from birdenv.users.understanding._question import Question
from birdenv.users.understanding._word_forms import GENERIC_STEMS, clean, stem, words

ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()

PART = "part"
"""What stands for the clause of a part of a point that was told."""

_PLACE = re.compile(
    rf"\b({'|'.join(ORDINALS)}|last) (?:\w+ )?(?:factor|term|part|component|condition|piece|summand"
    r"|operand|ingredient|criterion|half|step|number|case|addend)\b(?! of my)"
)
_FAMILIES = ({"And"}, {"Or"}, {"Add", "Sub"}, {"Mul", "Div"})
Value: TypeAlias = Decimal | str
"""A number, or a date or time as text."""

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {"GT": gt, "GTE": ge, "LT": lt, "LTE": le}


_GROUPS = read_phrases("birdenv.users.understanding", "follow_ups.txt")
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
        defined = (
            linked(part, brief) if len(_names(sql)) == 1 and kind_of(parts[at]) not in _COMPARISONS else []
        )
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
    return [
        one
        for one in index_of(brief).candidates
        if one.group != "non_critical" and len(one.sql) == 1 and bare_text(one.sql[0]) not in own
        if _alias(one.sql[0]) in names or (one.items and has_snippet(told.granted(), one.sql[0]))
    ]


def _alias(sql: str) -> str | None:
    tree: Node = parse_fragment(sql)
    return tree.alias.lower() if kind_of(tree) == "Alias" else None


def _body(sql: str) -> Node:
    """Return the condition or formula in a snippet, without an alias and brackets; None if there is none."""
    tree: Node = parse_fragment(sql)
    if kind_of(tree) == "Select":
        tree = tree.args.get("where") or tree.args.get("having") or tree
    while kind_of(tree) in ("Alias", "Paren", "Where", "Having"):
        tree = tree.this
    return tree


def _names(sql: str) -> set[str]:
    tree = _body(sql)
    return {node.name.lower() for node in tree.find_all(node_class("Column"))} if tree is not None else set()


def _operands(tree: Node, kinds: set[str]) -> Iterator[Node]:
    """Yield the operands of the outermost operator of a tree; of the given kinds if there are any."""
    for node in tree.bfs() if tree is not None else ():
        family = next((one for one in _FAMILIES if kind_of(node) in one), set())
        if kind_of(node) in (kinds or family):
            yield from _flat(node, set() if kinds else family)
            return


def _flat(node: Node, family: set[str]) -> Iterator[Node]:
    for child in (node.this, node.expression):
        child = child.unnest() if kind_of(child) == "Paren" else child
        if kind_of(child) in family:
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
    if tree is None or "enquiry" in said or TURNS.search(text):
        return ""
    if numbers_in(text) and mentions_another(text, sql, brief):
        return ""
    own = _stems(in_words(sql, brief).text)
    wanted = None if CHOICE.search(text) or not said & {"in", "out"} else "out" not in said
    after = _stems(re.split(r"\d", text)[-1]) & (_stems(told.target) - GENERIC_STEMS)
    if after and wanted is None and not CHOICE.search(text) and numbers_in(text):
        wanted = True  # "so 3 days is late?"
    shares = any(
        0 < Decimal(one.name) < 1 for one in tree.find_all(node_class("Literal")) if _is_number(one.name)
    )
    values = _values(text, months=stem("month") in own, shares=shares)
    contrast, rest = _CONTRAST.match(text), set(asked.content) - GENERIC_STEMS
    if wanted is not None and values and not contrast and proposes_bound(text):
        return ""
    return (
        (not _has_unit(text, own) and not _is_turned(tree) and _of_number(values, tree, said, wanted))
        or (rest <= PART_STEMS | own and _of_conditions(_body(sql), said))
        or (not _is_turned(tree) and _of_values(asked, tree, said, wanted, own))
        or (verdict(take_apart(f"is it {contrast[1]}"), [sql]) if contrast else "")
    )


_PRONOUN = re.compile(
    r"(?<!exactly )(?<!precisely )(?<!least )(?<!only )(?<!just )\bone\b(?! (?:is )?(?:enough|count|suffic))"
)
_CONTRAST = re.compile(
    r"^(?:do )?(?:you mean )?(.+?)(?:,? (?:and|but) not|,? rather than|,? instead of|, not) "
)


def _yes(agrees: bool) -> str:
    return "Yes" if agrees else "No"


def _is_turned(tree: Node) -> bool:
    """Return whether a condition in a tree restricts nothing by itself: it picks a value, or is negated."""
    for node in tree.find_all(node_class("Not"), node_class("Case")):
        inner, rest = node.this and node.this.unnest(), node.args.get("default")
        if kind_of(node) == "Case":
            if len(node.args["ifs"]) > 1 or (rest is not None and rest.sql() not in ("0", "NULL")):
                return True
        elif kind_of(inner) not in ("In", "Like", "Is") or inner.args.get("query"):
            return True
    return False


def _of_number(values: Sequence[Value], tree: Node, said: Set[str], wanted: bool | None) -> str:
    """Answer whether the number or date in a question, or a value equal to the only bound, is in."""
    ranges = list(_ranges(tree))
    if not values and "edge" in said and len(ranges) == 1 == len(ranges[0]):
        values = [_value(ranges[0][0][1])]
    elif "exact" not in said and (wanted is None or "bound" in said):
        return ""
    if len(ranges) > 1:
        ranges = [one for one in ranges if any(_value(name) in values for _, name in one)]
    if len(values) != 1 or len(ranges) != 1:
        return ""
    if any(_shape(_value(name)) != _shape(values[0]) for _, name in ranges[0]):
        return ""
    holds = all(compare(values[0], _value(name)) for compare, name in ranges[0])
    answer = "" if wanted is None else _yes(wanted == holds)
    at = [
        f"{name} itself is {'' if holds else 'not '}included"
        for _, name in ranges[0]
        if _value(name) == values[0]
    ]
    return ". ".join(filter(None, [answer, *at]))


def _ranges(tree: Node) -> Iterator[list[tuple[Callable[[Any, Any], bool], str]]]:
    """Yield what is compared with literals: for each end of a range, the comparison and the literal."""
    for node in tree.find_all(*map(node_class, [*_COMPARISONS, "Between"])):
        ends = [(_COMPARISONS.get(kind_of(node), ge), node.expression)]
        if kind_of(node) == "Between":
            ends = [(ge, node.args["low"]), (le, node.args["high"])]
        if all(kind_of(end) == "Literal" for _, end in ends):
            yield [(compare, end.name) for compare, end in ends]


def _is_number(literal: str) -> bool:
    return re.fullmatch(r"\d+(?:\.\d+)?", literal) is not None


def _shape(value: Value) -> str:
    """Return what two values must have in common to be compared: the pattern of digits, or being numbers."""
    return re.sub(r"\d", "0", value) if isinstance(value, str) else "number"


def _value(literal: str) -> Value:
    return Decimal(literal) if _is_number(literal) else literal


_MONTHS = "january february march april may june july august september october november december".split()
_DATE = re.compile(
    rf"\b(?:(?P<day>\d\d?)(?:st|nd|rd|th)? )?(?:of )?(?P<month>{'|'.join(_MONTHS)})\b(?: (?P<year>\d{{4}}))?"
)


def _values(text: str, *, months: bool, shares: bool) -> Sequence[Value]:
    """Return the dates, times and numbers in a question.

    A month is a number if the point is about months, and a percentage is a fraction if it is about fractions.
    """

    def spelt(match: re.Match[str]) -> str:
        month = f"{_MONTHS.index(match['month']) + 1:02}"
        if match["day"] and match["year"] and not months:
            return f"{match['year']}-{month}-{match['day']:0>2}"
        return month if months else match[0]

    if re.search(r"(?<!\w)-\d|\bminus\b", text):
        return []
    text = _DATE.sub(spelt, text).replace("twice", "2").replace(" once", " 1")
    moments = re.findall(MOMENT, text)
    return moments or [number / 100 if percent and shares else number for number, percent in numbers_in(text)]


def _has_unit(text: str, own: frozenset[str]) -> bool:
    """Return whether a number has a unit that the point does not mention."""
    unit = re.search(r"\d (\w*(?:hour|minute|day|week|month|year)s?|k\w{1,2})\b", text)
    return unit is not None and stem(unit[1]) not in own


def _of_conditions(tree: Node, said: Set[str]) -> str:
    """Answer whether all conditions of a point must hold, or whether one is enough."""
    if kind_of(tree) == "Case" and len(tree.args["ifs"]) == 1:
        tree = tree.args["ifs"][0].this.unnest()
    kind = kind_of(tree)
    if kind not in ("And", "Or") or not said & {"both", "one"} or "out" in said:
        return ""
    if {kind_of(node) for part in _flat(tree, {kind}) for node in part.walk()} & {"And", "Or"}:
        return ""
    if {"both", "one"} <= said:
        return "All of them must hold" if kind == "And" else "One of them is enough"
    return _yes((kind == "And") == ("both" in said))


def _of_values(asked: Question, tree: Node, said: Set[str], wanted: bool | None, own: frozenset[str]) -> str:
    """Answer whether a value that the point mentions is in or out, and whether the values are all."""
    spaced, named, listed = f" {' '.join(map(stem, words(asked.text)))} ", list[bool](), 0
    for node in tree.find_all(*map(node_class, ("EQ", "NEQ", "In", "Like"))):
        keeps = kind_of(node) != "NEQ" and not node.args.get("negate") and kind_of(node.parent) != "Not"
        values = [one for one in node.expressions or [node.expression] if kind_of(one) == "Literal"]
        listed += len(values) * keeps
        names = [" ".join(map(stem, words(clean(one.name)))) for one in values if one.is_string]
        named += [keeps for name in names if name and f" {name} " in spaced]
    if "only" in said and kind_of(tree) in ("EQ", "In"):
        counted = {number for number, _ in numbers_in(asked.text)} <= {listed}
        those = "only those" in said and set(asked.content) - GENERIC_STEMS - _OTHERS <= own
        return "Yes" if counted and (len(named) == listed or those) else ""
    return "" if wanted is None or len(set(named)) != 1 else _yes(wanted == named[0])


_OTHERS = frozenset(map(stem, "nobody another else other two".split()))
