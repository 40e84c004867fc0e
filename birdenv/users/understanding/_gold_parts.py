"""Find the parts of the gold SQL that a question may be about although they are not annotated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import zip_longest

from birdenv.users._brief import Ambiguity, Brief
from birdenv.users.segments import Segment
from birdenv.users.sql_in_words import LexicalUnit, enumerate_words, in_words, split_words, tokenize

_ADDED = re.compile(r"(?is)\bADD (?:COLUMN )?[\"`]?(?P<name>\w+)[\"`]? (?P<type>\w+)(?P<rest>.*)")
_DEFAULT = re.compile(r"(?i)\bDEFAULT\s+(\(.*?\)|'[^']*'|[-\w.]+)")
_TIMED = re.compile(
    r"(?is)\b(?P<when>BEFORE|AFTER|INSTEAD\s+OF)\s+(?P<what>INSERT|DELETE|UPDATE)(?:\s+OF\s(?P<of>(?:(?!\sON\b)[\w\s,])++))?+"
    r"\s++ON\b"
)


def changes(parts: Sequence[Segment], brief: Brief) -> Iterator[tuple[tuple[Segment, ...], str]]:
    """Yield the parts that delete rows, copy or add columns or create a trigger, with the answer about each.

    If an annotated snippet already contains such a statement, its parts are left out.
    """
    annotated = " ".join(item.snippet for item in brief.ambiguities).upper()
    deletes = tuple(part for part in parts if part.clause == "delete")
    if deletes and "DELETE" not in annotated:
        yield deletes, _deleted([split_words(part.sql.rpartition(" ")[2]) for part in deletes])
    for part in parts:
        told = ""
        if part.clause == "alter" and "ALTER" not in annotated:
            told = _added(part.sql)
        elif part.clause == "trigger" and "TRIGGER" not in annotated:
            told = _set_off(part.sql, brief)
        elif part.clause == "copied":
            names = [
                one
                for one in part.sql.split(", ")
                if one.strip('"`').upper() not in re.split(r"\W+", annotated)
            ]
            part, told = replace(part, sql=", ".join(names)), _copied(names, brief)
        if told:
            yield (part,), told


def _deleted(names: list[str]) -> str:
    first, *rest = dict.fromkeys(names)
    return f"Delete the {', then the '.join([first, *rest])}, and nothing else."


def _added(sql: str) -> str:
    match = _ADDED.search(sql)
    if match is None:
        return ""
    default = _DEFAULT.search(match["rest"])
    needed = ", never empty" if "NOT NULL" in match["rest"].upper() else ""
    given = f"with the default value {default[1]}" if default else "without a default value"
    return f"Add a column called {match['name']} of type {match['type'].lower()}{needed}, {given}."


def _copied(names: list[str], brief: Brief) -> str:
    said = enumerate_words(in_words(name, brief).text for name in names)
    return f"Keep {said} the same as in the original." if names else ""


def _set_off(sql: str, brief: Brief) -> str:
    match = _TIMED.search(sql)
    if match is None:
        return ""
    when = " ".join(match["when"].lower().split())
    named = [in_words(name.strip(), brief).text for name in (match["of"] or "").split(",") if name.strip()]
    of = f" of {' or '.join(named)}" if named else ""
    return f"It acts {when} each {match['what'].lower()}{of}, on the one that it happened to."


_ANSWERABLE = frozenset(
    """order limit group distinct output where having join assign values create select columns
    column key""".split()
)
_LEADS = frozenset({"WHERE", "HAVING", "AND", "OR", "ON", "WHEN", "THEN", "ELSE"})
_GLUE = frozenset("( ) , ; AND OR WHERE HAVING NOT ROUND CAST AS REAL SUM COUNT AVG NUMERIC FLOAT .".split())


def telling_parts(
    parts: Iterable[Segment], points: tuple[Ambiguity, ...]
) -> Iterator[tuple[Segment, tuple[str, ...]]]:
    """Yield the parts that the user may reveal, with annotated snippets replaced by their terms.

    Each part comes with the terms used in it. Parts that only contain annotated snippets are left out. If an
    ORDER BY begins with a snippet, its remaining sort keys become a part of the clause "tie".
    """
    snippets = [(item, core) for item in points if (core := _core(item.snippet))]
    snippets.sort(key=lambda pair: -len(pair[1]))
    for part in _telling([part for part in parts if part.clause in _ANSWERABLE]):
        if part.clause == "order" and (further := _further_keys(part.sql, snippets)):
            yield replace(part, clause="tie", sql=further), ()
            continue
        tokens, replaced = _bare(tokenize(part.sql)), list[str]()
        for item, core in snippets:
            masked = (
                _replaced(tokens, core, item.term) if part.clause != "output" or len(core) > 1 else tokens
            )
            # the term of a non-critical point, such as "null", is no word for an amount
            is_noun = item.kind != "non_critical" or _says_nothing(masked, points)
            if masked is not tokens and is_noun:
                tokens = masked
                replaced.append(item.term)
        if replaced and part.clause != "output" and _says_nothing(tokens, points):
            continue
        if part.clause in ("where", "having", "key") and has_snippet(
            [item.snippet for item in points], part.sql
        ):
            continue
        yield (replace(part, sql=_text(tokens)) if replaced else part), tuple(replaced)


def _further_keys(sql: str, snippets: Iterable[tuple[Ambiguity, tuple[str, ...]]]) -> str:
    """Return an ORDER BY of the keys after those that a snippet settles; empty if there are none."""
    tokens = _bare(tokenize(sql))
    keys = tuple(map(_comparable, tokens))
    for _, core in snippets:
        if core[:2] == ("order", "by") and keys[: len(core) + 1] == (*core, ","):
            return f"ORDER BY {_text(tokens[len(core) + 1 :])}"
    return ""


_BOUNDS = frozenset({">", "<", ">=", "<="})


def _telling(parts: list[Segment]) -> list[Segment]:
    """Return `parts` without plain columns, inner outputs and repetitions; a range becomes one part."""
    kept: dict[str, Segment] = {}
    seen: set[str] = set()
    shown = [part.id for part in parts if part.clause == "output" and not part.is_inner]
    output = min(shown, key=block_of, default="")
    inserts = any(part.clause == "columns" for part in parts)  # what is inserted is shown nowhere
    for part in parts:
        tokens = tokenize(part.sql)
        is_plain = not any(t.kind in ("number", "string") or t.key in ("(", *_SIGNS) for t in tokens)
        if (
            (part.clause == "output" and (inserts or part.id != output))
            or (part.clause == "select" and (inserts or is_plain))
            or (part.clause != "distinct" and part.sql in seen)
        ):
            continue
        seen.add(part.sql)
        place = _place(part, [token.text.lower() for token in tokens[1:]])
        twin = kept.get(place)
        kept[place] = replace(twin, sql=f"{twin.sql} AND {part.sql.partition(' ')[2]}") if twin else part
    return list(kept.values())


def _place(part: Segment, texts: list[str]) -> str:
    """Return the query block and the column for which a condition gives a bound, or else the part's id."""
    is_bound = part.clause in ("where", "having") and [text in _BOUNDS for text in texts].count(True) == 1
    if not is_bound or texts[-2] not in _BOUNDS:
        return part.id
    return " ".join([str(block_of(part.id)), part.clause, *texts[:-2]])


