"""Read a snippet of SQL into the facts that the claims in a question are compared with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TypeAlias

from birdenv.users.sql_in_words import Node, is_negated, kind_of, node_class, parse_fragment, split_words
from birdenv.users.understanding._gold_parts import bare_text
from birdenv.users.understanding._word_forms import clean, stem, words

Value: TypeAlias = Decimal | str
"""A number, or a date or time of day as text."""

Ends: TypeAlias = Sequence[tuple[str, Value]]
"""The ends of a range: each is a sign, such as ">=", and the amount that is compared with."""

SIGN_OF = {"GT": ">", "GTE": ">=", "LT": "<", "LTE": "<="}
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_ARITHMETIC = ("Div", "Mul", "Add", "Sub")
_COMPARING = (*SIGN_OF, "Between", "EQ", "NEQ", "In", "Like", "Limit")
"""What decides about entries or digits; a formula with none of these only computes a figure."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d")


@lru_cache(maxsize=4096)
def stems_of(text: str) -> frozenset[str]:
    """Return the stems of the words in a text."""
    return frozenset(map(stem, words(clean(text))))


@dataclass(frozen=True, slots=True)
class Facts:
    """What a snippet says about amounts, values and conditions.

    Attributes:
        ranges: the ends of each range that a condition on an amount allows.
        bounded: the columns and formulas that these conditions compare (see `bare_text`).
        amounts: all numbers, dates and times in the snippet.
        values: the texts that columns are compared with, as stems, each with True if it is kept.
        beside: the stems of the names that only the other operands of a formula have, if one operand has all
            these texts.
        joins: "And" and "Or", if they are anywhere in the snippet.
        digits: the number of decimals to which the snippet rounds its result; None if it does not.
        keeps_missing: whether entries without a value are kept; None if the snippet does not say it of all.
        is_turned: True if no single condition on a column restricts something: it picks a value, is negated,
            is one of several, or there is none.
        names: the stems of the words in all names.
        compared: these stems for each operand of a difference or ratio that is compared with an amount.
        counts_once: True if duplicates count once.
        columns: the names of the columns, in lower case.
        alias: the name that the snippet gives its result, in lower case; empty if there is none.
    """

    ranges: Sequence[Ends] = ()
    bounded: frozenset[str] = frozenset()
    amounts: frozenset[Value] = frozenset()
    values: Sequence[tuple[str, bool]] = ()
    beside: frozenset[str] = frozenset()
    joins: frozenset[str] = frozenset()
    digits: Value | None = None
    keeps_missing: bool | None = None
    is_turned: bool = False
    names: frozenset[str] = frozenset()
    compared: Sequence[frozenset[str]] = ()
    counts_once: bool = False
    columns: frozenset[str] = frozenset()
    alias: str = ""

    @property
    def decide_something(self) -> bool:
        """Return True if there is anything that a question without a proposal can be compared with."""
        return bool(self.amounts or self.values) or self.keeps_missing is not None

    def leave_open(self, is_met: bool | None) -> bool:
        """Return True if other conditions decide whether something is in that meets one condition or not."""
        return bool(self.joins - {"Or" if is_met else "And"})


@lru_cache(maxsize=4096)
def facts_of(sql: str) -> Facts:
    """Return the facts in a snippet. If it cannot be parsed, there are none.

    >>> facts_of("b.seats >= 40 AND b.kind IN ('sofa', 'chair')").values
    (('sofa', True), ('chair', True))
    """
    tree = parse_fragment(sql)
    if tree is None:
        return Facts()
    body = body_of(tree)
    ranges = list(_ranges(tree))
    bounded = frozenset(side for _, side in ranges)
    amounts = map(_value, _nodes(tree, "Literal", "Neg"))
    return Facts(
        ranges=tuple(ends for ends, _ in ranges),
        bounded=bounded,
        amounts=frozenset(value for value in amounts if value is not None),
        values=tuple(_values(tree)),
        beside=_beside(body),
        joins=frozenset(map(kind_of, _nodes(tree, "And", "Or"))),
        digits=_digits(body),
        keeps_missing=_keeps_missing(body),
        is_turned=len(bounded) > 1 or _only_computes(body) or _is_turned(tree),
        names=names_in(tree),
        compared=tuple(_compared(tree)),
        counts_once=any(_nodes(tree, "Distinct")),
        columns=frozenset(node.name.lower() for node in _nodes(body, "Column")),
        alias=tree.alias.lower() if kind_of(tree) == "Alias" else "",
    )


def values_beside(sql: str, meanings: Mapping[str, str]) -> frozenset[str]:
    """Return the values, as stems, that a condition on a single column does not name.

    The column's meaning lists them together with those that the condition names.

    >>> sorted(values_beside("o.status = 'collected'", {"status": "pending, collected or refunded."}))
    ['pend', 'refund']
    """
    tree = parse_fragment(sql)
    body = body_of(tree)
    if kind_of(body) not in ("EQ", "NEQ", "In") or kind_of(body.this) != "Column":
        return frozenset()
    kept = {node.name.lower() for node in body.find_all(node_class("Literal"))}
    for sentence in _SENTENCE_END.split(meanings.get(body.this.name.lower(), "").lower()):
        listed = set(_QUOTED.findall(sentence) or map(str.strip, _BETWEEN.split(sentence)))
        if kept < listed:
            return frozenset(" ".join(map(stem, words(clean(one)))) for one in listed - kept - {"yes", "no"})
    return frozenset()


