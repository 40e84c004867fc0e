"""Find SQL that reads the clock or random numbers, and replace the clock with a fixed date.

In case of doubt, `may_change` returns True: for example, it treats `'now'` as a use of the clock everywhere
except in comments. `at_date` replaces tokens, because regenerating SQL from a syntax tree would also change
other parts of it. The fixed time is midnight.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final

from birdenv.sql._tokens import LONGEST_SQL, Token, sql_tokens, stretches, unquoted

_READS: Final = re.compile(
    r"""
    ['"](?:now|today|tomorrow|yesterday|subsec|subsecond)['"]
  | \b(?:current_(?:date|time|timestamp)|localtime|localtimestamp)\b
  | \b(?:now|random|randomblob|gen_random_uuid|uuid_generate_v[14]|clock_timestamp|statement_timestamp
      |transaction_timestamp|timeofday|getdate|curdate|curtime|sysdate)["\]`]?\s*+\(
  | \b(?:date|time|datetime|julianday|unixepoch)["\]`]?\s*+\(\s*+\)
  | \bstrftime["\]`]?\s*+\(\s*+(?:'[^']*+'|"[^"]*+")\s*+\)
  | \bage\s*+\([^,()]*+(?:\([^()]*+\)[^,()]*+)*+\)
  | \btablesample\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
WORDS: Final = tuple(  # all matches of `_READS` contain one of these
    "now today tomorrow yesterday subsec current_ localtime random uuid timestamp timeofday getdate curdate"
    " curtime sysdate date time julianday unixepoch age tablesample".split()
)


def may_change(sql: str) -> bool:
    """Return whether SQL may read the clock or random numbers, so that its result can change.

    Return True for text longer than `LONGEST_SQL`, which no database runs anyway.
    """
    if len(sql) > LONGEST_SQL:
        return True
    lowered = sql.lower()
    if not any(word in lowered for word in WORDS):
        return False
    if "--" in sql or "/*" in sql:
        sql = "".join(
            " " if part.kind == "comment" and part.is_closed else part.text for part in stretches(sql)
        )
    return _READS.search(sql) is not None


_NESTED: Final = r"(?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+"
_ARGUMENT: Final = rf"(?:[^(),]|\({_NESTED}\))*+"  # with parentheses of three levels at most
_CONSTANT: Final = r"(?<! \.)(?<! as) (%s(?: \( \d \))?)(?= (?![.(]))"
_NOW: Final = r"(?:now|transaction_timestamp|statement_timestamp|clock_timestamp)"
_DAY: Final = r"('(?:now|today)')"
_MOMENT: Final = "CAST('{day}' AS timestamptz)"
_RULES: Final = {
    "sqlite": {
        _CONSTANT % "current_date": "'{day}'",
        _CONSTANT % "current_time": "'00:00:00'",
        _CONSTANT % "current_timestamp": "'{day} 00:00:00'",
        r" (?:date|time|datetime|julianday|unixepoch) \( ((?:'now')?)(?= ?[,)])": "'{day}'",
        rf" strftime \( {_ARGUMENT}()\)": ", '{day}'",
        rf" strftime \( {_ARGUMENT}, ('now')(?= [,)])": "'{day}'",
    },
    "postgres": {
        _CONSTANT % "current_date": "CAST('{day}' AS date)",
        _CONSTANT % "current_time": "CAST('00:00:00' AS timetz)",
        _CONSTANT % "current_timestamp": _MOMENT,
        _CONSTANT % "localtime": "CAST('00:00:00' AS time)",
        _CONSTANT % "localtimestamp": "CAST('{day}' AS timestamp)",
        rf"(?<! \.) ({_NOW} \( \))": _MOMENT,
        rf"(?<= )age \( ()(?={_ARGUMENT}\))": "'{day}', ",
        rf" {_DAY}(?= :: (?:date|time))": "'{day}'",
        rf" (?:date|time|timestamp|timestamptz|zone) {_DAY}": "'{day}'",
        rf" cast \( {_DAY}(?= as (?:date|time))": "'{day}'",
    },
}
"""Rules by dialect: a pattern of tokens, and the text that replaces its group (or is inserted, if empty)."""

_LEFT: Final = {
    "sqlite": r"(?<! as) '(?:now|subsec|subsecond)'",
    "postgres": rf" '(?:now|today)' (?!::|as )| '(?:tomorrow|yesterday)'| (?:{_NOW}|timeofday) \( \)"
    rf"| age \( (?!{_ARGUMENT}, )",
}
"""Patterns by dialect of tokens that may read the clock after all rules have been applied."""

_CALLED: Final = re.compile(r"(?!current_|localtime)[a-z_]+")
_TIMES: Final = frozenset({"now", "today", "tomorrow", "yesterday", "subsec", "subsecond"})


class ClockError(ValueError):
    """SQL uses the clock in a way that a fixed date cannot replace. The message quotes that use."""


def at_date(sql: str, day: str, dialect: str) -> str:
    """Replace every use of the clock in SQL with a date such as `2025-02-19`.

    >>> at_date("SELECT date('now', '-1 day'), CURRENT_DATE -- now", "2025-02-19", "sqlite")
    "SELECT date('2025-02-19', '-1 day'), '2025-02-19' -- now"

    Raises:
        ClockError: a quote is not terminated, or a possible use of the clock cannot be replaced.
    """
    lowered = sql.lower()
    if not any(word in lowered for word in WORDS):
        return sql
    try:
        found = sql_tokens(sql, dialect)
    except ValueError as error:
        raise ClockError(str(error)) from None
    shown = [_shown(token, dialect) for token in found]
    line = " ".join(["", *shown, ""])
    places = list(accumulate((len(text) + 1 for text in shown), initial=1))
    begins = {at: token.end - len(token.text) for at, token in zip(places[:-1], found, strict=True)}
    ends = {after - 1: token.end for after, token in zip(places[1:], found, strict=True)}
    edits = [
        (*match.span(1), text.format(day=day))
        for pattern, text in _RULES[dialect].items()
        for match in re.finditer(pattern, line)
    ]
    if left := re.search(_LEFT[dialect], _edited(line, edits)):
        raise ClockError(left.group().strip())
    return _edited(sql, [(begins[a], ends[b] if a < b else begins[a], text) for a, b, text in edits])


def _shown(token: Token, dialect: str) -> str:
    """Return a token in the form that the rules match: names as words, and strings that name a time."""
    text = token.text.lower()
    if token.kind == "quoted":
        is_text = dialect == "sqlite" and text == '"now"'  # SQLite takes a name for text if it knows none
        return "'now'" if is_text else unquoted(text) if _CALLED.fullmatch(unquoted(text)) else '"x"'
    if token.kind != "string" or text.strip("'") in _TIMES:
        return text
    if dialect == "postgres" and may_change(text):
        raise ClockError("a string that reads the clock when it runs, such as a function's body")
    return "'x'"


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    pieces, place = [], 0
    for start, end, new in sorted(edits):
        pieces += [text[place:start], new]
        place = end
    return "".join(pieces) + text[place:]
