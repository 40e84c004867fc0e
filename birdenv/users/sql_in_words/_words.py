"""Words for expressions. A table contains one function for each class of syntax tree node.

The words follow the source from left to right and keep its brackets, so that precedence does not change.
`_calls` adds function calls to the table, and `_clauses` adds clauses and statements. The words for all other
nodes come from templates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final, TypeAlias, TypeVar

from birdenv.users.sql_in_words._functions import filled, kind_of_text
from birdenv.users.sql_in_words._names import GENERAL_WORDS, Names
from birdenv.users.sql_in_words._parse import FRAME, GAP, Node, kind_of, node_class, split_words
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
    bare,
    enumerate_words,
    quoted,
)
from birdenv.users.sql_in_words._tables import NO_SOURCES, Sources, is_counted, singular, table_noun

Sayer: TypeAlias = "Callable[[Speaker, Node], Phrase]"

_Sayer = TypeVar("_Sayer", bound=Sayer)

SAYERS: Final[dict[str, Sayer]] = {}
"""The functions that put nodes into words, by the name of the node's class."""

_CONNECTORS = {"And": " and ", "Or": " or "}
_PATTERNS = {kind for kind, words in COMPARISONS.items() if words.startswith("matches")}
_NEGATED = _PATTERNS | {"Is", "In", "Between", "Exists"}
"""The conditions whose words already include a NOT before them."""

_NEGATIONS = {"is": "is not", "matches": "does not match"}


def says(*kinds: str) -> Callable[[_Sayer], _Sayer]:
    """Register the decorated function to put nodes of these classes into words."""

    def enter(sayer: _Sayer) -> _Sayer:
        SAYERS.update(dict.fromkeys(kinds, sayer))
        return sayer

    return enter


class Speaker:
    """A translator from the nodes of one syntax tree to words.

    Args:
        tree: the syntax tree. An output column's alias is mentioned only if another part of the tree uses it.
        names: the everyday names of the columns.
        request: the request, which decides what tables may be named.
        sources: the tables in the statement that the tree is part of.
    """

    def __init__(self, tree: Node, names: Names, request: str, sources: Sources = NO_SOURCES) -> None:
        self.names, self.request, self.sources = names, request, sources
        self.steps = {step.alias.lower() for step in tree.find_all(node_class("CTE"))}
        self.nested = 0
        self.letters: dict[int, str] = {}
        columns = list(tree.find_all(node_class("Column"), bfs=False))
        self.referred = {node.name.lower() for node in columns}
        tables = tree.find_all(node_class("Table"))
        inner = {one.alias_or_name for one in tables if one.find_ancestor(node_class("Select")) is not tree}
        general = (node for node in reversed(columns) if node.name.lower() in GENERAL_WORDS)
        self.roles = {alias: role for alias, role in sources.roles.items() if alias not in inner}
        first = {node.table: node for node in general if node.table not in inner}
        self.owners = {
            id(node): f" of the {singular(noun)}"
            for alias, node in first.items()
            if (noun := self.table_noun(sources.tables.get(alias.lower(), "")))
        }

    def table_noun(self, name: str) -> str:
        """Return the plural noun for a table or a CTE, or an empty string if the user may not name it."""
        own = "" if name.lower() in self.steps else self.names.step(name)
        return table_noun(name, self.request, self.names.identifiers) or own

    def say(self, node: Node) -> Phrase:
        """Return the words for a node, or for a string that sqlglot uses in place of a node."""
        if node is None or isinstance(node, str):
            return Phrase(split_words(node or ""))
        if letter := self.letters.get(id(node)):
            return Phrase(letter)
        if sayer := SAYERS.get(kind_of(node)):
            return sayer(self, node)
        return filled(kind_of(node), [self.say(child) for child in node.iter_expressions()])

    def text(self, node: Node) -> str:
        """Return the words for a node as a string."""
        return self.say(node).text

    def within(self, query: Node) -> str:
        """Return the words for a subquery as a string."""
        self.nested += 1
        text = self.text(query)
        self.nested -= 1
        return text


