"""The decoder, which puts the granted SQL into words (BIRD-Interact §3, stage 2), and the user `rule`.

Answers are made only from the chosen snippets and parts. No model is called, and a question about a task
always gets the same answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from birdenv.users._brief import Answer, Brief
from birdenv.users._facts import body_of, facts_of
from birdenv.users.segments import is_key, segments
from birdenv.users.sql_in_words import (
    PRESENT,
    Paraphrase,
    fragment_dialect,
    in_words,
    kind_of,
    node_class,
    parse_fragment,
    quoted,
)
from birdenv.users.sql_in_words._phrases import phrases
from birdenv.users.understanding import Choice, understand
from birdenv.users.understanding._gold_parts import has_snippet

OUT_OF_SCOPE = "Sorry, that is nothing I can help you with. Please ask about what I meant by my question."
"""The answer to every question that is unanswerable."""

ASKING_BACK = "I am not sure what you are asking. Which part of my request do you mean?"
"""The answer to a question that the user does not understand."""

_PERCENTAGE = re.compile(r"(?s)\b100(?:\.0*)?\s*\*.*/|/.*\*\s*100(?:\.0*)?(?![.\d])")
_AROUND = ("Alias", "Cast", "Paren")
_JOINED = re.compile(r" (?:and|or) ")
_IS_ROUNDING = re.compile(r"(?i)\b(?:round|decimal|precision)")
_ROUNDED = re.compile(
    r", rounded to (?:a whole number|one decimal|two decimals|\d+ decimals)(?: \(0 decimals\))?"
)
_OTHERS = "All others stay as they are."
_NOTHING_ELSE = "Change nothing else; all others stay as they are."
_IS_PERCENTAGE = "It is a percentage."
_LEFT_OUT = "Leave out the ones without."
_ON_THE_WAY = "This is for a step on the way, not for the result:"
_ARRANGING = frozenset({"group", "order", "tie", "limit", "distinct", "having"})
_NOTHING = "I have nothing particular in mind for that."


def decode(choice: Choice, brief: Brief) -> str:
    """Return the text of an answer, with one sentence for each granted snippet or part."""
    if choice.call == "unanswerable":
        return OUT_OF_SCOPE
    if choice.call == "unclear":
        return ASKING_BACK
    if choice.answer:
        return choice.answer
    sentences: list[str] = []
    for item in choice.items:
        sentence = _sentence(brief, item.snippet, term=item.term)
        if sentence not in sentences:
            sentences.append(sentence)
        if brief.style != "terse" and _PERCENTAGE.search(item.snippet) and "percent" not in sentence:
            sentences.append(_IS_PERCENTAGE)
    for part in choice.parts:
        sentence = _sentence(brief, part.sql, clause=part.clause)
        inner = part.is_inner and part.clause in _ARRANGING
        sentences.append(f"{_ON_THE_WAY} {sentence}" if inner else sentence)
    return " ".join(sentences if brief.style == "terse" else [*sentences, *_about_others(choice, brief)])


def _about_others(choice: Choice, brief: Brief) -> Iterator[str]:
    """Yield sentences about the rows that an answer leaves out, and about those that it does not change."""
    yield from _about_numbers(choice, brief)
    if not brief.changes_rows or any(map(_OTHERWISE.search, brief.gold)):
        return  # rows that meet no condition do not stay as they are
    if told := {part.id for part in choice.parts if part.clause == "assign"}:
        if told == {part.id for part in segments(brief.gold) if part.clause == "assign"}:
            yield _NOTHING_ELSE
    elif any(in_words(sql, brief).form == "condition" for sql in choice.granted()):
        yield _OTHERS


def _about_numbers(choice: Choice, brief: Brief) -> Iterator[str]:
    """Yield what the running numbers and ranks in an answer are, or which running number counts.

    Nothing is said that an annotated point settles.
    """
    numbers, is_output = _numbers(brief.gold), any(part.clause == "output" for part in choice.parts)
    columns = frozenset[str]().union(*(facts_of(sql).columns for sql in choice.granted() if not is_output))
    snippets = [item.snippet for item in brief.ambiguities]
    for name in sorted((columns & numbers.keys()) - set(map(str.lower, brief.identifiers))):
        alias, sql = numbers[name]
        if not any(has_snippet([sql], one) or re.search(r"(?i)\bOVER\b", one) for one in snippets):
            yield f"Here {in_words(alias, brief).text} is {in_words(sql, brief).text}."
    if not any("ROW_NUMBER" in sql.upper() for sql in choice.granted()):
        return
    names = {name for name, (_, sql) in numbers.items() if sql.upper().startswith("ROW_NUMBER")}
    bodies = [body_of(parse_fragment(part.sql)) for part in segments(brief.gold) if part.clause == "where"]
    equal = [body for body in bodies if kind_of(body) == "EQ" and body.this.name.lower() in names]
    wanted = {body.expression.name for body in equal}
    annotated = frozenset[str]().union(*(facts_of(one.snippet).columns for one in brief.ambiguities))
    if len(names) == len(wanted) == 1 and min(wanted).isdigit() and annotated.isdisjoint(names):
        yield f"Of these, only number {wanted.pop()} counts."


@lru_cache(maxsize=256)
def _numbers(gold: Sequence[str]) -> Mapping[str, tuple[str, str]]:
    """Return the aliases and the SQL of the running numbers and ranks in gold SQL, by alias in lower case.

    Aliases that occur twice are left out, and windows that are defined elsewhere.
    """
    queries = filter(None, map(parse_fragment, gold))
    windows = [one for query in queries for one in query.find_all(node_class("Window")) if one.parent.alias]
    times = Counter(one.parent.alias.lower() for one in windows)
    return {
        one.parent.alias.lower(): (f'"{one.parent.alias}"', one.sql(dialect=fragment_dialect()))
        for one in windows
        if one.this.name.upper() in _RANKS and one.args.get("order") and times[one.parent.alias.lower()] == 1
    }


_RANKS = frozenset("ROW_NUMBER RANK DENSE_RANK PERCENT_RANK NTILE".split())


_OTHERWISE = re.compile(r"(?is)\bSET\b.*\bELSE\b")

_CLAUSES, _FORMS = phrases("sentences for clauses"), phrases("sentences for terms")


@lru_cache(maxsize=4096)
def _sentence(brief: Brief, sql: str, *, term: str = "", clause: str = "") -> str:
    """Return the sentence for a term's snippet, or for a part of the gold SQL."""
    reading = _reading(brief, sql, term, clause)
    if not reading.text:
        return _NOTHING
    if clause in _CLAUSES:
        return _CLAUSES[clause].format(reading.text.removeprefix("grouped by "))
    if brief.style == "terse":
        return bare(reading.text, reading.form == "condition")
    return _of_snippet(reading, quoted(" ".join(term.split())) if term else "")


