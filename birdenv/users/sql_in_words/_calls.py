"""Words for CASE, function calls, COUNT, CAST and EXTRACT, and window functions."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.users.sql_in_words._functions import function_words
from birdenv.users.sql_in_words._parse import Node, part_of
from birdenv.users.sql_in_words._phrases import (
    ATOM,
    CHAIN,
    LOOSE,
    PREFIX,
    Phrase,
    enumerate_words,
    phrases,
)
from birdenv.users.sql_in_words._tables import plural
from birdenv.users.sql_in_words._words import (
    Speaker,
    call_name,
    is_filler,
    kind_of,
    listed,
    node_class,
    says,
)

_WHOLE_NUMBERS = ("INT", "SERIAL")


@says("Case")
def _case(speaker: Speaker, node: Node) -> Phrase:
    """Return the words for CASE or IIF, or for a fragment that contains only a WHEN, THEN or ELSE."""
    subject = speaker.say(node.this).inside(LOOSE) if kind_of(node) == "Case" else ""
    parts: list[str] = []
    branches, default = branches_of(node)
    for at, (condition, outcome) in enumerate(branches):
        test, then = speaker.say(condition), speaker.say(outcome).inside(PREFIX)
        lists = kind_of(condition) == "In" and len(condition.expressions) > 1 and len(branches) > 1
        text = f"({test.text})" if lists else test.text
        if subject and text:
            verb = "is" if test.literal else "equals"
            text = f"{'it' if at else subject} {verb} {test.inside(LOOSE)}"
        if text or then:
            parts.append(f"{then} if {text}" if then and text else f"if {text}" if text else f"then {then}")
    if default is not None:
        parts.append(f"otherwise {speaker.say(default).inside(PREFIX)}")
    return Phrase(", ".join(parts), CHAIN)


def branches_of(node: Node) -> tuple[list[tuple[Node, Node]], Node | None]:
    """Return the branches of a CASE or IIF as pairs of condition and result, and the default result."""
    if kind_of(node) == "Case":
        return [(each.this, each.args["true"]) for each in node.args["ifs"]], node.args.get("default")
    test, outcome, *default = node.expressions
    return [(test, outcome)], default[0] if default else None


def is_conditional(node: Node) -> bool:
    """Return True if a node is an IIF, or a CASE without an operand."""
    if call_name(node) == "IIF":
        return len(node.expressions) in (2, 3)
    return kind_of(node) == "Case" and node.args.get("this") is None


@says("Anonymous")
def _call(speaker: Speaker, node: Node) -> Phrase:
    """Return the words for a function call, except CAST and EXTRACT, which have their own node classes."""
    name, arguments, order = call_name(node), list(node.expressions), ""
    if is_conditional(node):
        return _case(speaker, node)
    if name == "JSON_EXTRACT" and len(arguments) > 1:
        return _entry(speaker, arguments[0], arguments[1:])
    if arguments and kind_of(arguments[-1]) == "Order":
        order = f" ({speaker.text(arguments[-1])})"
        arguments[-1] = arguments[-1].this
    if name in ("SUM", "COUNT", "TOTAL") and len(arguments) == 1:
        if condition := _counted_condition(name, arguments[0]):
            return _cases_where(speaker, node, condition)
        if name == "COUNT" and not order:
            return _number_of(speaker, node, arguments[0])
    return function_words(name, [speaker.say(argument) for argument in arguments], order)


def _entry(speaker: Speaker, column: Node, paths: Sequence[Node]) -> Phrase:
    """Return the words for an entry in a JSON column: the names in its path."""
    outer = ""
    while call_name(column) == "JSON_EXTRACT" and len(column.expressions) == 2:
        column, outer = column.expressions[0], f"{column.expressions[1].name}.{outer}"
    names = [
        speaker.names.entry(column.name, outer + path.name) or speaker.text(path) for path in paths if path
    ]
    place = f" of the {speaker.names.words(column.name)}" if speaker.names.are_columns(names) else ""
    return Phrase(enumerate_words([f"the {name.removeprefix('the ')}" for name in names]) + place)


def _counted_condition(name: str, node: Node) -> Node | None:
    """Return the condition of SUM(CASE WHEN .. THEN 1 ELSE 0 END), or of COUNT without the ELSE."""
    if not is_conditional(node):
        return None
    [(condition, outcome), *others], default = branches_of(node)
    zero = default is None or kind_of(default) == "Null" if name == "COUNT" else _is_number(default, "0")
    return condition if zero and not others and _is_number(outcome, "1") else None


def _is_number(node: Node, number: str) -> bool:
    return kind_of(node) == "Literal" and not node.is_string and node.this == number


def _cases_where(speaker: Speaker, call: Node, condition: Node) -> Phrase:
    test = speaker.say(condition)
    where = f"{_counted_rows(speaker, call)} where {test.text if test.condition else f'{test.text} is true'}"
    return Phrase(f"the number of {where}", CHAIN, counted=f"{{}} {where}")


def _number_of(speaker: Speaker, call: Node, what: Node) -> Phrase:
    """Return the words for COUNT(..), such as "trips", "different titles" or "those with a rating"."""
    argument = speaker.say(what)
    name = argument.text.removeprefix("the ") if argument.bond == ATOM else argument.text
    if kind_of(what) == "Star":
        things = _counted_rows(speaker, call)
    elif kind_of(what) == "Distinct":
        things = argument.text if len(what.expressions) > 1 else plural(argument.text)
    elif name == argument.text:
        things = argument.inside(PREFIX)
    elif name.endswith(" id"):
        things = plural(name.removesuffix(" id"))
    else:
        things = f"those with {'an' if name[0] in 'aeiou' else 'a'} {name}"
    return Phrase(f"the number of {things}", PREFIX, counted=f"{{}} {things}")


def _counted_rows(speaker: Speaker, call: Node) -> str:
    """Return the noun for the rows that COUNT(*) counts: their table's name, or "cases"."""
    query = call.find_ancestor(node_class("Select"))
    source = part_of(query, "from") if query is not None else None
    if source is None or is_filler(source.this):
        return speaker.counted
    joined = any(not _looks_up(join) for join in query.args.get("joins") or ())
    if joined or kind_of(source.this) != "Table":
        return "cases"
    return speaker.table(source.this) or "cases"


