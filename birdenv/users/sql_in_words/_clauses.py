"""Words for clauses and whole statements, in the order of the source.

Tables, aliases and CTEs are not named, but for tables that the request speaks of: a lay user speaks of "the
records".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from birdenv.users.sql_in_words._calls import branches_of
from birdenv.users.sql_in_words._parse import FRAME, LexicalUnit, Node, part_of, split_words
from birdenv.users.sql_in_words._phrases import ATOM, LOOSE, PREFIX, Phrase, enumerate_words
from birdenv.users.sql_in_words._words import Speaker, is_filler, key_words, kind_of, node_class, says

_SAME_NAME = re.compile(r"the ([\w ]{1,80}) is the same")
_SET_OPERATIONS = {
    "Union": "together with",
    "Intersect": "but only what is also among",
    "Except": "but without",
}
_JOINS = {
    "LEFT": ", also keeping entries that have no match",
    "RIGHT": ", also keeping further entries that have no match",
    "FULL": ", also keeping what has no match on either side",
    "CROSS": " in every possible pairing",
    "INNER": ", keeping only entries that have a match",
}
_CONTINUES = ("where ", "of the ", "matched with ")


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
        return Phrase("; ".join(filter(None, parts)), LOOSE)
    text = ""
    for part in filter(None, parts):
        text += (" " if part.startswith(_CONTINUES) else "; ") * bool(text) + part
    return Phrase(text, LOOSE)


def _shown(speaker: Speaker, node: Node) -> str:
    """Return what is shown; within brackets it is a noun."""
    show, distinct = "" if speaker.nested else "show ", node.args.get("distinct")
    items = [speaker.say(item).inside(LOOSE) for item in node.expressions if not is_filler(item)]
    lead = show + "{}"
    if distinct is not None:
        if not items:
            return speaker.wording.say("only different ones")
        lead = show + "the different {}"
        items[0] = items[0].removeprefix("the ")
        if (keys := distinct.args.get("on")) is not None:
            names = enumerate_words([key_words(speaker, key) for key in keys.expressions])
            lead = f"{'show, ' if show else ''}once for each different {names}, {{}}"
    return speaker.wording.say(lead, ", ".join(items)) if items else ""


def _from(speaker: Speaker, node: Node) -> str:
    """Return the subqueries that a query reads, and the table where a fragment says nothing else."""
    source = part_of(node, "from")
    if source is None or is_filler(source.this):
        return ""
    if text := _source(speaker, source.this):
        return speaker.wording.say("out of {}", text)
    noun = speaker.wording.nouns.get(source.this.name.lower(), "")
    if all(map(is_filler, node.expressions)) and not speaker.nested:
        return speaker.wording.say("out of all {}", noun or "there is")
    starred = any("Star" in map(kind_of, item.walk()) for item in node.expressions)
    return f"of the {noun}" if noun and speaker.nested and not starred else ""


def _source(speaker: Speaker, node: Node) -> str:
    """Return a subquery or table function in words; nothing for a table."""
    if kind_of(node) == "Lateral":
        node = node.this
    if kind_of(node) == "Subquery":
        return f"({speaker.within(node.this)})"
    if kind_of(node) == "Table":
        return speaker.text(node.this) if kind_of(node.this) == "Anonymous" else ""
    return speaker.text(node)


@says("Join")
def _join(speaker: Speaker, node: Node) -> Phrase:
    say = speaker.wording.say
    source = _source(speaker, node.this) or speaker.wording.nouns.get(node.this.name.lower())
    words = (
        ""
        if is_filler(node.this) and not node.side and not node.kind
        else say("matched with {}", source or say("further entries"))
    )
    if (condition := node.args.get("on")) is not None:
        text = speaker.text(condition)
        same = _SAME_NAME.fullmatch(text)
        words += f" by {same[1]}" if same else f" where {text}"
    elif columns := node.args.get("using"):
        words += f" with the same {enumerate_words([key_words(speaker, one) for one in columns])}"
    endings = [say(_JOINS[side]) for side in (node.side, node.kind) if side in _JOINS]
    return Phrase(words.strip() + "".join(endings), LOOSE)


def _filters(speaker: Speaker, node: Node) -> Iterator[str]:
    for key in ("where", "group", "having", "windows", "order", "limit", "offset"):
        part = node.args.get(key)
        for one in part if isinstance(part, list) else [part]:
            yield speaker.text(one)


@says("Where")
def _where(speaker: Speaker, node: Node) -> Phrase:
    lead = "where" if speaker.nested else "only cases where"
    return Phrase(f"{speaker.wording.say(lead)} {speaker.text(node.this)}", LOOSE)


@says("Having")
def _having(speaker: Speaker, node: Node) -> Phrase:
    return Phrase(f"{speaker.wording.say('only those where')} {speaker.text(node.this)}", LOOSE)


@says("Group")
def _group(speaker: Speaker, node: Node) -> Phrase:
    keys = [key_words(speaker, key) for key in node.expressions]
    return Phrase(speaker.wording.say("grouped by {}", enumerate_words(list(filter(None, keys)))), LOOSE)


@says("Order")
def _order(speaker: Speaker, node: Node) -> Phrase:
    """Return the sort keys; one that only says where missing values go is said with the key that it is
    for.
    """
    say, places, keys = speaker.wording.say, dict[str, str](), list[tuple[Node, str]]()
    for key in node.expressions:
        found = _place_of_missing(key) if kind_of(key) == "Ordered" else None
        if found is not None:
            places[found[0].sql().lower()] = found[1]
    for key in node.expressions:
        if kind_of(key) != "Ordered" or _place_of_missing(key) is None:
            place = places.pop(getattr(key, "this", key).sql().lower(), "")
            keys.append((key, place))
    words = [
        f"{_sorted(speaker, key)}{say(f' with missing ones {place}') * bool(place)}" for key, place in keys
    ]
    words += [say("missing ones {}", place) for place in places.values()]
    return Phrase(say("sorted by {}", ", then by ".join(filter(None, words))), LOOSE)


def _sorted(speaker: Speaker, key: Node) -> str:
    if kind_of(key) != "Ordered":
        return f"{key_words(speaker, key)} {speaker.wording.say('in ascending order')}"
    words = speaker.wording.say("in descending order" if key.args.get("desc") else "in ascending order")
    if key.args.get("written"):
        words += speaker.wording.say(
            f" with missing ones {'first' if key.args.get('nulls_first') else 'last'}"
        )
    return f"{key_words(speaker, key.this)} {words}".strip()


@says("Ordered")
def _ordered(speaker: Speaker, node: Node) -> Phrase:
    return Phrase(_sorted(speaker, node), LOOSE)


def _place_of_missing(key: Node) -> tuple[Node, str] | None:
    """Return what `x IS NULL` or `CASE WHEN x IS NULL THEN 1 ELSE 0 END` as a sort key is about, and the
    place.
    """
    test, last = key.this, not key.args.get("desc")
    while kind_of(test) == "Paren":
        test = test.this
    if kind_of(test) in ("Case", "If"):
        branches, default = branches_of(test)
        values = [branches[0][1].name, default.name if default is not None else ""]
        if len(branches) != 1 or (test.args.get("this") is not None and kind_of(test) == "Case"):
            return None
        if not all(value.isdigit() for value in values) or values[0] == values[1]:
            return None
        test, last = branches[0][0], last == (values[0] > values[1])
    if kind_of(test) == "Not":
        test, last = test.this, not last
    if test.args.get("negate"):  # NOT within the node, since version 30
        last = not last
    if kind_of(test) != "Is" or kind_of(test.expression) != "Null":
        return None
    return test.this, "last" if last else "first"


@says("Limit", "Fetch")
def _limit(speaker: Speaker, node: Node) -> Phrase:
    count = node.args.get("count") or node.expression
    return Phrase(speaker.wording.say("limited to the first {}", speaker.text(count) or "one"), LOOSE)


@says("Offset")
def _offset(speaker: Speaker, node: Node) -> Phrase:
    return Phrase(speaker.wording.say("after skipping the first {}", speaker.text(node.expression)), LOOSE)


@says(*_SET_OPERATIONS)
def _set_operation(speaker: Speaker, node: Node) -> Phrase:
    words = speaker.wording.say(_SET_OPERATIONS[kind_of(node)])
    if not node.args.get("distinct"):
        words += speaker.wording.say(" (repeats included)")
    both = [speaker.text(node.this), words, speaker.text(node.expression)]
    return Phrase("; ".join(filter(None, [_with(speaker, node), *both, *_filters(speaker, node)])), LOOSE)


@says("Subquery")
def _subquery(speaker: Speaker, node: Node) -> Phrase:
    return Phrase(f"({speaker.within(node.this)})")


@says("Exists")
def _exists(speaker: Speaker, node: Node) -> Phrase:
    inner = speaker.within(node.this).strip("()").removeprefix("1 ").removeprefix("everything ")
    return Phrase(f"there is at least one {inner}", LOOSE, True)


@says("Any", "All")
def _quantified(speaker: Speaker, node: Node) -> Phrase:
    return Phrase(f"{kind_of(node).lower()} of {speaker.text(node.this)}", PREFIX)


def _with(speaker: Speaker, node: Node) -> str:
    """Return the CTEs, whose names are kept back."""
    found = part_of(node, "with")
    parts = []
    for cte in found.expressions if found is not None else ():
        names = cte.args["alias"].args.get("columns") or ()
        columns = f" (called {enumerate_words([key_words(speaker, one) for one in names])})" if names else ""
        parts.append(speaker.wording.say("first work out{} ({})", columns, speaker.within(cte.this)))
    return "; ".join(parts)


@says("Insert")
def _insert(speaker: Speaker, node: Node) -> Phrase:
    columns = node.this.expressions if kind_of(node.this) == "Schema" else ()
    named = f" with {enumerate_words([speaker.text(one) for one in columns])}" if columns else ""
    parts = [_with(speaker, node), speaker.wording.say("add entries{}", named), speaker.text(node.expression)]
    return Phrase("; ".join(filter(None, [*parts, _returned(speaker, node)])), LOOSE)


@says("Values")
def _values(speaker: Speaker, node: Node) -> Phrase:
    rows = [speaker.text(row) for row in node.expressions]
    return Phrase(speaker.wording.say("holding {}", enumerate_words(rows)), LOOSE)


@says("Update")
def _update(speaker: Speaker, node: Node) -> Phrase:
    changes = []
    for change in node.expressions:
        amount = speaker.say(change.expression).inside(LOOSE)
        changes.append(speaker.wording.say("set {} {}", speaker.text(change.this), f"to {amount}"))
    parts = [_with(speaker, node), enumerate_words(changes), _from(speaker, node), *_filters(speaker, node)]
    return Phrase("; ".join(filter(None, [*parts, _returned(speaker, node)])), LOOSE)


@says("Delete")
def _delete(speaker: Speaker, node: Node) -> Phrase:
    noun = speaker.wording.nouns.get(node.this.name.lower(), "") if node.this else ""
    words = f"remove {noun}" if noun else speaker.wording.say("remove entries")
    parts = [_with(speaker, node), words, *_filters(speaker, node), _returned(speaker, node)]
    return Phrase("; ".join(filter(None, parts)), LOOSE)


def _returned(speaker: Speaker, node: Node) -> str:
    found = node.args.get("returning")
    if found is None:
        return ""
    items = enumerate_words([speaker.say(one).inside(LOOSE) for one in found.expressions])
    return speaker.wording.say("then show {}", items)


@says("Create")
def _create(speaker: Speaker, node: Node) -> Phrase:
    target, kind, say = node.this, str(node.kind).lower(), speaker.wording.say
    name = target.find(node_class("Identifier"))
    article = "an" if kind[:1] in ("a", "e", "i", "o", "u") else "a"
    noun = {"view": "a saved view", "table": "a new table"}.get(kind, f"{article} {split_words(kind)}")
    words = say("make {} called {}", say(noun), name.name if name is not None else "")
    if kind == "index":
        table, params = target.args.get("table"), target.args.get("params")
        place = speaker.wording.nouns.get(table.name.lower(), "") if table is not None else ""
        words += say(" on the {}", place) if place else ""
        columns = (params.args.get("columns") if params is not None else target.args.get("columns")) or ()
        named = enumerate_words([key_words(speaker, getattr(one, "this", one)) for one in columns])
        words += f" with the {named}" if named else ""
    elif kind_of(target) == "Schema":
        words += f" with ({enumerate_words([speaker.text(one) for one in target.expressions])})"
    if node.args.get("exists"):
        words += say(" (do nothing if one of that name exists already)")
    if (query := node.args.get("expression")) is not None:
        words += say(" that holds the following") + f"; {speaker.text(query)}"
    return Phrase(words, LOOSE)


@says("ColumnDef")
def _column_definition(speaker: Speaker, node: Node) -> Phrase:
    return Phrase(f"the {speaker.names.words(node.name)}", ATOM)


def hidden_names(tokens: Sequence[LexicalUnit], tree: Node | None) -> frozenset[str]:
    """Return the names of tables, aliases and CTEs, in lower case."""
    if tree is None:
        found = {
            one.text for one, after in pairwise(tokens) if one.kind in ("word", "quoted") and after.key == "."
        }
        return frozenset(map(str.lower, found))
    found = {table.name for table in tree.find_all(node_class("Table"))}
    found |= {alias.name for alias in tree.find_all(node_class("TableAlias"))}
    found |= {window.alias for window in tree.find_all(node_class("Window"))}
    for column in tree.find_all(node_class("Column")):
        found |= {column.text(part) for part in ("table", "db", "catalog")}
    return frozenset(name.lower() for name in found if name and name != FRAME)