def _reading(brief: Brief, sql: str, term: str = "", clause: str = "") -> Paraphrase:
    """Return SQL in words. For a term about rounding, this comes first if all figures are rounded alike."""
    reading = in_words(f"UPDATE it SET {sql}" if clause == "assign" else sql, brief)
    if clause == "key" or is_key(sql, brief.gold):
        columns = (in_words(name, brief).text for name in sql.strip("() ").split(","))
        return replace(reading, text=f"first {', then '.join(columns)}")
    ways = set(_ROUNDED.findall(reading.text)) if _IS_ROUNDING.search(term) and _rounds_all(sql) else set()
    if len(ways) != 1 or reading.form != "noun":
        return reading
    [way] = ways
    figure = re.sub(rf"\(([^()]*){re.escape(way)}\)", r"\1", reading.text).replace(way, "")
    text = way.removeprefix(", ").replace("rounded", "round") + f": {figure}" * (figure != "the figure")
    return replace(reading, text=text, form="request")


def _rounds_all(sql: str) -> bool:
    """Return whether every figure in a snippet is rounded as a whole, and not only a part of it."""
    tree = parse_fragment(sql)
    items = [] if tree is None else tree.expressions if kind_of(tree) in ("Select", "Tuple") else [tree]
    while any(kind_of(item) in _AROUND for item in items):
        items = [item.this if kind_of(item) in _AROUND else item for item in items]
    return bool(items) and all(item.name.upper() == "ROUND" for item in items)


def _of_snippet(reading: Paraphrase, term: str) -> str:
    form, text = reading.form, reading.text
    lead = f"By {term}" if term else "For that,"
    if term and form in ("arrangement", "request"):
        lead = f"For {term},"
    if form == "condition" and term and text.endswith(PRESENT) and not _JOINED.search(text):
        return f"For {term}, I want only those where {text}. {_LEFT_OUT}"
    if form == "condition" and text.startswith("there are "):
        form, text = "noun", text.removeprefix("there are ")
    said = _FORMS[form].format(lead, text.removeprefix("and also ").removeprefix("or also "))
    return f"{said} {_LEFT_OUT}" if text.endswith(PRESENT) and " or " not in text else said


class RuleUser:
    """A user without a language model, made of an encoder and a decoder (BIRD-Interact §3.1).

    It never raises an exception, and does not remember earlier questions. As for every user, the game's rules
    filter its answers through the leak guard.
    """

    def answer(self, brief: Brief, question: str) -> Answer:
        """Return the user's answer to a clarification question from the system."""
        choice = understand(brief, question)
        return Answer(decode(choice, brief), choice.call, choice.target, choice.granted())


def bare(words: str, is_condition: bool = False) -> str:
    """Return words as one short sentence, without an introduction such as "there are".

    >>> bare("there are at least 40 seats", is_condition=True)
    'At least 40 seats.'
    """
    words = words.removeprefix("there are ") if is_condition else words
    return f"{words[0].upper()}{words[1:]}."
