"""Words for expressions. A table contains one function for each class of syntax tree node.

The words follow the source from left to right and keep its brackets, so that precedence does not change.
`_calls` adds function calls to the table, and `_clauses` adds clauses and statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias, TypeVar

from birdenv.users.sql_in_words._functions import kind_of_text
from birdenv.users.sql_in_words._names import Names
from birdenv.users.sql_in_words._parse import FRAME, GAP, Node, split_words
from birdenv.users.sql_in_words._phrases import (
    AMOUNTS,
    ARITHMETIC,
    ATOM,
    BY_LITERAL,
    CHAIN,
    COMPARISONS,
    LOOSE,
    MISSING,
    PREFIX,
    PRESENT,
    Phrase,
    enumerate_words,
    phrases,
    quoted,
    runs_on,
    side,
)
from birdenv.users.sql_in_words._tables import is_counted

Sayer: TypeAlias = "Callable[[Speaker, Node], Phrase]"

_Sayer = TypeVar("_Sayer", bound=Sayer)

SAYERS: Final[dict[str, Sayer]] = {}
"""The functions that put nodes into words, by the name of the node's class."""

_CONNECTORS = {"And": "and", "Or": "or"}
_CONSTANTS = phrases("constants")
_PATTERNS = frozenset(kind for kind, words in COMPARISONS.items() if words.startswith("matches"))
_NEGATED = _PATTERNS | {"Is", "In", "Between", "Exists"}
"""The conditions whose words already include a NOT before them."""


def says(*kinds: str) -> Callable[[_Sayer], _Sayer]:
    """Register the decorated function to put nodes of these classes into words."""

    def enter(sayer: _Sayer) -> _Sayer:
        SAYERS.update(dict.fromkeys(kinds, sayer))
        return sayer

    return enter


def kind_of(node: Node) -> str:
    """Return the name of a node's class."""
    return type(node).__name__


class Speaker:
    """A translator from the nodes of one syntax tree to words.

    Args:
        tree: the syntax tree. An output column's alias is mentioned only if another part of the tree uses it.
        names: the everyday names of the columns.
        tables: the words for the tables that may be named, by table name in lower case.
        counted: the noun for the rows that COUNT(*) counts, if the tree does not show it; empty for the
            default, "cases".
    """

    def __init__(self, tree: Node, names: Names, tables: Mapping[str, str], counted: str = "") -> None:
        self.names = names
        self.tables = tables
        self.counted = counted or "cases"
        self.nested = 0
        self.letters: dict[int, str] = {}
        referred = {node.name.lower() for node in tree.find_all(node_class("Column"))}
        aliases = {node.alias.lower() for node in tree.find_all(node_class("Alias"))}
        self.referred = frozenset(referred & aliases)

    def say(self, node: Node) -> Phrase:
        """Return the words for a node, or for a string that sqlglot uses in place of a node."""
        if node is None or isinstance(node, str):
            return Phrase(split_words(node or ""))
        if letter := self.letters.get(id(node)):
            return Phrase(letter)
        for kind in type(node).__mro__:
            if sayer := SAYERS.get(kind.__name__):
                return sayer(self, node)
        return _anything_else(self, node)

    def text(self, node: Node) -> str:
        """Return the words for a node as a string."""
        return self.say(node).text

    def within(self, query: Node) -> str:
        """Return the words for a subquery as a string."""
        self.nested += 1
        text = self.text(query)
        self.nested -= 1
        return text

    def table(self, node: Node) -> str:
        """Return the words for a table, or an empty string if it may not be named."""
        return self.tables.get(str(getattr(node, "name", "")).lower(), "")


def node_class(name: str) -> Node:
    """Return a sqlglot node class by its name. sqlglot is imported on first use."""
    from sqlglot import exp

    return getattr(exp, name)


def is_filler(node: Node) -> bool:
    """Return True if a node was added only to complete a fragment to a statement."""
    return getattr(node, "name", "") == FRAME


SAYERS.update(
    {
        **dict.fromkeys(_CONSTANTS, lambda _, node: Phrase(_CONSTANTS[kind_of(node)])),
        "Boolean": lambda _, node: Phrase("true" if node.this else "false"),
        "Dot": lambda speaker, node: speaker.say(node.expression),
        "Escape": lambda speaker, node: speaker.say(node.this),
        "Neg": lambda speaker, node: Phrase(f"minus {speaker.say(node.this).inside(PREFIX)}"),
    }
)


