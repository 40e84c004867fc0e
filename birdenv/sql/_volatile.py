"""SQL that reads the clock or random numbers: finding it by its text, and a day in place of the clock.

`may_change` is on the safe side: `'now'` counts wherever it stands, but in a comment. The rules of `at_date`
look at the tokens of a text, joined by single spaces, and change the text itself. No tree is built, since
printing a tree would change more of a statement than its clock. It is midnight on that day.
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
WORDS: Final = tuple(  # one of them stands in whatever `_READS` finds
    "now today tomorrow yesterday subsec current_ localtime random uuid timestamp timeofday getdate curdate"
    " curtime sysdate date time julianday unixepoch age tablesample".split()
)


def may_change(sql: str) -> bool:
    """Return whether SQL may give another result the next time, because it reads the clock or random numbers.

    Text longer than `LONGEST_SQL`, which no database runs, may.
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
"""By dialect: patterns of tokens, and what stands in for their group, or behind it where it is empty."""

_LEFT: Final = {
    "sqlite": r"(?<! as) '(?:now|subsec|subsecond)'",
    "postgres": rf" '(?:now|today)' (?!::|as )| '(?:tomorrow|yesterday)'| (?:{_NOW}|timeofday) \( \)"
    rf"| age \( (?!{_ARGUMENT}, )",
}
"""What reads the clock, or may, where no rule has found it."""

_CALLED: Final = re.compile(r"(?!current_|localtime)[a-z_]+")
_TIMES: Final = frozenset({"now", "today", "tomorrow", "yesterday", "subsec", "subsecond"})


class ClockError(ValueError):
    """SQL reads the clock in a way that no fixed day can replace; the message says which."""


def at_date(sql: str, day: str, dialect: str) -> str:
    """Return SQL with a day such as `2025-02-19` in place of everything that reads the clock.

    >>> at_date("SELECT date('now', '-1 day'), CURRENT_DATE -- now", "2025-02-19", "sqlite")
    "SELECT date('2025-02-19', '-1 day'), '2025-02-19' -- now"

    Raises:
        ClockError: a quote never ends, or something may read the clock for which no day can stand in.
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
    """Return a token as the rules see it: names as words, strings only where they may be a time."""
    text = token.text.lower()
    if token.kind == "quoted":
        is_text = dialect == "sqlite" and text == '"now"'  # SQLite takes a name for text if it knows none
        return "'now'" if is_text else unquoted(text) if _CALLED.fullmatch(unquoted(text)) else '"x"'
    if token.kind != "string" or text.strip("'") in _TIMES:
        return text
    if dialect == "postgres" and may_change(text):
        raise ClockError("a text that reads the clock when it runs, such as a function's body")
    return "'x'"


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    pieces, place = [], 0
    for start, end, new in sorted(edits):
        pieces += [text[place:start], new]
        place = end
    return "".join(pieces) + text[place:]
