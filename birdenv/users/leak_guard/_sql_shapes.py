"""Find text that looks like SQL, and words that mention a reference solution."""

from __future__ import annotations

import re
from collections.abc import Sequence

_RANGE = re.compile(r"\bbetween\s+'[^']{0,80}[^\s'][^']{0,80}'\s+and\s+'")
_SHAPES = (
    re.compile(r"```|~~~|<sql>|<t>"),
    re.compile(
        r"\b(?:count|sum|avg|min|max|round|coalesce|ifnull|nullif|cast|abs|sqrt|power|lower|upper|trim|substr"
        r"|length|replace|strftime|julianday|json_extract|group_concat|iif|exists|over|values|rank|row_number"
        r"|dense_rank)(?:\(|\s+\(\s*(?:\*|distinct\b|case\b|select\b|\)))"
    ),
    re.compile(r"\b(?:where|and|on|having|when)\s+[\w.]{1,80}\s*(?:=|<>|!=|<=|>=|<|>|->)"),
    re.compile(r"\bcase\s+when\b|\bend\s+as\s+\w"),
    re.compile(r"\bwith\s+(?:recursive\s+)?\w+\s*(?:\([^()]*\)\s*)?as\s*(?:materialized\s*)?\("),
    re.compile(r"\bin\s*\(\s*(?:['\"]|\d[\d.]*\s*,)"),
    _RANGE,
    re.compile(
        r"\b(?:(?:insert|replace)\W++into|delete\W++from|(?:drop|alter|truncate)\W++table|drop\W++view"
        r"|union\W++all|partition\W++by|update\W++(?:\w++\W++){0,3}set"
        r"|create\W++(?:\w++\W++){0,4}(?:table|view|index|function)"
        r"|join\W++(?:\w++\W++){0,11}(?:on|using))\b"
    ),
)
_SIGNS = frozenset("(=<>`~")
_KEYWORDS = frozenset(
    """select insert replace delete update create drop alter truncate join union partition
    between case end""".split()
)
"""A text without any of these words, and without any of `_SIGNS`, does not look like SQL."""

_REFERENCE = re.compile(
    r"\b(?:ground\W{0,3}truths?|gold\W{0,3}(?:standard|sql|query|queries|answer|solution|code|statement)s?"
    r"|(?:reference|solution|correct|expected|hidden|original|official|true|real|actual|proper|target"
    r"|model|sample) (?:sql|query|queries|solution|code|statement)s?"
    r"|(?:reference|expected|hidden|official|model|sample) answers?|answer keys?|test cases?"
    r"|grad(?:er|ing script)s?|evaluation (?:script|set|query))\b"
)
_TELLTALE = frozenset(
    """sql postgresql sqlite groundtruth gold golden annotated annotation annotator benchmark benchmarks
    leaderboard snippet snippets""".split()
)
_SUSPICIOUS = re.compile(
    r"\b(?:the|a|my|your|this|that|our|to) (?P<one>references?|solutions?)\b"
    r"|\b(?P<two>references?|solutions?) (?:wants?|says?|expects?|has|uses?|requires?|shows?|needs?)\b"
)


def sql_shape(text: str, words: Sequence[str]) -> str:
    """Return the part of a text that looks like SQL, or an empty string. `words` are the words in `text`."""
    if _SIGNS.isdisjoint(text) and _KEYWORDS.isdisjoint(words):
        return ""
    for shape in _SHAPES:
        if match := shape.search(text):
            return match[0][:40]
    if "select" in words and "from" in words[words.index("select") :]:
        return "select .. from"
    return ""


def reference_words(text: str, words: Sequence[str], own_world: frozenset[str]) -> str:
    """Return the words in a text that mention a reference solution, or an empty string if there are none.

    Words from the task's own subject (`own_world`), such as "gold" in a task about metals, do not count.
    """
    if match := _REFERENCE.search(text):
        return match[0]
    suspects = [word for word in words if word in _TELLTALE]
    suspects += [match["one"] or match["two"] for match in _SUSPICIOUS.finditer(text)]
    return next((word for word in suspects if word not in own_world), "")