@says("Literal")
def _literal(_: Speaker, node: Node) -> Phrase:
    text = str(node.this)
    if node.is_string:
        return Phrase(quoted(text), literal=kind_of_text(text))
    return Phrase(text, literal="number")


@says("Column", "Identifier", "Var")
def _column(speaker: Speaker, node: Node) -> Phrase:
    """Return the words for a column name, without the table before it."""
    if kind_of(node.this) == "Star":
        return speaker.say(node.this)
    if node.name == FRAME:
        return Phrase("")
    if node.name == GAP:
        return Phrase("the figure" if kind_of(node.parent) == "Anonymous" else "something")
    words = speaker.names.words(node.name)
    return Phrase(f"the {words}" if words else "", counted=f"{{}} {words}" if is_counted(words) else "")


@says("Paren")
def _paren(speaker: Speaker, node: Node) -> Phrase:
    inner = speaker.say(node.this)
    if inner.bond == ATOM or kind_of(node.this) == "Paren":
        return inner
    return Phrase(f"({inner.text})", ATOM, inner.condition)


@says("Tuple", "Array")
def _tuple(speaker: Speaker, node: Node) -> Phrase:
    words = enumerate_words([speaker.say(item).inside(LOOSE) for item in node.expressions])
    return Phrase(words, LOOSE) if node.parent is None else Phrase(f"({words})")


@says("Alias")
def _alias(speaker: Speaker, node: Node) -> Phrase:
    """Return the words for an aliased expression, with the alias if the tree refers to it."""
    said = speaker.say(node.this)
    if node.alias.lower() not in speaker.referred or not said.text:
        return said
    is_clear = said.bond < CHAIN or not ("," in said.text or said.condition)
    text = said.text if is_clear else f"({said.text})"
    return Phrase(f"{text} (called {speaker.names.words(node.alias)})", min(said.bond, LOOSE), said.condition)


@says(*ARITHMETIC)
def _arithmetic(speaker: Speaker, node: Node) -> Phrase:
    """Return operands joined by plus, minus, times and so on, in the order of the source."""
    *before, (sign, last) = _operands(speaker, node)
    if not before:
        return last
    words = [
        f"{sign} ({operand.text})" if operand.bond == PREFIX else f"{sign} {operand.inside(PREFIX)}"
        for sign, operand in before
    ]
    return Phrase(" ".join([*words, sign, last.inside(PREFIX)]).strip(), CHAIN)


def _operands(speaker: Speaker, node: Node, sign: str = "") -> list[tuple[str, Phrase]]:
    """Return the operands of a chain, each with the words for the operator before it."""
    if kind_of(node) not in ARITHMETIC:
        return [(sign, speaker.say(node))]
    if days := _days_apart(speaker, node):
        return [(sign, Phrase(days, LOOSE, counted=f"{{}} {days.removeprefix('the number of ')}"))]
    return [
        *_operands(speaker, node.this, sign),
        *_operands(speaker, node.expression, ARITHMETIC[kind_of(node)]),
    ]


def _days_apart(speaker: Speaker, node: Node) -> str:
    """Return the words for one Julian day minus another."""
    sides = (node.this, node.expression)
    if kind_of(node) != "Sub" or not all(call_name(one) == "JULIANDAY" and one.expressions for one in sides):
        return ""
    later, earlier = (speaker.text(one.expressions[0]) for one in sides)
    return f"the number of days from {earlier} to {later}".replace("'now'", "now")