@says("Literal")
def _literal(_: Speaker, node: Node) -> Phrase:
    if node.is_string:
        is_today = node.name == "now" and kind_of(node.parent) in ("Anonymous", "Cast")
        return Phrase("today" if is_today else quoted(node.name), literal=kind_of_text(node.name))
    return Phrase(node.name, literal="number")


@says("Neg")
def _negative(speaker: Speaker, node: Node) -> Phrase:
    return Phrase(f"minus {speaker.say(node.this).inside(PREFIX)}")


@says("Boolean")
def _boolean(_: Speaker, node: Node) -> Phrase:
    return Phrase(str(node.this).lower())


@says("Column", "Identifier", "Var")
def _column(speaker: Speaker, node: Node) -> Phrase:
    """Return the words for a column name, without the table before it."""
    if kind_of(node.this) == "Star":
        return speaker.say(node.this)
    if node.name == FRAME:
        return Phrase("")
    if node.name == GAP:
        return Phrase("the figure" if kind_of(node.parent) == "Anonymous" else "something")
    words = speaker.names.words(node.name) + speaker.owners.get(id(node), "")
    return Phrase(f"the {words}" if words else "", counted=words if is_counted(words) else "")


@says("Paren")
def _paren(speaker: Speaker, node: Node) -> Phrase:
    inner = speaker.say(node.this)
    if inner.bond == ATOM or kind_of(node.this) == "Paren":
        return inner
    return Phrase(f"({inner.text})", ATOM, inner.condition)


@says("Tuple", "Array")
def _tuple(speaker: Speaker, node: Node) -> Phrase:
    words = enumerate_words(speaker.say(item).inside(LOOSE) for item in node.expressions)
    return Phrase(words, LOOSE) if node.parent is None else Phrase(f"({words})")


@says("Alias")
def _alias(speaker: Speaker, node: Node) -> Phrase:
    """Return the words for an aliased expression, with the alias if the tree refers to it."""
    said = speaker.say(node.this)
    alias = speaker.names.words(node.alias)
    if (
        node.alias.lower() not in speaker.referred
        or not said.text
        or f" {alias} " in f"{said.text.replace(',', '')} "
    ):
        return said
    text = f"({said.text})" if said.condition or (said.bond == CHAIN and "," in said.text) else said.text
    return Phrase(f"{text} (called {alias})", min(said.bond, LOOSE), said.condition)


@says(*ARITHMETIC)
def _arithmetic(speaker: Speaker, node: Node) -> Phrase:
    """Return operands joined by plus, minus, times and so on, in the order of the source."""
    if _are_days(node):
        later, earlier = (speaker.text(day.expressions[0]) for day in (node.this, node.expression))
        days = f"days from {earlier} to {later}"
        return Phrase(f"the number of {days}", LOOSE, counted=days)
    *before, (sign, last) = _operands(speaker, node)
    words = [f"{sign} {operand.inside(ATOM)}" for sign, operand in before]
    return Phrase(" ".join([*words, sign, last.inside(PREFIX)]).strip(), CHAIN)


def _operands(speaker: Speaker, node: Node, sign: str = "") -> list[tuple[str, Phrase]]:
    """Return the operands of a chain, each with the words for the operator before it."""
    if kind_of(node) not in ARITHMETIC or _are_days(node):
        return [(sign, speaker.say(node))]
    return [
        *_operands(speaker, node.this, sign),
        *_operands(speaker, node.expression, ARITHMETIC[kind_of(node)]),
    ]


def _are_days(node: Node) -> bool:
    """Return True for one Julian day minus another."""
    return kind_of(node) == "Sub" and call_name(node.this) == call_name(node.expression) == "JULIANDAY"


def call_name(node: Node) -> str:
    """Return the name of the function that a node calls, in upper case; empty if the node is not a call."""
    return node.name.upper() if kind_of(node) == "Anonymous" else ""


