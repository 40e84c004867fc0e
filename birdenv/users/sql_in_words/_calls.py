"""Words for what encloses its parts: CASE, function calls, COUNT, CAST and EXTRACT, windows."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.users.sql_in_words._functions import (
    cut_of_date,
    function_words,
    joins_with_comma,
    needs_brackets,
    takes_atoms,
)
from birdenv.users.sql_in_words._names import plural
from birdenv.users.sql_in_words._parse import Node, part_of, split_words
from birdenv.users.sql_in_words._phrases import (
    ATOM,
    CHAIN,
    FRAME_WORDS,
    LOOSE,
    PREFIX,
    Phrase,
    enumerate_words,
)
from birdenv.users.sql_in_words._words import (
    Speaker,
    call_name,
    is_filler,
    key_words,
    kind_of,
    node_class,
    says,
)

_WHOLE_NUMBERS = ("INT", "SERIAL")


@says("Case", "If")
def _case(speaker: Speaker, node: Node) -> Phrase:
    """Return CASE, also one of which a fragment has only a WHEN, THEN or ELSE."""
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
    """Return the conditions of CASE, IF or IIF with their results, and the result otherwise."""
    if call_name(node) in ("IIF", "IF"):
        test, *outcomes = node.expressions
        return [(test, outcomes[0])], outcomes[1] if len(outcomes) > 1 else None
    if kind_of(node) == "If":
        return [(node.this, node.args["true"])], node.args.get("false")
    return [(each.this, each.args["true"]) for each in node.args["ifs"]], node.args.get("default")


@says("Anonymous")
def _call(speaker: Speaker, node: Node) -> Phrase:
    """Return a function by its name: the dialect of fragments knows none but CAST and EXTRACT."""
    name, arguments = call_name(node), list(node.expressions)
    if is_filler(node):
        return Phrase("")
    if name in ("IIF", "IF") and len(arguments) in (2, 3):
        return _case(speaker, node)
    if name == "JSON_EXTRACT" and len(arguments) > 1:
        return _entry(speaker, arguments[0], arguments[1:])
    extra = ""
    if arguments and kind_of(arguments[-1]) == "Order":
        extra = f" ({speaker.text(arguments[-1])})"
        arguments[-1:] = [arguments[-1].this] if arguments[-1].this is not None else []
    if name in ("SUM", "COUNT", "TOTAL") and len(arguments) == 1:
        if condition := _counted_condition(name, arguments[0]):
            return _cases_where(speaker, node, condition)
        if name == "COUNT" and not extra:
            return _number_of(speaker, node, arguments[0])
    return _function(speaker, name, [speaker.say(argument) for argument in arguments], extra)


def _function(speaker: Speaker, name: str, arguments: Sequence[Phrase], extra: str = "") -> Phrase:
    count, comma = len(arguments), joins_with_comma(name, len(arguments))
    texts = [
        argument.text
        if comma and not at and ", " not in argument.text
        else argument.inside(ATOM if takes_atoms(name) else PREFIX)
        for at, argument in enumerate(arguments)
    ]
    if template := cut_of_date(name, texts):
        return Phrase(speaker.wording.say(template, texts[name == "STRFTIME"]), PREFIX)
    words = function_words(speaker.wording, name, texts) + extra
    if name == "SUM" and count == 1 and arguments[0].counted and not extra:
        return Phrase(words, PREFIX, counted=f"{arguments[0].counted} in total")
    loose = needs_brackets(name, count) or bool(extra)
    return Phrase(words, CHAIN if comma else LOOSE if loose else PREFIX)


def _entry(speaker: Speaker, column: Node, paths: Sequence[Node]) -> Phrase:
    """Return an entry of a JSON object, called by the names in its path: the column is where it is kept."""
    outer = ""
    while call_name(column) == "JSON_EXTRACT" and len(column.expressions) == 2:
        column, outer = column.expressions[0], f"{column.expressions[1].name}.{outer}"
    names = [
        speaker.names.entry(column.name, outer + path.name) or speaker.text(path) for path in paths if path
    ]
    place = f" of the {speaker.names.words(column.name)}" if speaker.names.are_columns(names) else ""
    return Phrase(enumerate_words([f"the {name.removeprefix('the ')}" for name in names]) + place)


@says("JSONExtract", "JSONExtractScalar")
def _json(speaker: Speaker, node: Node) -> Phrase:
    return _entry(speaker, node.this, [node.expression])


def _counted_condition(name: str, node: Node) -> Node | None:
    """Return the condition of SUM(CASE WHEN .. THEN 1 ELSE 0 END), or of COUNT without the ELSE."""
    if kind_of(node) not in ("Case", "If") and call_name(node) not in ("IIF", "IF"):
        return None
    if kind_of(node) == "Case" and node.this is not None:
        return None
    branches, default = branches_of(node)
    zero = default is None or kind_of(default) == "Null" if name == "COUNT" else _is_number(default, "0")
    return branches[0][0] if len(branches) == 1 and zero and _is_number(branches[0][1], "1") else None


def _is_number(node: Node | None, number: str) -> bool:
    return node is not None and kind_of(node) == "Literal" and not node.is_string and node.this == number


def _cases_where(speaker: Speaker, call: Node, condition: Node) -> Phrase:
    test = speaker.say(condition)
    where = f"{source_noun(speaker, call)} where {test.text if test.condition else f'{test.text} is true'}"
    return Phrase(speaker.wording.say("the number of {}", where), CHAIN, counted=f"{{}} {where}")


def _number_of(speaker: Speaker, call: Node, what: Node) -> Phrase:
    """Return COUNT(..) in words: trips, different titles, those with a rating."""
    argument = speaker.say(what)
    if kind_of(what) == "Star":
        things = source_noun(speaker, call)
    elif kind_of(what) == "Distinct":
        things = argument.text if len(what.expressions) > 1 else plural(argument.text)
    elif argument.bond == ATOM and argument.text.startswith("the ") and argument.text.endswith(" id"):
        things = plural(argument.text[4:-3])
    elif argument.bond == ATOM and argument.text.startswith("the "):
        name = argument.text.removeprefix("the ")
        things = f"those with {'an' if name[0] in 'aeiou' else 'a'} {name}"
    else:
        things = argument.inside(PREFIX)
    return Phrase(speaker.wording.say("the number of {}", things), PREFIX, counted=f"{{}} {things}")


def source_noun(speaker: Speaker, node: Node) -> str:
    """Return what the rows are that COUNT(*) counts, where that may be said."""
    query = node.find_ancestor(node_class("Select"))
    source = part_of(query, "from") if query is not None else None
    if source is None or is_filler(source.this):
        return speaker.wording.cases
    joined = any(not _looks_up(join) for join in query.args.get("joins") or ())
    noun = "" if joined or kind_of(source.this) != "Table" else source.this.name.lower()
    return speaker.wording.nouns.get(noun, speaker.wording.say("cases"))


def _looks_up(join: Node) -> bool:
    """Return whether a JOIN adds one row to each: it is by the other table's own id."""
    name, condition = join.this.name.lower(), join.args.get("on")
    stem = f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")
    if condition is None or kind_of(condition) != "EQ":
        return False
    columns = [one.name.lower() for one in (condition.this, condition.expression)]
    return all(one.endswith("_id") for one in columns) and f"{stem}_id" in columns


