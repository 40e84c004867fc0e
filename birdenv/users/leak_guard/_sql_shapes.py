"""The shapes of SQL, and the words for a reference, in text from which tricks were removed (lower case)."""

from __future__ import annotations

import re

from birdenv.users.leak_guard._disguises import mirrored_and_turned

_FENCE = re.compile(r"```|~~~|<sql>|<t>")
_CALL = re.compile(
    r"\b(?:count|sum|avg|min|max|round|coalesce|ifnull|nullif|cast|abs|sqrt|power|lower|upper|trim|substr|length"
    r"|replace|strftime|julianday|json_extract|group_concat|iif|exists|over|values|rank|row_number|dense_rank)"
    r"(?:\(|\s+\(\s*(?:\*|distinct\b|case\b|select\b|\)))"
)
_COMPARED = re.compile(r"\b(?:where|and|on|having|when)\s+[\w.]{1,80}\s*(?:=|<>|!=|<=|>=|<|>|->)")
_CASE = re.compile(r"\bcase\s+when\b|\bend\s+as\s+\w")
_WITH = re.compile(r"\bwith\s+(?:recursive\s+)?\w+\s*(?:\([^()]*\)\s*)?as\s*(?:materialized\s*)?\(")
_SEQUENCES: tuple[tuple[str, str, int], ...] = (
    ("select", "from", 10_000),
    ("insert", "into", 1),
    ("replace", "into", 1),
    ("delete", "from", 1),
    ("update", "set", 4),
    ("create", "table", 4),
    ("create", "view", 5),
    ("create", "index", 3),
    ("create", "function", 4),
    ("drop", "table", 1),
    ("drop", "view", 1),
    ("alter", "table", 1),
    ("truncate", "table", 1),
    ("join", "on", 12),
    ("join", "using", 6),
    ("union", "all", 1),
    ("partition", "by", 1),
)
_MEMBERS = re.compile(r"\bin\s*\(\s*(?:['\"]|\d[\d.]*\s*,)")
_RANGE = re.compile(r"\bbetween\s+'[^']{0,80}[^\s'][^']{0,80}'\s+and\s+'")
_REFERENCE = re.compile(
    r"\b(?:ground\W{0,3}truths?|gold\W{0,3}(?:standard|sql|query|queries|answer|solution|code|statement)s?"
    r"|(?:reference|solution|correct|expected|hidden|original|official|true|real|actual|proper|target"
    r"|model|sample) (?:sql|query|queries|solution|code|statement)s?"
    r"|(?:reference|expected|hidden|official|model|sample) answers?|answer keys?|test cases?"
    r"|grad(?:er|ing script)s?|evaluation (?:script|set|query))\b"
)
TELLTALE = frozenset(
    {
        "sql",
        "postgresql",
        "sqlite",
        "groundtruth",
        "gold",
        "golden",
        "annotated",
        "annotation",
        "annotator",
        "benchmark",
        "benchmarks",
        "leaderboard",
        "snippet",
        "snippets",
    }
)

# Words that mean a reference only in a phrase, and only in tasks that do not speak of such things themselves.
_SUSPICIOUS = re.compile(
    r"\b(?:the|a|my|your|this|that|our|to) (?P<one>references?|solutions?)\b"
    r"|\b(?P<two>references?|solutions?) (?:wants?|says?|expects?|has|uses?|requires?|shows?|needs?)\b"
)


_FIRST = frozenset(first for first, _, _ in _SEQUENCES)
_ALWAYS_NEEDED: tuple[tuple[str, tuple[re.Pattern[str], ...]], ...] = (
    ("(", (_CALL, _WITH, _MEMBERS)),
    ("between", (_RANGE,)),
    ("case", (_CASE,)),
    ("end", (_CASE,)),
    ("=", (_COMPARED,)),
    ("<", (_FENCE, _COMPARED)),
    (">", (_COMPARED,)),
    ("```", (_FENCE,)),
    ("~~~", (_FENCE,)),
)
"""Text without which a pattern cannot match: cheaper to look for than the pattern."""


def sql_shape(text: str, said: list[str]) -> str:
    """Return a reason if `text`, whose words are `said`, has the shape of SQL."""
    for sign, patterns in _ALWAYS_NEEDED:
        if sign in text:
            for pattern in patterns:
                if match := pattern.search(text):
                    return (
                        "has a code fence"
                        if pattern is _FENCE
                        else f"has the shape of SQL: {match.group()[:40]}"
                    )
    if _FIRST.isdisjoint(said):
        return ""
    for first, second, distance in _SEQUENCES:
        last = -distance - 1
        for i, word in enumerate(said) if first in said and second in said else ():
            if word == second and i - last <= distance:
                return f"has the shape of SQL: {first} .. {second}"
            if word == first:
                last = i
    return ""


_KEYWORDS = frozenset(
    """count sum avg min max round coalesce ifnull nullif cast abs sqrt power lower upper trim substr length
    replace strftime julianday json_extract group_concat iif exists over values rank row_number dense_rank
    where and on having when case end with in between sql t""".split()
)


DISGUISED_KEYWORDS = frozenset(form for word in _KEYWORDS | _FIRST for form in mirrored_and_turned(word))
"""Words without one of which no disguised text has the shape of SQL."""

_IN_EVERY_REFERENCE = tuple(
    "truth standard sql quer answer solution code statement case grad evaluation".split()
)


def reference_words(text: str, said: list[str]) -> tuple[str, list[str]]:
    """Find words that speak of a reference.

    Returns:
        Words that can only mean a reference ("" if there are none), and words that mean one unless the
        task's own world has them.
    """
    suspects = [word for word in said if word in TELLTALE]
    if any(part in text for part in _IN_EVERY_REFERENCE) and (match := _REFERENCE.search(text)):
        return match.group(), suspects
    if "solution" in text or "reference" in text:
        suspects += sorted({match["one"] or match["two"] for match in _SUSPICIOUS.finditer(text)})
    return "", suspects
