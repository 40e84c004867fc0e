"""The shapes of SQL, and the words for a reference, in text from which tricks were removed (lower case)."""

from __future__ import annotations

import re

__all__ = ["TELLTALE", "reference_words", "sql_shape", "suspicious_reference"]

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


def sql_shape(text: str, said: list[str]) -> str:
    if _FENCE.search(text):
        return "has a code fence"
    for pattern in (_CALL, _COMPARED, _CASE, _WITH, _MEMBERS, _RANGE):
        if match := pattern.search(text):
            return f"has the shape of SQL: {match.group()[:40]}"
    for first, second, distance in _SEQUENCES:
        last = -distance - 1
        for i, word in enumerate(said):
            if word == second and i - last <= distance:
                return f"has the shape of SQL: {first} .. {second}"
            if word == first:
                last = i
    return ""


def reference_words(text: str) -> str:
    """Words that can only mean a reference, "" if there are none."""
    match = _REFERENCE.search(text)
    return match.group() if match else ""


def suspicious_reference(text: str) -> frozenset[str]:
    """Words that mean a reference unless the task's own world has them."""
    return frozenset(match["one"] or match["two"] for match in _SUSPICIOUS.finditer(text))