def _looks_up(join: Node) -> bool:
    """Return whether a JOIN matches each row with one other row, because it uses the other table's id."""
    name, condition = join.this.name.lower(), join.args.get("on")
    stem = f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")
    if kind_of(condition) != "EQ":
        return False
    columns = [one.name.lower() for one in (condition.this, condition.expression)]
    return all(one.endswith("_id") for one in columns) and f"{stem}_id" in columns


@says("Distinct")
def _distinct(speaker: Speaker, node: Node) -> Phrase:
    items = [speaker.say(item).inside(PREFIX).removeprefix("the ") for item in node.expressions]
    return Phrase(f"different {enumerate_words(items)}", PREFIX)


@says("Cast", "TryCast")
def _cast(speaker: Speaker, node: Node) -> Phrase:
    """Return the words for a value without its type, except for a computed number cast to an integer."""
    inner = speaker.say(node.this)
    whole = any(part in str(node.to.this).upper() for part in _WHOLE_NUMBERS)
    if not whole or (inner.bond == ATOM and kind_of(node.this) != "Paren"):
        return inner
    return Phrase(f"{inner.inside(PREFIX)} as a whole number", LOOSE)


@says("Extract")
def _extract(speaker: Speaker, node: Node) -> Phrase:
    inner = speaker.say(node.expression).inside(PREFIX)
    return Phrase(f"the {node.this.name.lower()} of {inner}", PREFIX)


@says("Interval")
def _interval(_: Speaker, node: Node) -> Phrase:
    unit = node.args.get("unit")
    return Phrase(f"{node.name} {unit.name.lower()}" if unit is not None else node.name)


@says("Window")
def _window(speaker: Speaker, node: Node) -> Phrase:
    groups, said = node.args.get("partition_by"), speaker.say(node.this)
    words = [f"within each {listed(speaker, groups)}" if groups else ""]
    words += [speaker.text(node.args.get(key)) for key in ("order", "spec")]
    inside = "; ".join(filter(None, words))
    if inside:
        return Phrase(f"{said.text} ({inside})", LOOSE)
    return Phrase(said.text + (" within its groups" if node.args.get("alias") else " over everything"), LOOSE)


@says("WindowSpec")
def _frame(_: Speaker, node: Node) -> Phrase:
    """Return the words for a window frame, such as ROWS BETWEEN 6 PRECEDING AND CURRENT ROW."""
    text = str(node.sql()).lower()
    for sql, words in phrases("window frames").items():
        text = text.replace(sql, words)
    return Phrase(text)


@says("Filter")
def _filter(speaker: Speaker, node: Node) -> Phrase:
    return Phrase(f"{speaker.text(node.this)} ({speaker.within(node.expression)})", LOOSE)
