"""Words for CASE, function calls, COUNT, CAST, and window functions."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.users.sql_in_words._functions import filled
from birdenv.users.sql_in_words._parse import FRAME, Node, kind_of, node_class, part_of
from birdenv.users.sql_in_words._phrases import (
    ATOM,
    CHAIN,
    LOOSE,
    PREFIX,
    Phrase,
    bare,
    enumerate_words,
)
from birdenv.users.sql_in_words._tables import plural
from birdenv.users.sql_in_words._words import Speaker, call_name, listed, says

_WHOLE_NUMBERS = ("INT", "SERIAL")


@says("Case")
def _case(speaker: Speaker, node: Node) -> Phrase:
    """Return the words for CASE, or for a fragment that contains only an ELSE."""
    parts, before = list[str](), ""
    for branch in node.args["ifs"]:
        test, outcome = speaker.say(branch.this), speaker.say(branch.args["true"]).inside(PREFIX)
        verb = "is" if test.literal else "equals"
        subject = node.this or (branch.this.this if test.condition else None)
        compared, again = speaker.say(subject).side, before
        text = f"{compared} {verb} {test.inside(LOOSE)}" if node.this else test.text
        before = subject.sql() if subject is not None else ""
        if before and before == again and text.startswith(f"{compared} "):
            text = f"it{text.removeprefix(compared)}"
        parts += [f"{outcome} if {f'({text})' if kind_of(branch.this) == 'In' else text}"] * bool(text)
    if (default := node.args.get("default")) is not None:
        said = speaker.say(default).inside(PREFIX)
        parts.append(f"otherwise {said}" if parts else f"{said} for all others")
    return Phrase(", ".join(parts), CHAIN)


@says("Anonymous")
def _call(speaker: Speaker, node: Node) -> Phrase:
    """Return the words for a function call, except CAST and EXTRACT, which have their own node classes."""
    name, arguments = call_name(node), node.expressions
    if name == "JSON_EXTRACT" and len(arguments) > 1:
        return _entry(speaker, arguments[0], arguments[1:])
    if len(arguments) == 1 and (condition := _counted_condition(name, arguments[0])) is not None:
        return _cases_where(speaker, node, condition)
    if name == "COUNT" and len(arguments) == 1:
        return _number_of(speaker, node, arguments[0])
    return filled(name, [speaker.say(argument) for argument in arguments])


def _entry(speaker: Speaker, column: Node, paths: Sequence[Node]) -> Phrase:
    """Return the words for an entry in a JSON column: the names in its path."""
    outer = ""
    while call_name(column) == "JSON_EXTRACT" and len(column.expressions) == 2:
        column, outer = column.expressions[0], f"{column.expressions[1].name}.{outer}"
    names = [speaker.names.entry(column.name, outer + path.name) or speaker.text(path) for path in paths]
    return Phrase(enumerate_words(f"the {bare(name)}" for name in names))


_ZEROS = {"SUM": ("0",), "COUNT": ("", "NULL")}
"""The ELSE of a CASE that adds nothing to a sum or a count."""


def _counted_condition(name: str, node: Node) -> Node | None:
    """Return the condition of SUM(CASE WHEN .. THEN 1 ELSE 0 END), or of COUNT without the ELSE."""
    if name not in _ZEROS or kind_of(node) != "Case" or node.this is not None:
        return None
    [branch, *others], default = node.args["ifs"], node.args.get("default")
    zero = default.sql() if default is not None else ""
    counts = not others and branch.args["true"].sql() == "1" and zero in _ZEROS[name]
    return branch.this if counts else None


def _cases_where(speaker: Speaker, call: Node, condition: Node) -> Phrase:
    test = speaker.say(condition)
    where = f"{_counted_rows(speaker, call)} where {test.text}{' is true' * (not test.condition)}"
    return Phrase(f"the number of {where}", CHAIN, counted=where)


def _number_of(speaker: Speaker, call: Node, what: Node) -> Phrase:
    """Return the words for COUNT(..), such as "trips", "different titles" or "cases with a rating"."""
    argument = speaker.say(what)
    things, name = argument.inside(PREFIX), bare(argument.text)
    if kind_of(what) in ("Star", "Literal"):
        things = f"{'all ' * _is_divisor(call)}{_counted_rows(speaker, call)}"
    elif kind_of(what) == "Distinct":
        things = argument.text if len(what.expressions) > 1 else plural(argument.text)
    elif argument.bond == ATOM and name != things:
        with_ = f"cases with {'an' if name[0] in 'aeiou' else 'a'} {name}"
        role = speaker.roles.get(what.table.lower()) if kind_of(what) == "Column" else ""
        things = plural(name.removesuffix(" id")) if name.endswith(" id") else with_
        things += f" by {role}" if role else ""
    return Phrase(f"the number of {things}", PREFIX, counted=things)


def _is_divisor(call: Node) -> bool:
    """Return whether a count is what something is divided by, so that it counts all rows."""
    while kind_of(call.parent) in ("Paren", "Cast", "Anonymous", "Select", "Subquery"):
        call = call.parent
        if call.args.get("where"):
            return False
    return kind_of(call.parent) in ("Div", "IntDiv") and call.parent.expression is call


def _counted_rows(speaker: Speaker, call: Node) -> str:
    """Return the noun for the rows that COUNT(*) counts: their table's name, or "cases".

    In a subquery, the words for the joined tables follow at once: "loans matched with copies".
    """
    query = call.find_ancestor(node_class("Select"))
    source = part_of(query, "from") if query is not None else None
    table = speaker.sources.only if source is None or source.name == FRAME else source.name
    joined = query is not None and query.args.get("joins") and not speaker.nested
    return ("" if joined else speaker.table_noun(table)) or "cases"


@says("Cast", "TryCast")
def _cast(speaker: Speaker, node: Node) -> Phrase:
    """Return the words for a value without its type, except for a computed number cast to an integer."""
    inner = speaker.say(node.this)
    whole = any(part in str(node.to.this).upper() for part in _WHOLE_NUMBERS)
    if not whole or (inner.bond == ATOM and kind_of(node.this) != "Paren"):
        return inner
    return Phrase(f"{inner.inside(PREFIX)} as a whole number", LOOSE)


@says("Window")
def _window(speaker: Speaker, node: Node) -> Phrase:
    groups, said = node.args.get("partition_by"), speaker.text(node.this)
    words = ["within its groups" if node.args.get("alias") else ""]
    words += [f"within each {listed(speaker, groups)}" if groups else ""]
    words += [speaker.text(node.args.get(key)) for key in ("order", "spec")]
    return Phrase(f"{said} ({'; '.join(filter(None, words)) or 'over everything'})", LOOSE)


@says("WindowSpec")
def _frame(_: Speaker, node: Node) -> Phrase:
    return Phrase(f"over the {node.sql().lower()}")
