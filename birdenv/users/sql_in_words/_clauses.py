"""Words for clauses and whole statements, in the order of the source.

Aliases and CTEs are never named, and tables only if the request mentions them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from birdenv.users.sql_in_words._calls import branches_of, is_conditional
from birdenv.users.sql_in_words._parse import FRAME, LexicalUnit, Node, part_of, split_words
from birdenv.users.sql_in_words._phrases import ATOM, LOOSE, PREFIX, Phrase, enumerate_words, phrases
from birdenv.users.sql_in_words._words import (
    Speaker,
    is_filler,
    is_negated,
    key_words,
    kind_of,
    listed,
    node_class,
    says,
)

_SAME_NAME = re.compile(r"the ([\w ]{1,80}) is the same")
_SET_OPERATIONS = phrases("set operations")
_JOINS = phrases("joins")
_CONTINUES = ("where ", "of the ", "matched with ")
_CREATED = {"view": "a saved view", "table": "a new table", "index": "an index"}


_OF_CLAUSES: dict[str, Callable[[Speaker, Node], str]] = {
    "Where": lambda say, node: f"{'where' if say.nested else 'only cases where'} {say.text(node.this)}",
    "Group": lambda say, node: f"grouped by {listed(say, node.expressions)}",
    "Having": lambda say, node: f"only those where {say.text(node.this)}",
    "Limit": lambda say, node: f"limited to the first {say.text(node.expression)}",
    "Offset": lambda say, node: f"after skipping the first {say.text(node.expression)}",
    "Subquery": lambda say, node: f"({say.within(node.this)})",
    "Any": lambda say, node: f"any of {say.text(node.this)}",
    "All": lambda say, node: f"all of {say.text(node.this)}",
    "Values": lambda say, node: f"holding {enumerate_words([say.text(row) for row in node.expressions])}",
    "ColumnDef": lambda say, node: f"the {say.names.words(node.name)}",
}
"""Templates for clauses that a single phrase can express."""

_BONDS = {"Subquery": ATOM, "ColumnDef": ATOM, "Any": PREFIX, "All": PREFIX}


@says(*_OF_CLAUSES)
def _clause(speaker: Speaker, node: Node) -> Phrase:
    kind = kind_of(node)
    return Phrase(_OF_CLAUSES[kind](speaker, node), _BONDS.get(kind, LOOSE))


@says("Select")
def _select(speaker: Speaker, node: Node) -> Phrase:
    parts = [
        _with(speaker, node),
        _shown(speaker, node),
        _from(speaker, node),
        *(speaker.text(join) for join in node.args.get("joins") or ()),
        *_filters(speaker, node),
    ]
    if not speaker.nested:
        return _clauses(parts)
    text = ""
    for part in filter(None, parts):
        text += (" " if part.startswith(_CONTINUES) else "; ") * bool(text) + part
    return Phrase(text, LOOSE)


def _clauses(parts: Iterable[str]) -> Phrase:
    return Phrase("; ".join(filter(None, parts)), LOOSE)


def _shown(speaker: Speaker, node: Node) -> str:
    """Return the words for the output columns: a request, or a noun in a subquery."""
    show, distinct = "" if speaker.nested else "show ", node.args.get("distinct")
    items = ", ".join(speaker.say(item).inside(LOOSE) for item in node.expressions if not is_filler(item))
    if distinct is None:
        return show + items if items else ""
    if not items:
        return "only different ones"
    if (keys := distinct.args.get("on")) is not None:
        once = f"once for each different {listed(speaker, keys.expressions)}"
        return f"{show}{once}, {items.removeprefix('the ')}"
    return f"{show}the different {items.removeprefix('the ')}"


def _from(speaker: Speaker, node: Node) -> str:
    """Return the words for FROM: its subquery, or its table if no other clause shows what is meant."""
    source = part_of(node, "from")
    if source is None or is_filler(source.this):
        return ""
    if text := _source(speaker, source.this):
        return f"out of {text}"
    noun = speaker.table(source.this)
    if all(map(is_filler, node.expressions)) and not speaker.nested:
        return f"out of all {noun or 'there is'}"
    starred = any("Star" in map(kind_of, item.walk()) for item in node.expressions)
    return f"of the {noun}" if noun and speaker.nested and not starred else ""


def _source(speaker: Speaker, node: Node) -> str:
    """Return the words for a subquery or a table function, or an empty string for a table."""
    if kind_of(node) == "Table":
        return speaker.text(node.this) if kind_of(node.this) == "Anonymous" else ""
    return speaker.text(node)


@says("Join")
def _join(speaker: Speaker, node: Node) -> Phrase:
    words = f"matched with {_source(speaker, node.this) or speaker.table(node.this) or 'further entries'}"
    if is_filler(node.this) and not node.side and not node.kind:
        words = ""
    if (condition := node.args.get("on")) is not None:
        text = speaker.text(condition)
        same = _SAME_NAME.fullmatch(text)
        words += f" by {same[1]}" if same else f" where {text}"
    elif columns := node.args.get("using"):
        words += f" with the same {listed(speaker, columns)}"
    return Phrase(words.strip() + _JOINS.get(node.side, "") + _JOINS.get(node.kind, ""), LOOSE)


def _filters(speaker: Speaker, node: Node) -> Iterator[str]:
    for key in ("where", "group", "having", "order", "limit", "offset"):
        yield speaker.text(node.args.get(key))


@says("Order")
def _order(speaker: Speaker, node: Node) -> Phrase:
    """Return the sort keys. A key that only places missing values is combined with the next key."""
    words, places = list[str](), dict[Node, str]()
    for key in node.expressions:
        if found := _place_of_missing(key):
            places |= found
        else:
            place = places.pop(key.this, "")
            words.append(speaker.text(key) + f" with missing ones {place}" * bool(place))
    words += [f"missing ones {place}" for place in places.values()]
    return Phrase(f"sorted by {', then by '.join(filter(None, words))}", LOOSE)


@says("Ordered")
def _ordered(speaker: Speaker, node: Node) -> Phrase:
    words = f"{key_words(speaker, node.this)} in {'de' if node.args.get('desc') else 'a'}scending order"
    if node.args.get("written"):
        words += f" with missing ones {'first' if node.args.get('nulls_first') else 'last'}"
    return Phrase(words.strip(), LOOSE)


def _place_of_missing(key: Node) -> dict[Node, str]:
    """Return the column of a sort key that only places missing values, and where it places them.

    Such a key is `x IS NULL`, or `CASE WHEN x IS NULL THEN 1 ELSE 0 END`.
    """
    test, last = key.this.unnest(), not key.args.get("desc")
    if is_conditional(test):
        [(test, value), *others], default = branches_of(test)
        values = value.name, default.name if default is not None else ""
        if others or sorted(values) != ["0", "1"]:
            return {}
        last = last == (values == ("1", "0"))
    test = test.this if kind_of(test) == "Not" else test
    if kind_of(test) != "Is" or kind_of(test.expression) != "Null":
        return {}
    return {test.this: "first" if last == is_negated(test) else "last"}


@says(*_SET_OPERATIONS)
def _set_operation(speaker: Speaker, node: Node) -> Phrase:
    words = _SET_OPERATIONS[kind_of(node)]
    if not node.args.get("distinct"):
        words += " (repeats included)"
    both = [speaker.text(node.this), words, speaker.text(node.expression)]
    return _clauses([_with(speaker, node), *both, *_filters(speaker, node)])


@says("Exists")
def _exists(speaker: Speaker, node: Node) -> Phrase:
    inner = speaker.within(node.this).strip("()")
    for shown in ("1 ", "everything ", "the "):
        inner = inner.removeprefix(shown)
    return Phrase(f"there is {'no' if is_negated(node) else 'at least one'} {inner}", LOOSE, True)


def _with(speaker: Speaker, node: Node) -> str:
    """Return the words for the CTEs, without their names."""
    found = part_of(node, "with")
    parts = []
    for cte in found.expressions if found is not None else ():
        parts.append(f"first work out ({speaker.within(cte.this)})")
    return "; ".join(parts)


@says("Insert")
def _insert(speaker: Speaker, node: Node) -> Phrase:
    columns = node.this.expressions if kind_of(node.this) == "Schema" else ()
    named = f" with {enumerate_words([speaker.text(one) for one in columns])}" if columns else ""
    added = [f"add entries{named}", speaker.text(node.expression)]
    return _clauses([_with(speaker, node), *added])


@says("Update")
def _update(speaker: Speaker, node: Node) -> Phrase:
    changes = [
        f"set {speaker.text(change.this)} to {speaker.say(change.expression).inside(LOOSE)}"
        for change in node.expressions
    ]
    filters = [_from(speaker, node), *_filters(speaker, node)]
    return _clauses([_with(speaker, node), enumerate_words(changes), *filters])


@says("Delete")
def _delete(speaker: Speaker, node: Node) -> Phrase:
    words = f"remove {speaker.table(node.this) or 'entries'}"
    return _clauses([_with(speaker, node), words, *_filters(speaker, node)])


@says("Create")
def _create(speaker: Speaker, node: Node) -> Phrase:
    target, kind = node.this, str(node.kind).lower()
    name = target.find(node_class("Identifier"))
    words = (
        f"make {_CREATED.get(kind, f'a {split_words(kind)}')} called {name.name if name is not None else ''}"
    )
    if kind == "index":
        words += _indexed(speaker, target)
    elif kind_of(target) == "Schema":
        words += f" with ({enumerate_words([speaker.text(one) for one in target.expressions])})"
    if node.args.get("exists"):
        words += " (do nothing if one of that name exists already)"
    if (query := node.args.get("expression")) is not None:
        words += f" that holds the following; {speaker.text(query)}"
    return Phrase(words, LOOSE)


def _indexed(speaker: Speaker, index: Node) -> str:
    """Return the words for the table and the columns of an index."""
    table, params = index.args.get("table"), index.args.get("params")
    place = speaker.table(table) if table is not None else ""
    columns = (params if params is not None else index).args.get("columns") or ()
    named = listed(speaker, (getattr(one, "this", one) for one in columns))
    return (f" on the {place}" if place else "") + (f" with the {named}" if named else "")


def hidden_names(tokens: Sequence[LexicalUnit], tree: Node | None) -> frozenset[str]:
    """Return the names of tables, aliases and CTEs, in lower case."""
    if tree is None:
        found = {
            one.text for one, after in pairwise(tokens) if one.kind in ("word", "quoted") and after.key == "."
        }
        return frozenset(map(str.lower, found))
    found = {node.name for node in tree.find_all(node_class("Table"))}
    found |= {node.alias_or_name for node in tree.find_all(node_class("TableAlias"), node_class("Window"))}
    for column in tree.find_all(node_class("Column")):
        found |= {column.text(part) for part in ("table", "db", "catalog")}
    return frozenset(name.lower() for name in found if name and name != FRAME)