@says(*COMPARISONS)
def _comparison(speaker: Speaker, node: Node) -> Phrase:
    """Return a comparison as people say it, which differs for amounts, dates and other things."""
    kind, left, right = kind_of(node), speaker.say(node.this), speaker.say(node.expression)
    if kind == "Is" and right.text == "null":
        return _condition(node, left.side, MISSING)
    if left.counted and right.literal == "number" and kind in AMOUNTS:
        text = f"there are {AMOUNTS[kind]} {right.text} {left.counted}"
        return Phrase(text, max(left.bond, LOOSE), condition=True)
    if kind_of(node.this) == "Column" and right.text == left.text:
        same = "is the same" if kind == "EQ" else f"{COMPARISONS[kind]} that of the other entry"
        return _condition(node, left.text, same)
    words = BY_LITERAL.get(right.literal, {}).get(kind, COMPARISONS[kind])
    return _condition(node, left.side, f"{words} {right.side}")


def _condition(node: Node, subject: str, predicate: str, bond: int = LOOSE) -> Phrase:
    """Return a condition, whose predicate is negated if the words include a NOT before it."""
    if kind_of(node) in _NEGATED and is_negated(node):
        verb, _, rest = predicate.partition(" ")
        predicate = PRESENT if predicate == MISSING else f"{_NEGATIONS[verb]} {rest}"
    return Phrase(f"{subject} {predicate}", bond, condition=True)


def is_negated(node: Node) -> bool:
    """Return True if a condition is negated, by a NOT around it or, since sqlglot 30, by a flag inside it."""
    return bool(node.args.get("negate")) or kind_of(node.parent) == "Not"


@says("Between")
def _between(speaker: Speaker, node: Node) -> Phrase:
    what, low, high = (speaker.say(node.args[key]).side for key in ("this", "low", "high"))
    return _condition(node, what, f"is between {low} and {high}")


@says("In")
def _in(speaker: Speaker, node: Node) -> Phrase:
    subject = speaker.say(node.this).side
    query = node.args.get("query") or node.args.get("field")
    if query is None:
        said = [speaker.say(member).inside(LOOSE) for member in node.expressions]
        lead = "either " if len(said) == 2 and not is_negated(node) else "one of " if len(said) > 1 else ""
        return _condition(node, subject, f"is {lead}{enumerate_words(said, 'or')}")
    inside = speaker.within(query.this if kind_of(query) == "Subquery" else query)
    rest = inside.removeprefix(subject)
    if rest.startswith((" where ", " of the ")):
        return _condition(node, subject, f"is among those{rest}", CHAIN)
    return _condition(node, subject, f"is among ({inside})" if rest else "is among those worked out before")


@says("Not")
def _not(speaker: Speaker, node: Node) -> Phrase:
    inner = speaker.say(node.this)
    if kind_of(node.this) in _NEGATED and not node.this.args.get("negate"):
        return inner
    return Phrase(f"not {inner.inside(PREFIX)}", LOOSE, condition=True)


@says(*_CONNECTORS)
def _connected(speaker: Speaker, node: Node) -> Phrase:
    """Return conditions joined by "and" or by "or", with brackets around an "and" within an "or"."""
    parts = (speaker.say(part).inside(LOOSE) for part in _with_lists(node))
    return Phrase(_CONNECTORS[kind_of(node)].join(filter(None, parts)), CHAIN, condition=True)


def _with_lists(node: Node) -> Iterator[Node]:
    """Yield connected conditions, with IN or NOT IN for a thing that is compared with several constants."""
    kind = "EQ" if kind_of(node) == "Or" else "NEQ"

    def compared(part: Node) -> str:
        return part.this.sql() if kind_of(part) == kind and kind_of(part.expression) == "Literal" else ""

    for thing, group in groupby(node.flatten(unnest=False), compared):
        parts = list(group)
        if thing and len(parts) > 1:
            members = [part.expression.copy() for part in parts]
            parts = [node_class("In")(this=parts[0].this.copy(), expressions=members, negate=kind == "NEQ")]
        yield from parts


def key_words(speaker: Speaker, node: Node) -> str:
    """Return the words for a sort or group key. If it is a plain name, it gets no article."""
    phrase = speaker.say(node)
    return bare(phrase.text) if phrase.bond == ATOM else phrase.inside(LOOSE)


def listed(speaker: Speaker, nodes: Iterable[Node]) -> str:
    """Return the words for sort or group keys as an enumeration."""
    return enumerate_words(key_words(speaker, node) for node in nodes)
