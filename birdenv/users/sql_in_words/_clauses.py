"""Read SQL clauses and whole statements, in any state of repair, and say them in words.

Tables, aliases and CTEs are never named: a lay user speaks of "the records". What a statement does is told
clause by clause, in the order of the source.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from birdenv.users.sql_in_words._arrangement import (
    read_direction,
    read_fetch,
    read_group,
    read_limit,
    read_offset,
    read_order,
    read_partition,
)
from birdenv.users.sql_in_words._calls import cases, frame
from birdenv.users.sql_in_words._keywords import (
    CLAUSE_WORDS,
    LOOSE,
    Phrase,
    enumerate_words,
    name_words,
)
from birdenv.users.sql_in_words._tables import (
    JOIN_SIDES,
    read_create,
    read_delete,
    read_from,
    read_insert,
    read_join,
    read_update,
    read_values,
)

if TYPE_CHECKING:
    from birdenv.users.sql_in_words._reader import Reader

Form: TypeAlias = Literal["noun", "condition", "addition", "selection", "arrangement", "request"]
"""How words fit into a sentence: "I mean ..", "I mean that ..", "and also ..", "only where ..",
"sorted by ..", "show .."."""

_SET_OPERATIONS = {
    "UNION": "together with",
    "INTERSECT": "but only what is also among",
    "EXCEPT": "but without",
}
_REQUESTS = frozenset({"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "CREATE", "VALUES"})


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A snippet in words, the form of its sentence, and the names that were kept back."""

    text: str
    form: Form
    hidden: frozenset[str]


def reading(reader: Reader) -> Paraphrase:
    """Say all tokens in words."""
    first = reader.key()
    phrases: list[Phrase] = []
    while not reader.ended:
        before = reader.at
        phrases += _clauses(reader)
        if reader.at == before:
            reader.at += 1
        reader.take(";", ")", "]")
    text = "; ".join(phrase.text for phrase in phrases if phrase.text)
    if first in ("AND", "OR") and phrases and phrases[0].condition:
        lead = "and also only cases where " if first == "AND" else "or also cases where "
        text = reader.wording.say(lead) + text.removeprefix("(").removeprefix(f"{first.lower()} also ")
        text = f"({text}" if phrases[0].text.startswith(f"({first.lower()} also ") else text
    return Paraphrase(text, _form(first, phrases), frozenset(reader.hidden))


def nested_clauses(reader: Reader) -> str:
    """A subquery or window, up to and over its closing bracket."""
    reader.nested += 1
    phrases = _clauses(reader)
    reader.nested -= 1
    reader.take(")")
    text = ""
    for phrase in phrases:
        if phrase.text:
            text += (
                (" " if phrase.text.startswith(("where ", "of the ", "matched with ")) else "; ")
                if text
                else ""
            )
            text += phrase.text
    return text


def _clauses(reader: Reader) -> list[Phrase]:
    phrases: list[Phrase] = []
    while not reader.ended and reader.key() not in (")", ";", "]"):
        before = reader.at
        phrases.append(_clause(reader))
        if reader.at == before:
            reader.at += 1
    return phrases


def _clause(reader: Reader) -> Phrase:
    key = reader.key()
    if (key in JOIN_SIDES or key == "JOIN") and reader.key(1) != "(":
        return Phrase(read_join(reader))
    readers = {
        "SELECT": _select,
        "FROM": read_from,
        "GROUP": read_group,
        "PARTITION": read_partition,
        "ORDER": read_order,
        "LIMIT": read_limit,
        "OFFSET": read_offset,
        "FETCH": read_fetch,
        "WITH": _with,
        "WINDOW": _with,
        "INSERT": read_insert,
        "UPDATE": read_update,
        "DELETE": read_delete,
        "CREATE": read_create,
        "VALUES": read_values,
    }
    if key in readers:
        reader.at += 1
        return Phrase(readers[key](reader))
    return _small_clause(reader, key)


def _small_clause(reader: Reader, key: str) -> Phrase:
    if key in ("WHERE", "HAVING", "ON", "USING", "RETURNING"):
        reader.at += 1
        lead = {
            "WHERE": "where" if reader.nested else "only cases where",
            "HAVING": "only those where",
            "ON": "where",
            "USING": "with the same",
            "RETURNING": "then show",
        }[key]
        return Phrase(f"{reader.wording.say(lead)} {_items(reader)}")
    if key in _SET_OPERATIONS:
        reader.at += 1
        repeats = reader.wording.say(" (repeats included)") if reader.take("ALL") else ""
        reader.take("DISTINCT")
        return Phrase(reader.wording.say(_SET_OPERATIONS[key]) + repeats)
    if reader.at_frame():
        return Phrase(frame(reader))
    if key in ("WHEN", "ELSE"):
        return cases(reader)
    if key == "THEN":
        reader.at += 1
        return Phrase(f"then {reader.expression().text}")
    if key in ("ASC", "DESC", "NULLS"):
        return Phrase(read_direction(reader))
    if key in ("END", ","):
        reader.at += 1
        return Phrase("")
    return _list(reader)


