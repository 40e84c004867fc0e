"""What a follow-up question asks about a point that the user has just told.

A point has parts: the operands of its formula, its conditions, and other candidates that define a name in
it. A question can ask for a part ("the second factor in that", "the score that goes into it") or whether
something follows from the point ("does exactly 10 count?", "so damaged ones are left out?").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache

from birdenv.users._brief import Brief
from birdenv.users._proposal import CHOICE, mentions_another, numbers_in, verdict
from birdenv.users.segments import Segment
from birdenv.users.sql_in_words import Node, fragment_dialect, in_words, parse_fragment, split_words
from birdenv.users.understanding import Choice, take_apart
from birdenv.users.understanding._candidate import Candidate
from birdenv.users.understanding._choice import choice_of
from birdenv.users.understanding._gold_parts import bare_text, has_snippet
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._question import Question
from birdenv.users.understanding._word_forms import GENERIC_STEMS, NUMBERS, clean, content_words, stem, words

ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()

PART = "part"
"""What stands for the clause of a part of a point that was told."""

_PLACE = re.compile(
    rf"\b(?P<place>{'|'.join(ORDINALS)}|last) (?:\w+ )?(?:factor|term|part|component|condition|piece|summand"
    r"|operand|ingredient|criterion|half|step|number|case|addend)\b(?! of my)"
)
_BELOW = re.compile(
    r"\bwhat\b.* divid\w+\b.* by\b|\b(?:denominator|divisor)\b|(?P<off>\bwhat\b.* (?:subtract\w*|deduct\w*)\b)"
)
_ABOVE = re.compile(r"\bnumerator\b")
_INPUT = re.compile(
    r"\b(?:go(?:es|ing)?|feeds?|fed|enters?|used|plugged) (?:in|into)\b|\b(?:based|built|depends?|relies|rests) on\b"
    r"|\b(?:put|plug) in\b|\b(?:part|piece|component|half|bit) (?:of|in) (?:it|that|this)\b"
    r"|\bbehind (?:it|that|this)\b|\bunderl\w+"
    r"|^(?:\w+ ){0,2}how (?:is|are|do|would|should) (?:\w+ )?(?:it|that|this|they) (?:\w+ ){0,2}"
    r"(?:calculated|computed|derived|determined|worked out|put together)\b"
)
_FAMILIES = ({"And"}, {"Or"}, {"Add", "Sub"}, {"Mul", "Div"})
_COMPARISONS = {"GT": (False, 1), "GTE": (True, 1), "LT": (False, -1), "LTE": (True, -1)}
"""Whether a comparison holds for equal operands, and the sign of the difference for which it holds."""


def part_asked_for(asked: Question, told: Choice, brief: Brief) -> Choice | None:
    """Return the choice of the part of a told point that a question asks for, or None if it asks for none.

    If another candidate defines the part, the choice is this candidate.
    """
    place, below, above = (one.search(asked.text) for one in (_PLACE, _BELOW, _ABOVE))
    if len(told.granted()) != 1:
        return None
    if place or below or above:
        kinds = {"Sub"} if below and below["off"] else {"Div"} if below or above else set[str]()
        parts = list(_operands(_body(told.granted()[0]), kinds))
        if not parts and (whole := _containing(told, brief)):
            parts = list(_operands(_body(whole.sql[0]), kinds))
        at = -1 if below else 0 if above else _number(place, len(parts))
        if not -1 <= at < len(parts) > 1:
            return None
        sql = parts[at].sql(dialect=fragment_dialect())
        part = Choice("unlabelled", told.target, (), (Segment(told.target, PART, sql),))
        names = _names(parts[at])
        defined = linked(part, brief) if len(names) == 1 else []
        return choice_of(defined[0]) if len(defined) == 1 else part
    found = linked(told, brief) if asks_for_input(asked) else []
    content = set(asked.content)
    shared = [len(content & _stems(f"{one.target} {' '.join(one.sql)}")) for one in found]
    best = [one for one, many in zip(found, shared, strict=True) if many == max(shared)]
    return choice_of(best[0]) if len({bare_text(one.sql[0]) for one in best}) == 1 else None


def asks_for_input(asked: Question) -> bool:
    """Return True if a question asks what a figure is made of."""
    return _INPUT.search(asked.text) is not None


def is_part(choice: Choice) -> bool:
    """Return True if an answer tells only a part of a point."""
    return any(part.clause == PART for part in choice.parts)


def _number(place: re.Match[str] | None, size: int) -> int:
    return size - 1 if place is None or place["place"] == "last" else ORDINALS.index(place["place"])


def linked(told: Choice, brief: Brief) -> list[Candidate]:
    """Return the candidates that define a name in a told point, or whose SQL is a part of it."""
    own = {bare_text(sql) for sql in told.granted()}
    names = set[str]().union(*(_names(_body(sql)) for sql in told.granted()))
    return [
        one
        for one in index_of(brief).candidates
        if one.group != "non_critical" and len(one.sql) == 1 and bare_text(one.sql[0]) not in own
        if _alias(one.sql[0]) in names or (one.items and has_snippet(told.granted(), one.sql[0]))
    ]


def _containing(told: Choice, brief: Brief) -> Candidate | None:
    """Return the annotated point whose formula contains a told point."""
    for one in index_of(brief).candidates:
        if one.items and one.target != told.target and has_snippet(one.sql[:1], told.granted()[0]):
            return one
    return None


@lru_cache(maxsize=4096)
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


def _names(tree: Node | None) -> set[str]:
    found = tree.walk() if tree is not None else ()
    return {node.name.lower() for node in found if type(node).__name__ == "Column"}


def _operands(tree: Node | None, kinds: set[str]) -> Iterator[Node]:
    """Yield the operands of the outermost operator of a tree; of the given kinds if there are any."""
    for node in tree.bfs() if tree is not None else ():
        kind = type(node).__name__
        family = kinds or next((one for one in _FAMILIES if kind in one), set())
        if kind in family:
            yield from _flat(node, family if not kinds else set())
            return


def _flat(node: Node, family: set[str]) -> Iterator[Node]:
    for child in (node.this, node.expression):
        while type(child).__name__ == "Paren":
            child = child.this
        if type(child).__name__ in family:
            yield from _flat(child, family)
        elif child.sql() != "1.0":
            yield child


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, words(clean(text))))


_LIMIT = r"(?:limit|threshold|bound\w*|cut\W?off|value|number|minimum|maximum|date|line|dot|edge|mark)"
_EDGE = re.compile(
    rf"\b(?:inclusive|exclusive|strictly)\b|\b{_LIMIT} itself\b"
    rf"|\b(?:at|on) (?:(?:that|this) \w+|(?:the )?(?:\w+ )?{_LIMIT})\b"
)
_EXACT = re.compile(rf"\b(?:exactly|precisely) (?:\d|{'|'.join(NUMBERS.values())}|on(?:c?e)\b)|\d itself\b")
_ENQUIRES = re.compile(r"^(?:\w+\W+){0,3}(?:what|which|how|when|why)\b(?! about)")
_RELATES = re.compile(
    r"\b(?:than|least|most|above|below|over|under|up to|or (?:more|less|fewer|later|earlier)|mean\w*)\b"
)
_OUT = re.compile(
    r"\b(?:(?:left|leave|is|are|be|falls?|drops?) out|out(?= or\b|\W*$)|exclu\w+|ignored|dropped|skipped|omitted"
    r"|removed|too (?!\W|$)\w+|not|miss(?:es)?|fails?)\b|n't\b"
)
_IN = re.compile(
    r"\b(?:in(?= or\b|\W*$)|inclu\w+|(?<!the )(?<!a )counts?|counted|qualif\w+|enough|suffic\w+|too|also|as well"
    r"|still (?!fine|ok|okay|good|all|on)\w+|belongs?|pass(?:es)?|meets?|makes? it)\b"
)
_IS_IN = re.compile(r"\d.*?\b(?:is|are|be|counts? as|makes?)\b(?P<what>.+)$")
_BOTH = re.compile(
    r"\bboth\b|\ball (?:of|the|these|those|three|four)\b|\bat once\b|\bat the same time\b|\btogether\b"
)
_ONE = re.compile(
    r"\b(?:one|any|either)(?: one)? (?:of (?:them|these|those|the)|alone|is enough)\b|\beither\b"
)
_ONLY = re.compile(r"\b(?:only|just)\b(?P<those> (?:those|these|that|them)\b)?")
_CONTRAST = re.compile(
    r"^(?P<this>.+?)(?:,? (?:and|but) not|,? rather than|,? instead of|, not) (?P<that>.+)$"
)
_UNIT = re.compile(
    r"^(?:and |so )?(?:is|are) (?:it|that|this|those|they) (?:\w+ )?(?P<how>per|in|a|each|by) (?P<unit>\w+)\W*$"
)
_TIMES = frozenset(map(stem, "second minute min hour day week month year".split()))
_MONTHS = "january february march april may june july august september october november december".split()


def confirmed(asked: Question, told: Choice, brief: Brief) -> str:
    """Return "Yes", "No" or a short statement about a told point; empty if the question asks for neither.

    An example of a statement is "10 itself is included".
    """
    sql, text = "".join(told.granted()[:1]), _PRONOUN.sub("", asked.text)
    tree = parse_fragment(sql) if len(told.granted()) == 1 else None
    if tree is None or _ENQUIRES.search(text) or (numbers_in(text) and mentions_another(text, sql, brief)):
        return ""
    rows, own = not _is_turned(tree), _stems(in_words(sql, brief).text)
    return (
        (rows and _at_the_bound(text, tree, told, own))
        or _connected(text, _body(sql))
        or (rows and _of_values(asked, tree, own))
        or _in_other_words(text, sql, brief)
        or ""
    )


def _is_turned(tree: Node) -> bool:
    """Return whether a condition in a tree restricts nothing by itself: it picks a value, or is negated."""
    for node in tree.walk():
        inner = node.this.unnest() if type(node).__name__ == "Not" else None
        if inner is not None and (
            type(inner).__name__ not in ("In", "Like", "Is") or inner.args.get("query")
        ):
            return True
        default = node.args.get("default")
        if type(node).__name__ == "Case" and (
            len(node.args["ifs"]) > 1 or (default is not None and default.sql() not in ("0", "NULL"))
        ):
            return True
    return False


def _bounds(tree: Node) -> Iterator[list[tuple[bool, int, str]]]:
    """Yield each range: for each end, whether the end itself is in, the direction, and the literal."""
    for node in tree.walk():
        kind = type(node).__name__
        ends = [(*_COMPARISONS[kind], node.expression)] if kind in _COMPARISONS else []
        if kind == "Between":
            ends = [(True, 1, node.args["low"]), (True, -1, node.args["high"])]
        if ends and all(type(end).__name__ == "Literal" for *_, end in ends):
            yield [(equal, sign, end.name) for equal, sign, end in ends]


def _at_the_bound(text: str, tree: Node, told: Choice, own: frozenset[str]) -> str:
    """Answer whether the number in a question, or a value equal to the only bound, is in."""
    if stem("month") in own:
        text = " ".join(f"{_MONTHS.index(word) + 1}" if word in _MONTHS else word for word in text.split())
    numbers = numbers_in(text.replace("twice", "2").replace(" once", " 1"))
    ranges = list(_bounds(tree))
    if len(ranges) > 1:
        ranges = [one for one in ranges if any(_is_number(end, numbers) for *_, end in one)]
    wanted, what, unit = _wanted(text), _IS_IN.search(text), _WITH_UNIT.search(text)
    if wanted is None and what and not _stems(what["what"]).isdisjoint(_stems(told.target) - GENERIC_STEMS):
        wanted = None if CHOICE.search(text) else True
    exact = numbers and (_EXACT.search(text) or (wanted is not None and not _RELATES.search(text)))
    if len(ranges) != 1 or not (exact or _EDGE.search(text)) or (unit and stem(unit[1]) not in own):
        return ""
    at = [end for end in ranges[0] if _is_number(end[2], numbers)]
    if not numbers or "-" in ranges[0][0][2] or ":" in ranges[0][0][2]:
        at = ranges[0] if len(ranges[0]) == 1 and _is_date(text, ranges[0][0][2]) else []
    elif not at and len(numbers) == 1 and wanted is not None and not numbers[0][1]:
        away = [(numbers[0][0] - Decimal(end)) * sign for _, sign, end in ranges[0]]
        return _yes(wanted == all(one > 0 for one in away))
    if len(at) != 1 or len(numbers) > 1 and "-" not in at[0][2]:
        return ""
    ((holds, _, literal),) = at
    fact = f"{literal} itself is {'' if holds else 'not '}included"
    return fact if wanted is None else f"{_yes(wanted == holds)}. {fact}"


def _is_number(literal: str, numbers: Iterable[tuple[Decimal, bool]]) -> bool:
    """Return whether a literal is one of the numbers, each of which may be a percentage."""
    if not _DIGITS.fullmatch(literal):
        return False
    return any(Decimal(literal) in (one, one / 100 if percent else one) for one, percent in numbers)


_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_PRONOUN = re.compile(r"(?<!exactly )(?<!precisely )\bone (?=that|who|which|with)")
_WITH_UNIT = re.compile(r"\d (\w*(?:hour|minute|day|week|month|year)s?|k\w{1,2})\b")


def _yes(agrees: bool) -> str:
    return "Yes" if agrees else "No"


def _wanted(text: str) -> bool | None:
    """Return whether a question proposes that something is in; None if it proposes neither."""
    if CHOICE.search(text) or not (_OUT.search(text) or _IN.search(text)):
        return None
    return not _OUT.search(text)


def _is_date(text: str, literal: str) -> bool:
    """Return whether a question mentions no other date or time than a literal."""
    own = [int(number) for number in re.findall(r"\d+", literal)]
    months = [_MONTHS.index(word) + 1 for word in words(text) if word in _MONTHS]
    said = {int(number) for number in re.findall(r"\d+", text)}
    return said <= set(own) and (not months or own[1:2] == months)


def _connected(text: str, tree: Node | None) -> str:
    """Answer whether both of two conditions must hold, or whether one is enough."""
    if type(tree).__name__ == "Case" and len(tree.args["ifs"]) == 1:
        tree = tree.args["ifs"][0].this.unnest()
    kind, both, one = type(tree).__name__, bool(_BOTH.search(text)), bool(_ONE.search(text))
    if kind not in ("And", "Or") or not (both or one):
        return ""
    if {type(node).__name__ for part in _flat(tree, {kind}) for node in part.walk()} & {"And", "Or"}:
        return ""
    if both == one:
        return "All of them must hold" if kind == "And" else "One of them is enough"
    return _yes((kind == "And") == both)


def _of_values(asked: Question, tree: Node, own: frozenset[str]) -> str:
    """Answer whether a value that the point mentions is in or out, and whether the values are all."""
    said, named, listed = list(map(stem, words(asked.text))), list[bool](), list[Node]()
    for node in tree.walk():
        if (kind := type(node).__name__) not in ("EQ", "NEQ", "In", "Like"):
            continue
        keeps = kind != "NEQ" and not node.args.get("negate") and type(node.parent).__name__ != "Not"
        values = [one for one in node.expressions or [node.expression] if type(one).__name__ == "Literal"]
        listed += values if keeps else []
        for value in values:
            flag = not value.is_string and value.name in ("0", "1") and type(node.this).__name__ == "Column"
            name = list(map(stem, words(clean(split_words(node.this.name) if flag else value.name))))
            if name and f" {' '.join(name)} " in f" {' '.join(said)} " and (flag or value.is_string):
                named.append(keeps if value.name != "0" else not keeps)
    numbers, only = {number for number, _ in numbers_in(asked.text)}, _ONLY.search(asked.text)
    if type(tree).__name__ in ("EQ", "In") and only and numbers <= {len(listed)}:
        if len(named) == len(listed) or (
            only["those"] and set(asked.content) - GENERIC_STEMS - _OTHERS <= own
        ):
            return "Yes"
        return ""
    wanted = _wanted(asked.text)
    return "" if wanted is None or len(set(named)) != 1 else _yes(wanted == named[0])


_OTHERS = frozenset(map(stem, "nobody another else other two".split()))
_UNSURE = re.compile(r"\b(?:divid\w+|minus|plus|times|less|over|per|not|no|without)\b|n't\b")


def _in_other_words(text: str, sql: str, brief: Brief) -> str:
    """Answer "you mean A and not B?", "is that per month?" and "is that in hours?"."""
    words_of = clean(in_words(sql, brief).text)
    own = _stems(words_of)
    if match := _UNIT.search(text):
        per = match["how"] not in ("in", "a")
        units = _stems(" ".join(re.findall(r"(?<=\bper )\w+", words_of))) if per else own & _TIMES
        unit = stem(match["unit"])
        return _yes(unit in units) if units and (per or unit in _TIMES) else ""
    match = _CONTRAST.match(text)
    if match is None or _UNSURE.search(match["this"]):
        return ""
    if numbers_in(match["this"]):
        return verdict(take_apart(f"is it {match['this']}"), [sql])
    this, that = (
        set(map(stem, content_words(words(match[one])))) - GENERIC_STEMS for one in ("this", "that")
    )
    if this and this <= own and that.isdisjoint(own):
        return "Yes"
    return "No" if that and that - this <= own and this.isdisjoint(own) else ""
