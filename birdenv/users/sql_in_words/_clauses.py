"""Words for clauses and whole statements, in the order of the source.

Aliases are never named, tables only if the request mentions them, and CTEs only if another part defines them.
"""

from __future__ import annotations

from birdenv.users.sql_in_words import _calls  # noqa: F401 - it adds to the table
from birdenv.users.sql_in_words._parse import FRAME, Node, kind_of, node_class, part_of, split_words
from birdenv.users.sql_in_words._phrases import CHAIN, LOOSE, PREFIX, Phrase, bare, enumerate_words, phrases
from birdenv.users.sql_in_words._words import (
    Speaker,
    is_negated,
    key_words,
    listed,
    says,
)

_SET_OPERATIONS = phrases("set operations")
_JOINS = phrases("joins")
_FURTHER = ("where", "group", "having", "order", "limit", "offset")
_CONTINUES = ("where ", "of the ", "matched with ")
_CREATED = {"VIEW": "a saved view", "TABLE": "a new table", "INDEX": "an index"}


@says("Select")
def _select(speaker: Speaker, node: Node) -> Phrase:
    shown, source = _shown(speaker, node), _from(speaker, node)
    is_said = shown.endswith(source.replace("of the ", "the number of ", 1)) and source.startswith("of the ")
    return _clauses(speaker, node, shown, "" if is_said else source)


@says(*_SET_OPERATIONS)
def _set_operation(speaker: Speaker, node: Node) -> Phrase:
    repeats = "" if node.args.get("distinct") else " (repeats included)"
    left, right = speaker.text(node.this), speaker.within(node.expression)
    what = bare(left.removeprefix("show ")).partition(" of the ")[0]
    right = right.replace(f"the {what} of the ", "those of the ", 1)
    return _clauses(speaker, node, left, f"{_SET_OPERATIONS[kind_of(node)]}{repeats} {right}")


@says("Update", "Delete")
def _change(speaker: Speaker, node: Node) -> Phrase:
    changes = [
        f"set {speaker.text(change.this)} to {speaker.say(change.expression).inside(LOOSE)}"
        for change in node.expressions
    ]
    table = node.this.name if kind_of(node.this) == "Table" else ""
    words = enumerate_words(changes) or f"remove {speaker.table_noun(table) or 'entries'}"
    return _clauses(speaker, node, words, _from(speaker, node))


def _clauses(speaker: Speaker, node: Node, *words: str) -> Phrase:
    """Return the words for the CTEs of a statement, `words`, and the words for its other clauses."""
    ctes = part_of(node, "with")
    first = [f"first work out ({speaker.within(cte.this)})" for cte in (ctes.expressions if ctes else ())]
    more = [*(node.args.get("joins") or ()), *map(node.args.get, _FURTHER)]
    text = ""
    for part in filter(None, [*first, *words, *map(speaker.text, more)]):
        link = " " if part.startswith(_CONTINUES if speaker.nested else "of the ") else "; "
        text += f"{link}{part}" if text else part
    return Phrase(text or "out of all there is", LOOSE)


def _shown(speaker: Speaker, node: Node) -> str:
    """Return the words for the output columns: a request, or a noun in a subquery.

    A fragment can begin with the condition of a WHERE that it lacks.
    """
    said = [speaker.say(item) for item in node.expressions]
    if len(said) == 1 and said[0].condition and part_of(node, "from") is None:
        return f"only cases where {said[0].text}"
    items = ", ".join(filter(None, (item.inside(LOOSE) for item in said)))
    if node.args.get("distinct") is not None:
        if not items:
            return "only different ones"
        if items == "everything":
            return "show each entry only once" if not speaker.nested else "the different entries"
        listed = enumerate_words(filter(None, (item.inside(LOOSE) for item in said)))
        what = f"combination of {listed}" if len(said) > 1 else bare(items)
        items = f"the different {bare(items)}" if speaker.nested else f"each different {what} only once"
    return f"show {items}" if items and not speaker.nested else items


def _from(speaker: Speaker, node: Node) -> str:
    """Return the words for FROM: its subquery, or its table if no other clause shows what is meant."""
    source = part_of(node, "from")
    if source is None or source.name == FRAME:
        return ""
    if kind_of(source.this) != "Table":
        return f"out of {speaker.text(source.this)}"
    noun = speaker.table_noun(source.name)
    if not speaker.nested and not (node.expressions and kind_of(node.parent) in _SET_OPERATIONS):
        is_table = noun and not speaker.names.step(source.name)
        return f"out of all {noun}" if is_table and not node.expressions else ""
    counted = any(item.find(node_class("Star")) for item in node.expressions)
    return f"of the {noun}" if noun and not counted else ""