def _list(reader: Reader) -> Phrase:
    phrases: list[Phrase] = []
    while not reader.ended:
        phrase = _item(reader)
        if phrase.text:
            phrases.append(phrase)
        if not reader.take(","):
            break
    if len(phrases) == 1 and reader.ended and not reader.nested and phrases[0].alias:
        only = phrases[0]
        return replace(only, text=f"{only.text}, called {only.alias}", alias="")
    if len(phrases) == 1:
        return phrases[0].named()
    return Phrase(enumerate_words([phrase.named().inside(LOOSE) for phrase in phrases]), LOOSE)


def _items(reader: Reader) -> str:
    return _list(reader).text


def _item(reader: Reader, alias_without_as: bool = False) -> Phrase:
    """An expression with its output name, or a CTE definition."""
    start = reader.at
    if reader.key(1) == "AS" and "(" in (reader.key(2), reader.key(3)):
        return Phrase(_definition(reader))
    phrase = _implicit(reader) if alias_without_as else reader.expression()
    if not reader.take("AS") and not (alias_without_as and reader.at_name()):
        return phrase
    if reader.ended or reader.stopped() or reader.at == start:
        return phrase
    alias = name_words(reader.tokens[reader.at])
    reader.at += 1
    return replace(phrase, alias=alias)


def _implicit(reader: Reader) -> Phrase:
    """An expression of a SELECT list, cut before an output name that stands without AS."""
    end = _item_end(reader)
    last, previous = end - 1, end - 2
    named = (
        previous >= reader.at
        and reader.tokens[last].kind in ("word", "quoted")
        and reader.tokens[last].key not in ("END", "NULL", "TRUE", "FALSE")
        and (
            reader.tokens[previous].kind in ("number", "string", "quoted")
            or reader.tokens[previous].key in (")", "END", "]")
            or (reader.tokens[previous].kind == "word" and previous == reader.at)
            or (previous >= 2 and reader.tokens[previous - 1].key == "." and previous - 2 == reader.at)
        )
        and not (previous == reader.at and reader.tokens[previous].key in ("DISTINCT", "ALL", "NOT"))
    )
    if not named or reader.tokens[last].key == "":
        return reader.expression()
    tokens = reader.tokens
    reader.tokens = tokens[:last]
    phrase = reader.expression()
    reader.tokens = tokens
    return phrase


def _item_end(reader: Reader) -> int:
    depth, index = 0, reader.at
    while index < len(reader.tokens):
        key = reader.tokens[index].key
        if depth == 0 and (key in (",", ";", ")", "AS") or key in CLAUSE_WORDS):
            break
        depth += {"(": 1, ")": -1}.get(key, 0)
        index += 1
    return index


def _select(reader: Reader) -> str:
    show = "" if reader.nested else "show "  # within brackets it is a noun
    lead = show + "{}"
    if reader.take("DISTINCT"):
        lead = show + "the different {}"
        if reader.take("ON"):
            lead = ("show, " if show else "") + "once for each different {{}}, {}".replace(
                "{{}}", reader.operand().text
            )
    else:
        reader.take("ALL")
    items: list[str] = []
    while not reader.ended:
        phrase = _item(reader, alias_without_as=True)
        if phrase.text:
            items.append(phrase.named().inside(LOOSE))
        if not reader.take(","):
            break
    if items and "different" in lead:
        items[0] = items[0].removeprefix("the ")
    return reader.wording.say(lead, ", ".join(items) if items else "") if items else ""


def _with(reader: Reader) -> str:
    reader.take("RECURSIVE")
    parts: list[str] = []
    while not reader.ended and reader.at_name():
        parts.append(_definition(reader))
        if not reader.take(","):
            break
    return "; ".join(parts)


def _definition(reader: Reader) -> str:
    """`name [(columns)] AS ( body )`, whose name is kept back."""
    reader.hidden.add(reader.tokens[reader.at].text.lower())
    reader.at += 1
    columns = ""
    if reader.key() == "(":
        columns = f" (called {reader.operand().text.strip('()')})"
    reader.take("AS")
    reader.take("NOT")
    reader.take("MATERIALIZED")
    if not reader.take("("):
        return ""
    return reader.wording.say("first work out{} ({})", columns, reader.passage())


def _form(first: str, phrases: list[Phrase]) -> Form:
    if first in _REQUESTS or any(phrase.text.startswith("first work out") for phrase in phrases):
        return "request"
    if first in ("WHERE", "HAVING"):
        return "selection"
    if first in CLAUSE_WORDS:
        return "arrangement"
    if not phrases or not phrases[0].condition:
        return "noun"
    return "addition" if first in ("AND", "OR") else "condition"
