"""Words for expressions: a table from the kind of a syntax tree's node to the function that says it.

The words follow the source from left to right and keep its brackets, so that precedence is neither lost nor
invented. Clauses and statements are in `_clauses`, which adds them to the same table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from birdenv.users.sql_in_words._functions import (
    days_between,
    kind_of_text,
)
from birdenv.users.sql_in_words._names import Names, is_counted
from birdenv.users.sql_in_words._parse import FRAME, GAP, Node, split_words
from birdenv.users.sql_in_words._phrases import (
    AMOUNTS,
    ARITHMETIC,
    ATOM,
    CHAIN,
    COMPARISONS,
    CONSTANTS,
    DATES,
    LOOSE,
    MISSING,
    PREFIX,
    PRESENT,
    TIMES,
    Phrase,
    Wording,
    enumerate_words,
    quoted,
    runs_on,
    side,
)

Sayer: TypeAlias = "Callable[[Speaker, Node], Phrase]"

_Sayer = TypeVar("_Sayer", bound=Sayer)

SAYERS: Final[dict[str, Sayer]] = {}
"""The function that says a node, by the name of the node's class."""

_CONNECTORS = {"And": "and", "Or": "or"}


def says(*kinds: str) -> Callable[[_Sayer], _Sayer]:
    """Enter a function in the table, for these kinds of node."""

    def enter(sayer: _Sayer) -> _Sayer:
        SAYERS.update(dict.fromkeys(kinds, sayer))
        return sayer

    return enter


def kind_of(node: Node) -> str:
    """Return the name of a node's class."""
    return type(node).__name__


class Speaker:
    """Puts the nodes of one syntax tree into words.

    Args:
        wording: the templates, and the names that they must not say.
        names: how columns are called.
        tree: the tree; an output name is said where the tree refers to it.
    """

    def __init__(self, wording: Wording, names: Names, tree: Node) -> None:
        self.wording = wording
        self.names = names
        self.nested = 0
        self.letters: dict[int, str] = {}
        referred = {node.name.lower() for node in tree.find_all(node_class("Column"))}
        aliases = {node.alias.lower() for node in tree.find_all(node_class("Alias"))}
        self.referred = frozenset(referred & aliases)

    def say(self, node: Node) -> Phrase:
        """Return the words for a node; sqlglot has plain text in the place of some."""
        if node is None or isinstance(node, str):
            return Phrase(split_words(node or ""))
        if letter := self.letters.get(id(node)):
            return Phrase(letter)
        for kind in type(node).__mro__:
            if sayer := SAYERS.get(kind.__name__):
                return sayer(self, node)
        return _anything_else(self, node)

    def text(self, node: Node) -> str:
        """Return the words for a node as text."""
        return self.say(node).text

    def within(self, query: Node) -> str:
        """Return the words for a query in brackets."""
        self.nested += 1
        text = self.text(query)
        self.nested -= 1
        return text


def node_class(name: str) -> Node:
    """Return a class of nodes by its name; sqlglot is imported when it is first needed."""
    from sqlglot import exp

    return getattr(exp, name)


def is_filler(node: Node) -> bool:
    """Return whether a node only completes the frame around a fragment."""
    return kind_of(node) in ("Column", "Table", "Identifier", "Anonymous") and node.name == FRAME


@says("Literal")
def _literal(_: Speaker, node: Node) -> Phrase:
    text = str(node.this)
    if node.is_string:
        return Phrase(quoted(text), literal=kind_of_text(text))
    return Phrase(text, literal="number")


@says("Null", "Boolean", "CurrentDate", "CurrentTime", "CurrentTimestamp", "Star", "Placeholder", "Parameter")
def _constant(speaker: Speaker, node: Node) -> Phrase:
    words = {
        "Null": "null",
        "CurrentDate": "the date of today",
        "CurrentTime": "the time of today",
        "CurrentTimestamp": "the date and time of today",
        "Star": "everything",
    }.get(kind_of(node), "something")
    if kind_of(node) == "Boolean":
        words = "true" if node.this else "false"
    return Phrase(speaker.wording.say(words))


@says("Column", "Identifier", "Var")
def _column(speaker: Speaker, node: Node) -> Phrase:
    """Return a name without its qualifiers, which are tables."""
    if kind_of(node.this) == "Star":
        return speaker.say(node.this)
    if node.name == FRAME:
        return Phrase("")
    if node.name == GAP:
        inside = kind_of(node.parent) == "Anonymous" if node.parent is not None else False
        return Phrase(speaker.wording.say("the figure") if inside else "something")
    words = speaker.names.words(node.name)
    return Phrase(f"the {words}" if words else "", counted=f"{{}} {words}" if is_counted(words) else "")