_SENTENCE_END = re.compile(r"[.;:](?: |$)")
_QUOTED = re.compile(r"'([^']+)'")
_BETWEEN = re.compile(r",| or | and ")


def _nodes(tree: Node, *kinds: str) -> Iterator[Node]:
    """Yield the nodes in a tree whose classes have these names."""
    yield from tree.find_all(*map(node_class, kinds))


def body_of(tree: Node) -> Node:
    """Return the condition or formula in a tree, without an alias and brackets; None if there is none."""
    if kind_of(tree) == "Select":
        tree = tree.args.get("where") or tree.args.get("having") or tree
    while kind_of(tree) in ("Alias", "Paren", "Where", "Having"):
        tree = tree.this
    return tree


def _digits(body: Node) -> Value | None:
    if kind_of(body) != "Anonymous" or body.name.upper() != "ROUND":
        return None
    return _value(body.expressions[1]) if len(body.expressions) > 1 else Decimal(0)


def operands(tree: Node, *kinds: str) -> Iterator[Node]:
    """Yield the operands of a chain of operators of the given kinds, except a factor of 1.0."""
    for child in (tree.this, tree.expression):
        child = child.unnest() if kind_of(child) == "Paren" else child
        if kind_of(child) in kinds:
            yield from operands(child, *kinds)
        elif child.sql() != "1.0":
            yield child


def names_in(tree: Node | None) -> frozenset[str]:
    """Return the stems of the words in all names in a tree."""
    found = _nodes(tree, "Identifier") if tree is not None else ()
    return frozenset(stem(word) for node in found for word in split_words(node.name).split())


def _value(node: Node) -> Value | None:
    """Return a number, date or time; None for other expressions."""
    while kind_of(node) in ("Cast", "Paren"):
        node = node.this
    if kind_of(node) == "Neg":
        value = _value(node.this)
        return -value if isinstance(value, Decimal) else None
    if kind_of(node) != "Literal":
        return None
    if _NUMBER.fullmatch(node.name):
        return Decimal(node.name)
    return node.name if _MOMENT.fullmatch(node.name) else None


def _ranges(tree: Node) -> Iterator[tuple[Ends, str]]:
    for node in _nodes(tree, *SIGN_OF, "Between"):
        if kind_of(node) == "Between":
            pairs = [(">=", _value(node.args["low"])), ("<=", _value(node.args["high"]))]
        else:
            pairs = [(SIGN_OF[kind_of(node)], _value(node.expression))]
        ends = tuple((sign, value) for sign, value in pairs if value is not None)
        if len(ends) == len(pairs):
            yield ends, bare_text(node.this.unnest().sql())


def _compared(tree: Node) -> Iterator[frozenset[str]]:
    for node in _nodes(tree, *SIGN_OF):
        left = node.this.unnest()
        if kind_of(left) in ("Sub", "Div"):
            yield from map(names_in, operands(left, "Sub", "Div"))


def _values(tree: Node) -> Iterator[tuple[str, bool]]:
    for node in _nodes(tree, "EQ", "NEQ", "In", "Like"):
        keeps = kind_of(node) != "NEQ" and not is_negated(node)
        for one in node.expressions or [node.expression]:
            name = " ".join(map(stem, words(clean(one.name)))) if kind_of(one) == "Literal" else ""
            if name and one.is_string:
                yield name, keeps
                if kind_of(node) == "Like" and "%" in one.name:
                    yield "%", keeps  # the texts that match it have other words, too


def _beside(body: Node) -> frozenset[str]:
    if kind_of(body) not in _ARITHMETIC:
        return frozenset()
    parts = list(operands(body, *_ARITHMETIC))
    having = [part for part in parts if any(_values(part))]
    return frozenset().union(*map(names_in, parts)) - names_in(having[0]) if len(having) == 1 else frozenset()


def _keeps_missing(body: Node) -> bool | None:
    """Return what `x IS NULL`, or several such conditions joined by AND, say of entries without a value."""
    parts = list(operands(body, "And")) if kind_of(body) == "And" else [body]
    tests = [part.this if kind_of(part) == "Not" else part for part in parts]
    found = [test for test in tests if kind_of(test) == "Is"]
    kept = {not is_negated(test) for test in found}
    names = frozenset[str]().union(*map(names_in, found))
    return kept.pop() if len(kept) == 1 and names >= names_in(body) else None


def _is_turned(tree: Node) -> bool:
    for node in _nodes(tree, "Not", "Case"):
        inner, rest = node.this and node.this.unnest(), node.args.get("default")
        if kind_of(node) == "Case":
            if len(node.args["ifs"]) > 1 or (rest is not None and rest.sql() not in ("0", "NULL")):
                return True
        elif kind_of(inner) not in ("In", "Like", "Is") or inner.args.get("query"):
            return True
    return False


def _only_computes(body: Node) -> bool:
    return any(_nodes(body, *_ARITHMETIC)) and not any(_nodes(body, *_COMPARING))