@says("Distinct")
def _distinct(speaker: Speaker, node: Node) -> Phrase:
    items = [speaker.say(item).inside(PREFIX).removeprefix("the ") for item in node.expressions]
    return Phrase(speaker.wording.say("different {}", enumerate_words(items)), PREFIX)


@says("Cast", "TryCast")
def _cast(speaker: Speaker, node: Node) -> Phrase:
    """Return what is cast: nobody says types. Only a figure that is worked out may lose its fraction."""
    inner = speaker.say(node.this)
    whole = any(part in str(node.to.this).upper() for part in _WHOLE_NUMBERS)
    if not whole or (inner.bond == ATOM and kind_of(node.this) != "Paren"):
        return inner
    return Phrase(speaker.wording.say("{} as a whole number", inner.inside(PREFIX)), LOOSE)


@says("Extract")
def _extract(speaker: Speaker, node: Node) -> Phrase:
    inner = speaker.say(node.expression).inside(PREFIX)
    return Phrase(speaker.wording.say(f"the {node.this.name.lower()} of {{}}", inner), PREFIX)


@says("Interval")
def _interval(_: Speaker, node: Node) -> Phrase:
    unit = node.args.get("unit")
    return Phrase(f"{node.name} {unit.name.lower()}" if unit is not None else node.name)


@says("Collate")
def _collate(speaker: Speaker, node: Node) -> Phrase:
    inner, how = speaker.say(node.this), node.expression.name
    words = "ignoring letter case" if how.upper() == "NOCASE" else f"compared by {split_words(how)}"
    return Phrase(f"{inner.inside(PREFIX)} {words}", LOOSE)


@says("Window")
def _window(speaker: Speaker, node: Node) -> Phrase:
    groups, order, spec = (node.args.get(key) for key in ("partition_by", "order", "spec"))
    each = enumerate_words([key_words(speaker, key) for key in groups or ()])
    said = speaker.say(node.this)
    words = [speaker.wording.say("within each {}", each) if each else "", speaker.text(order)]
    words.append(_frame(speaker, spec))
    inside = "; ".join(filter(None, words))
    if not said.text:
        return Phrase(inside, LOOSE)
    if inside:
        return Phrase(f"{said.text} ({inside})", LOOSE)
    ending = " within its groups" if node.args.get("alias") else " over everything"
    return Phrase(said.text + speaker.wording.say(ending), LOOSE)


def _frame(speaker: Speaker, spec: Node | None) -> str:
    """Return a window frame, such as ROWS BETWEEN 6 PRECEDING AND CURRENT ROW."""
    if spec is None:
        return ""
    ends = []
    for end in ("start", "end"):
        amount, where = spec.args.get(end), spec.args.get(f"{end}_side") or ""
        text = amount if isinstance(amount, str) else speaker.text(amount)
        ends.append(f"{FRAME_WORDS.get(text.upper(), text)} {FRAME_WORDS.get(where.upper(), '')}".strip())
    lead = FRAME_WORDS.get((spec.args.get("kind") or "ROWS").upper(), "")
    return speaker.wording.say(f"{lead} between {' and '.join(filter(None, ends))}")


@says("Filter")
def _filter(speaker: Speaker, node: Node) -> Phrase:
    speaker.nested += 1
    words = speaker.text(node.expression)
    speaker.nested -= 1
    return Phrase(f"{speaker.text(node.this)} ({words})", LOOSE)