@says("Dot")
def _dot(speaker: Speaker, node: Node) -> Phrase:
    return speaker.say(node.expression)


@says("Paren")
def _paren(speaker: Speaker, node: Node) -> Phrase:
    inner = speaker.say(node.this)
    if inner.bond == ATOM or kind_of(node.this) == "Paren":
        return inner
    return Phrase(f"({inner.text})", ATOM, inner.condition)


@says("Tuple", "Array")
def _tuple(speaker: Speaker, node: Node) -> Phrase:
    items = [speaker.say(item) for item in node.expressions]
    words = enumerate_words([item.inside(LOOSE) for item in items])
    return Phrase(words if node.parent is None else f"({words})", LOOSE if node.parent is None else ATOM)


@says("Alias")
def _alias(speaker: Speaker, node: Node) -> Phrase:
    """Return what is named; its name only where the tree refers to it."""
    said = speaker.say(node.this)
    if node.alias.lower() not in speaker.referred or not said.text:
        return said
    name = speaker.names.words(node.alias)
    clear = said.bond < CHAIN or not ("," in said.text or said.condition)
    text = said.text if clear else f"({said.text})"
    return Phrase(f"{text} (called {name})", min(said.bond, LOOSE), said.condition)


@says(*ARITHMETIC)
def _arithmetic(speaker: Speaker, node: Node) -> Phrase:
    """Return operands joined by plus, minus, times and so on, in the order of the source."""
    words: list[str] = []
    operands = list(_operands(speaker, node))
    if len(operands) == 1:
        return operands[0][1]
    for at, (sign, operand) in enumerate(operands):
        words.append(ARITHMETIC.get(sign, ""))
        closed = operand.bond == PREFIX and at < len(operands) - 1
        words.append(f"({operand.text})" if closed else operand.inside(PREFIX))
    return Phrase(" ".join(filter(None, words)), CHAIN)


def _operands(speaker: Speaker, node: Node, sign: str = "") -> list[tuple[str, Phrase]]:
    """Return the operands of a chain, each with the operator before it."""
    if kind_of(node) not in ARITHMETIC:
        return [(sign, speaker.say(node))]
    if days := _days_apart(speaker, node):
        return [(sign, Phrase(days, LOOSE, counted=f"{{}} {days.removeprefix('the number of ')}"))]
    return [
        *_operands(speaker, node.this, sign),
        *_operands(speaker, node.expression, kind_of(node)),
    ]


def _days_apart(speaker: Speaker, node: Node) -> str:
    """Return the words for one Julian day minus another."""
    sides = (node.this, node.expression)
    if kind_of(node) != "Sub" or not all(call_name(one) == "JULIANDAY" and one.expressions for one in sides):
        return ""
    later, earlier = (speaker.text(one.expressions[0]) for one in sides)
    return days_between(later, earlier)


@says("Neg", "BitwiseNot")
def _negative(speaker: Speaker, node: Node) -> Phrase:
    return Phrase(f"minus {speaker.say(node.this).inside(PREFIX)}")


@says(*COMPARISONS)
def _comparison(speaker: Speaker, node: Node) -> Phrase:
    return _compared(speaker, node, negated=bool(node.args.get("negate")))


def _compared(speaker: Speaker, node: Node, negated: bool = False) -> Phrase:
    """Return how an amount, a date or a category is set against another one, as people say it."""
    kind, say = kind_of(node), speaker.wording.say
    left, right = speaker.say(node.this), speaker.say(node.expression)
    subject = side(left) or "it"
    if kind == "Is" and kind_of(node.expression) == "Null":
        return Phrase(f"{subject} {say(PRESENT if negated else MISSING)}", CHAIN, True)
    if left.counted and right.literal == "number" and kind in AMOUNTS:
        return _amount(left, f"{AMOUNTS[kind]} {right.text}")
    if kind == "EQ" and right.text == left.text and left.bond == ATOM and left.text.startswith("the "):
        return Phrase(f"{subject} is the same", CHAIN, True)
    words = COMPARISONS[kind]
    if right.literal:
        words = CONSTANTS.get(kind, words)
    if right.literal in ("date", "time"):
        words = (DATES if right.literal == "date" else TIMES).get(kind, words)
    if negated:
        words = {"is": "is not", "contains": "does not contain"}.get(
            words, words.replace("matches", "does not match")
        )
    return Phrase(f"{subject} {say(words)} {side(right) or 'something'}", CHAIN, True)