@says("Table")
def _table(speaker: Speaker, node: Node) -> Phrase:
    """Return the words for a table, or for a function in its place."""
    function = kind_of(node.this) == "Anonymous"
    return speaker.say(node.this) if function else Phrase(speaker.table_noun(node.name) or "further entries")


@says("Subquery")
def _subquery(speaker: Speaker, node: Node) -> Phrase:
    return Phrase(f"({speaker.within(node.this)})")


@says("Where", "Having")
def _where(speaker: Speaker, node: Node) -> Phrase:
    lead = "only those " if kind_of(node) == "Having" else "" if speaker.nested else "only cases "
    return Phrase(f"{lead}where {speaker.text(node.this)}", PREFIX)


@says("Join")
def _join(speaker: Speaker, node: Node) -> Phrase:
    words = f"matched with {speaker.text(node.this)}"
    condition, columns = node.args.get("on"), node.args.get("using")
    if condition is not None:
        text = speaker.text(condition)
        same = bare(text).removesuffix(" is the same")
        words += f" by {same}" if kind_of(condition) == "EQ" and same != bare(text) else f" where {text}"
    elif columns:
        words += f" by {listed(speaker, columns)}"
    return Phrase(words + _JOINS.get(node.side, "") + _JOINS.get(node.kind, ""), LOOSE)


@says("Order")
def _order(speaker: Speaker, node: Node) -> Phrase:
    """Return the sort keys. A key that only places missing values is combined with the next key."""
    words, places = list[str](), dict[Node, str]()
    for key in node.expressions:
        if found := _place_of_missing(key):
            places |= found
        else:
            place = places.pop(key.this, "")
            words.append(speaker.text(key) + place)
    words += map(str.strip, places.values())
    text = f"sorted by {', then by '.join(words)}"
    return Phrase(f"{speaker.text(node.this)} ({text})" if node.this else text, LOOSE)


@says("Ordered")
def _ordered(speaker: Speaker, node: Node) -> Phrase:
    the = "the " * (id(node.this) in speaker.owners)
    words = f"{the}{key_words(speaker, node.this)} in {'de' if node.args.get('desc') else 'a'}scending order"
    place = _with_missing(node.args.get("nulls_first")) if node.args.get("written") else ""
    return Phrase(words + place, LOOSE)


def _with_missing(are_first: bool) -> str:
    return f" with missing ones {'first' if are_first else 'last'}"


def _place_of_missing(key: Node) -> dict[Node, str]:
    """Return the column of a sort key that only places missing values, and the words for their place.

    Such a key is `x IS NULL`, or `CASE WHEN x IS NULL THEN 1 ELSE 0 END`.
    """
    test, are_last = key.this.unnest(), not key.args.get("desc")
    if kind_of(test) == "Case" and len(test.args["ifs"]) == 1:
        [branch], default = test.args["ifs"], test.args.get("default")
        values = [branch.args["true"].sql(), default.sql() if default is not None else ""]
        if sorted(values) != ["0", "1"]:
            return {}
        test, are_last = branch.this, are_last == (values == ["1", "0"])
    test = test.this if kind_of(test) == "Not" else test
    if kind_of(test) != "Is" or kind_of(test.expression) != "Null":
        return {}
    return {test.this: _with_missing(are_last == is_negated(test))}


@says("Exists")
def _exists(speaker: Speaker, node: Node) -> Phrase:
    inner = speaker.within(node.this).strip("()")
    for shown in ("1 ", "everything ", "the "):
        inner = inner.removeprefix(shown)
    return Phrase(f"there is {'no' if is_negated(node) else 'at least one'} {inner}", CHAIN, condition=True)


@says("Create")
def _create(speaker: Speaker, node: Node) -> Phrase:
    """Return the words for a new view, table or index, with the query that it holds."""
    kind, query, name = str(node.kind), node.args.get("expression"), node.this.find(node_class("Identifier"))
    words = f"make {_CREATED.get(kind, f'a {split_words(kind)}')} called {name.name if name else ''}"
    if query:
        return Phrase(f"{words} that holds the following; {speaker.text(query)}", LOOSE)
    return Phrase(words + ", unless there is one" * bool(node.args.get("exists")), LOOSE)
