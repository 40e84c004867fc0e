"""Read what encloses its parts: function calls, CAST and EXTRACT, CASE, windows and their frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from birdenv.users.sql_in_words._counted import cases_where, number_of
from birdenv.users.sql_in_words._dates import cut_of_date
from birdenv.users.sql_in_words._functions import (
    function_words,
    joins_with_comma,
    needs_brackets,
    takes_atoms,
    type_words,
)
from birdenv.users.sql_in_words._keywords import ATOM, CHAIN, FRAME, LOOSE, PREFIX, Phrase, enumerate_words

if TYPE_CHECKING:
    from birdenv.users.sql_in_words._reader import Reader


_DECIMAL = "a decimal number"


def cast(reader: Reader) -> Phrase:
    reader.at += 2
    inner = reader.expression()
    words = _DECIMAL
    if reader.take("AS"):
        words = type_name(reader)
    _close(reader)
    return Phrase(reader.wording.say("{} as {}", inner.inside(PREFIX), words), LOOSE)


def type_name(reader: Reader) -> str:
    name = reader.pop() if not reader.ended else ""
    while reader.key() in ("PRECISION", "VARYING", "WITH", "WITHOUT", "TIME", "ZONE", "UNSIGNED"):
        reader.at += 1
    words = type_words(reader.wording, name)
    if reader.take("("):
        words += f" ({enumerate_words([p.text for p in listed(reader)])})"
    return words


def extract(reader: Reader) -> Phrase:
    reader.at += 2
    unit = reader.pop().lower() if not reader.ended else ""
    reader.take("FROM")
    inner = reader.expression()
    _close(reader)
    return Phrase(reader.wording.say(f"the {unit} of {{}}", inner.inside(PREFIX)), PREFIX)


def _close(reader: Reader) -> None:
    """Skip to and over the closing bracket of the current call."""
    open_brackets = 1
    while not reader.ended and open_brackets:
        open_brackets += {"(": 1, ")": -1}.get(reader.key(), 0)
        reader.at += 1


def call(reader: Reader) -> Phrase:
    name = reader.pop().upper()
    reader.at += 1
    arguments: list[Phrase] = []
    extra = ""
    if name in ("SUM", "COUNT", "TOTAL") and reader.key() == "CASE" and reader.key(1) == "WHEN":
        counted = cases_where(reader, name)
        if counted is not None:
            return counted
    if name == "COUNT" and reader.key() == "*" and reader.key(1) == ")":
        reader.at += 2
        return number_of(reader, Phrase("*"))
    while not reader.ended and not reader.take(")"):
        before = reader.at
        argument = reader.expression()
        if argument.text:
            arguments.append(argument)
        if reader.key() in ("ORDER", "SELECT", "FROM", "PARTITION"):
            inner = reader.passage()
            extra += f" ({inner})"
            break
        if not reader.take(",") and reader.at == before:
            reader.at += 1
    if name == "COUNT" and len(arguments) == 1 and not extra:
        return number_of(reader, arguments[0])
    comma = joins_with_comma(name, len(arguments))
    texts = [
        argument.text
        if comma and not at and ", " not in argument.text
        else argument.inside(ATOM if takes_atoms(name) else PREFIX)
        for at, argument in enumerate(arguments)
    ]
    if name == "ROUND" and texts:  # PostgreSQL rounds no other type: nobody would say it
        texts[0] = texts[0].removesuffix(f" as {_DECIMAL}")
    if template := cut_of_date(name, texts):
        return Phrase(reader.wording.say(template, texts[name == "STRFTIME"]), PREFIX)
    words = function_words(reader.wording, name, texts) + extra
    if name == "SUM" and len(arguments) == 1 and arguments[0].counted and not extra:
        return Phrase(words, PREFIX, counted=f"{arguments[0].counted} in total")
    loose = needs_brackets(name, len(arguments)) or bool(extra)
    return Phrase(words, CHAIN if comma else LOOSE if loose else PREFIX)


def cases(reader: Reader) -> Phrase:
    """A CASE after its keyword, or the WHEN .. THEN .. of one that lost it."""
    subject = "" if reader.stopped() else reader.expression().inside(LOOSE)
    parts: list[str] = []
    repeated = False
    while reader.take("WHEN"):
        condition = reader.expression()
        test = condition.text
        if subject:
            verb = "is" if condition.literal else "equals"
            test = f"{'it' if repeated else subject} {verb} {condition.inside(LOOSE)}"
            repeated = True
        outcome = reader.expression().inside(PREFIX) if reader.take("THEN") else ""
        parts.append(f"{outcome} if {test}" if outcome else f"if {test}")
    if reader.take("ELSE"):
        parts.append(f"otherwise {reader.expression().inside(PREFIX)}")
    reader.take("END")
    return Phrase(", ".join(parts) if parts else subject, CHAIN)


def window(reader: Reader) -> str:
    if not reader.take("("):
        if not reader.ended and reader.tokens[reader.at].kind in ("word", "gap") and not reader.stopped():
            reader.hidden.add(reader.pop().lower())
        return reader.wording.say(" within its groups")
    return f" ({reader.passage()})" if reader.key() != ")" else _whole_window(reader)


def _whole_window(reader: Reader) -> str:
    reader.at += 1
    return reader.wording.say(" over everything")


def frame(reader: Reader) -> str:
    """A window frame, such as ROWS BETWEEN 6 PRECEDING AND CURRENT ROW."""
    words: list[str] = []
    while not reader.ended and reader.key() != ")":
        token = reader.tokens[reader.at]
        words.append(reader.wording.say(FRAME[token.key]) if token.key in FRAME else token.text.lower())
        reader.at += 1
    return " ".join(words)


def listed(reader: Reader) -> list[Phrase]:
    """Comma-separated expressions up to the closing bracket, which is consumed."""
    phrases: list[Phrase] = []
    while not reader.ended and not reader.take(")"):
        before = reader.at
        phrase = reader.expression()
        if phrase.text:
            phrases.append(phrase)
        if not reader.take(",") and reader.at == before:
            reader.at += 1
    return phrases