def _amount(what: Phrase, amount: str) -> Phrase:
    return Phrase(f"there are {what.counted.format(amount)}", CHAIN, True)


@says("Between")
def _between(speaker: Speaker, node: Node, negated: bool = False) -> Phrase:
    negated = negated or bool(node.args.get("negate"))
    what, low, high = (speaker.say(node.args[key]) for key in ("this", "low", "high"))
    if what.counted and not negated and low.literal == high.literal == "number":
        return _amount(what, f"between {low.text} and {high.text}")
    words = speaker.wording.say("is not between" if negated else "is between")
    return Phrase(f"{side(what) or 'it'} {words} {side(low)} and {side(high)}", CHAIN, True)


@says("In")
def _in(speaker: Speaker, node: Node, negated: bool = False) -> Phrase:
    subject = side(speaker.say(node.this)) or "it"
    negated = negated or bool(node.args.get("negate"))
    verb = "is not" if negated else "is"
    members = node.expressions
    query = node.args.get("query") or node.args.get("field")
    if query is None and len(members) == 1 and kind_of(members[0]) in ("Select", "Subquery"):
        query = members[0]
    if query is not None:
        return Phrase(f"{subject} {verb} among {_those(speaker, query, subject)}", CHAIN, True)
    said = [speaker.say(member).inside(LOOSE) for member in members]
    if len(said) == 1:
        return Phrase(f"{subject} {verb} {said[0]}", CHAIN, True)
    lead = "either" if len(said) == 2 and not negated else speaker.wording.say("one of")
    return Phrase(f"{subject} {verb} {lead} {enumerate_words(said, 'or')}", CHAIN, True)


def _those(speaker: Speaker, query: Node, subject: str) -> str:
    """Return what a subquery finds: "those where .." if it finds what the `subject` is."""
    inside = speaker.within(query.this if kind_of(query) == "Subquery" else query)
    if inside == subject:
        return "those worked out before"
    if inside.startswith((f"{subject} where ", f"{subject} of the ")):
        return f"those{inside[len(subject) :]}"
    if inside.startswith(f"{subject}; "):
        return f"those ({inside[len(subject) + 2 :]})"
    return f"({inside})"


@says("Not")
def _not(speaker: Speaker, node: Node) -> Phrase:
    inner, kind = node.this, kind_of(node.this)
    if kind == "Escape":
        inner, kind = inner.this, kind_of(inner.this)
    if kind == "In":
        return _in(speaker, inner, negated=True)
    if kind == "Between":
        return _between(speaker, inner, negated=True)
    if kind == "Is" or (kind in COMPARISONS and COMPARISONS[kind].startswith("matches")):
        return _compared(speaker, inner, negated=True)
    if kind == "Exists":
        return Phrase(speaker.text(inner).replace("at least one", "no", 1), CHAIN, True)
    return Phrase(f"not {speaker.say(inner).inside(LOOSE)}", CHAIN, True)


@says("Escape")
def _escape(speaker: Speaker, node: Node) -> Phrase:
    return speaker.say(node.this)


@says(*_CONNECTORS)
def _connected(speaker: Speaker, node: Node) -> Phrase:
    """Return conditions joined by "and" or by "or"; what "and" joins within "or" is put in brackets."""
    parts = list(node.flatten(unnest=False))
    said: list[str] = []
    for at, part in enumerate(parts):
        text = speaker.text(part)
        inner = kind_of(part) in _CONNECTORS or (at < len(parts) - 1 and runs_on(text))
        if text == "something":
            text = "something else"
        said.append(f"({text})" if inner else text)
    return Phrase(f" {_CONNECTORS[kind_of(node)]} ".join(filter(None, said)), CHAIN, True)


def call_name(node: Node) -> str:
    """Return the name of the function that a node calls, in upper case; empty if it calls none."""
    return str(node.this).upper() if kind_of(node) == "Anonymous" else ""


def key_words(speaker: Speaker, node: Node) -> str:
    """Return a sort or group key; a plain name goes without its article."""
    phrase = speaker.say(node)
    return phrase.text.removeprefix("the ") if phrase.bond == ATOM else phrase.inside(LOOSE)


def _anything_else(speaker: Speaker, node: Node) -> Phrase:
    """Return the words for a node that is too rare for the table: its name, and the words of its parts."""
    children = [speaker.say(child).inside(PREFIX) for child in node.iter_expressions()]
    words, inside = split_words(kind_of(node)), enumerate_words(list(filter(None, children)))
    return Phrase(speaker.wording.say("the {} of {}", words, inside) if inside else words, PREFIX)