_SIGNS = ("+", "-", "*", "/", "||")


def block_of(name: str) -> int:
    """Return the number of the query block in a part's id, such as 2 for `S2.where.1`."""
    return int(name.split(".")[0][1:])


def _bare(tokens: list[LexicalUnit]) -> list[LexicalUnit]:
    """Return `tokens` without the qualifiers of names, such as `t.`."""
    followed = zip_longest(tokens, tokens[1:])
    return [one for one, after in followed if one.key != "." and not (after and after.key == ".")]


def _core(snippet: str) -> tuple[str, ...]:
    """Return a snippet as comparable tokens, without leading keywords and a final alias."""
    tokens = _bare(tokenize(snippet))
    while tokens and tokens[0].key in _LEADS:
        tokens = tokens[1:]
    if len(tokens) > 2 and tokens[-2].key == "AS":
        tokens = tokens[:-2]
    return tuple(_comparable(token) for token in tokens if token.key != "AS")


@lru_cache(maxsize=4096)
def bare_text(snippet: str) -> str:
    """Return a snippet in a form for comparisons: single spaces between tokens, no qualifiers, no aliases."""
    return " ".join(_core(snippet))


def has_snippet(statements: Iterable[str], snippet: str) -> bool:
    """Return True if a statement contains a snippet. Qualifiers such as `t.` are ignored."""
    core = bare_text(snippet)
    return bool(core) and any(f" {core} " in f" {bare_text(one)} " for one in statements)


def shares_condition(sql: str, snippet: str) -> bool:
    """Return True if a condition contains a snippet or is contained in it."""
    return has_snippet([sql], snippet) or (" " in bare_text(sql) and has_snippet([snippet], sql))


def _comparable(token: LexicalUnit) -> str:
    if token.kind == "string":
        return f"'{token.text}'"
    return _SAME.get(token.key, token.text.lower())


_SAME = {"!=": "<>", "INTEGER": "int"}
"""Tokens that sqlglot writes differently from people."""


def _replaced(tokens: list[LexicalUnit], core: tuple[str, ...], term: str) -> list[LexicalUnit]:
    """Return tokens with `core` replaced by a quoted name made from `term`."""
    places = [i for i, token in enumerate(tokens) if token.key != "AS"]
    keys = tuple(_comparable(tokens[i]) for i in places)
    for i in range(len(keys) - len(core) + 1):
        if keys[i : i + len(core)] == core:
            rest = _replaced(tokens[places[i + len(core) - 1] + 1 :], core, term)
            return [*tokens[: places[i]], LexicalUnit("quoted", as_noun(term)), *rest]
    return tokens


def as_noun(term: str) -> str:
    """Return a term without its article, because the sentence adds one."""
    return re.sub(r"(?i)^(?:an?|the) ", "", " ".join(term.split()))


def _says_nothing(tokens: list[LexicalUnit], points: tuple[Ambiguity, ...]) -> bool:
    terms = {as_noun(item.term) for item in points}
    left = [t for t in tokens if t.key not in _GLUE and t.text not in terms]
    return not any(t.kind in ("string", "number") or t.key in _TELLING for t in left)


_TELLING = frozenset({">", "<", ">=", "<=", "=", "<>", "ORDER"})


def _text(tokens: list[LexicalUnit]) -> str:
    said = ((token.text, _MARKS.get(token.kind, "")) for token in tokens)
    return " ".join(f"{mark}{text.replace(mark, 2 * mark)}{mark}" for text, mark in said)


_MARKS = {"string": "'", "quoted": '"'}