@says(*COMPARISONS)
def _comparison(speaker: Speaker, node: Node) -> Phrase:
    """Return a comparison as people say it, which differs for amounts, dates and other things."""
    kind, left, right = kind_of(node), speaker.say(node.this), speaker.say(node.expression)
    subject, negated = side(left) or "it", kind in _NEGATED and is_negated(node)
    if kind == "Is" and kind_of(node.expression) == "Null":
        return Phrase(f"{subject} {PRESENT if negated else MISSING}", CHAIN, True)
    if left.counted and right.literal == "number" and kind in AMOUNTS:
        return _amount(left, f"{AMOUNTS[kind]} {right.text}")
    if kind == "EQ" and right.text == left.text and left.bond == ATOM and left.text.startswith("the "):
        return Phrase(f"{subject} is the same", CHAIN, True)
    words = BY_LITERAL.get(right.literal, {}).get(kind, COMPARISONS[kind])
    if negated:
        words = "is not" if kind == "Is" else words.replace("matches", "does not match")
    return Phrase(f"{subject} {words} {side(right) or 'something'}", CHAIN, True)


def is_negated(node: Node) -> bool:
    """Return True if a condition is negated, by a NOT around it or, since sqlglot 30, by a flag inside it."""
    return bool(node.args.get("negate")) or kind_of(node.parent) == "Not"


def _amount(what: Phrase, amount: str) -> Phrase:
    return Phrase(f"there are {what.counted.format(amount)}", CHAIN, True)


@says("Between")
def _between(speaker: Speaker, node: Node) -> Phrase:
    what, low, high = (speaker.say(node.args[key]) for key in ("this", "low", "high"))
    if what.counted and not is_negated(node) and low.literal == high.literal == "number":
        return _amount(what, f"between {low.text} and {high.text}")
    verb = "is not between" if is_negated(node) else "is between"
    return Phrase(f"{side(what) or 'it'} {verb} {side(low)} and {side(high)}", CHAIN, True)


@says("In")
def _in(speaker: Speaker, node: Node) -> Phrase:
    subject = side(speaker.say(node.this)) or "it"
    verb = "is not" if is_negated(node) else "is"
    query = node.args.get("query") or node.args.get("field")
    if query is not None:
        return Phrase(f"{subject} {verb} among {_those(speaker, query, subject)}", CHAIN, True)
    said = [speaker.say(member).inside(LOOSE) for member in node.expressions]
    if len(said) == 1:
        return Phrase(f"{subject} {verb} {said[0]}", CHAIN, True)
    lead = "either" if len(said) == 2 and verb == "is" else "one of"
    return Phrase(f"{subject} {verb} {lead} {enumerate_words(said, 'or')}", CHAIN, True)


def _those(speaker: Speaker, query: Node, subject: str) -> str:
    """Return the words for a subquery: "those where .." if it selects what the `subject` is."""
    inside = speaker.within(query.this if kind_of(query) == "Subquery" else query)
    rest = inside.removeprefix(subject)
    if not rest:
        return "those worked out before"
    return f"those{rest}" if rest.startswith((" where ", " of the ")) else f"({inside})"


@says("Not")
def _not(speaker: Speaker, node: Node) -> Phrase:
    inner = speaker.say(node.this)
    if kind_of(node.this) in _NEGATED and not node.this.args.get("negate"):
        return inner
    return Phrase(f"not {inner.inside(LOOSE)}", CHAIN, True)


@says(*_CONNECTORS)
def _connected(speaker: Speaker, node: Node) -> Phrase:
    """Return conditions joined by "and" or by "or", with brackets around an "and" within an "or"."""
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
    """Return the name of the function that a node calls, in upper case; empty if the node is not a call."""
    return str(node.this).upper() if kind_of(node) == "Anonymous" else ""


def key_words(speaker: Speaker, node: Node) -> str:
    """Return the words for a sort or group key. If it is a plain name, it gets no article."""
    phrase = speaker.say(node)
    return phrase.text.removeprefix("the ") if phrase.bond == ATOM else phrase.inside(LOOSE)


def listed(speaker: Speaker, nodes: Iterable[Node]) -> str:
    """Return the words for sort or group keys as an enumeration."""
    return enumerate_words(list(filter(None, (key_words(speaker, node) for node in nodes))))


def _anything_else(speaker: Speaker, node: Node) -> Phrase:
    """Return the words for a node whose class is not in the table: its name, and the words for its parts."""
    children = [speaker.say(child).inside(PREFIX) for child in node.iter_expressions()]
    words, inside = split_words(kind_of(node)), enumerate_words(list(filter(None, children)))
    return Phrase(f"the {words} of {inside}" if inside else words, PREFIX)
