"""The shapes of SQL and the words for a reference, also in disguise: leet, rot13, base64, hexadecimal."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable

# Cyrillic and Greek letters that look like Latin ones, after case folding.
_LOOK_ALIKE = str.maketrans("аеосрхуіјѕԁһкмтвгпԛԝαεορχυικντβɡııѡ", "aeocpxyijsdhkmtbrnqwaeopxuikvtbgiiw")

_LEET = str.maketrans("0134578l!|@$", "oieastbiiias")
_ONLY_LETTERS = {
    code: _LEET.get(code) if not chr(code).isalnum() else _LEET.get(code, code) for code in range(128)
}
_ROT13 = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "nopqrstuvwxyzabcdefghijklmNOPQRSTUVWXYZABCDEFGHIJKLM",
)
_NO_LETTER = re.compile(r"[\W_]+")
_TOKEN = re.compile(r"[A-Za-z0-9+/_-]{12,}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}(?:\\x|0x|[\s:,-]){0,2}){10,}")
_FEWEST_DIGITS = 6  # in numbers or hexadecimal codes that stand for readable text
_CODES = re.compile(r"(?:\d{2,3}[\s,;]{1,2}){10,}\d{2,3}")


def plain(text: str) -> str:
    """Lower case, without accents, invisible signs and look-alike letters."""
    if text.isascii() and text.isprintable():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    kept = "".join(
        c for c in decomposed if unicodedata.category(c) not in ("Cf", "Mn", "Me", "Cc") or c in "\n\t\r"
    )
    return kept.casefold().translate(_LOOK_ALIKE)


def visible(text: str) -> str:
    """Return `text` without invisible characters: format signs, tags, variation selectors and the like."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c for c in text if c in "\n\t" or not _unseen(c))


def _unseen(character: str) -> bool:
    selector = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return selector or unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs")


def letters(text: str) -> str:
    """Return `text` (plain) without separators, digits read as letters they look like; i and l are one
    letter.
    """
    if text.isascii():
        return text.translate(_ONLY_LETTERS)
    return _NO_LETTER.sub("", leet(text).replace(" ", ""))


def leet(text: str) -> str:
    """Return `text` with digits and signs read as the letters that they look like."""
    return text.translate(_LEET)


def backwards(text: str) -> tuple[str, str]:
    """Return `text` with its letters, and with its words, in reverse order."""
    return text[::-1], " ".join(reversed(text.split()))


def rot13(text: str) -> str:
    return text.translate(_ROT13)


def decoded(text: str) -> str:
    """Return the decoded contents of all codes in `text`, or "" if none decodes to readable text."""
    tokens = _TOKEN.findall(text)
    found = []
    if sum(map(text.count, "0123456789")) >= _FEWEST_DIGITS:
        found = _from_numbers(text)
    for token in [*tokens, "".join(tokens)] if len(tokens) > 1 else tokens:
        for offset in range(4):
            found.append(_readable(_tried(base64.b64decode, _filled(token[offset:]))))
        if token.isupper():
            found.append(_readable(_tried(base64.b32decode, token + "=" * (-len(token) % 8))))
    return "\n".join(filter(None, found))


def _from_numbers(text: str) -> list[str]:
    found = [_readable(bytes.fromhex(re.sub(r"[^0-9a-fA-F]|0x", "", m.group()))) for m in _hex_runs(text)]
    return found + [_readable(_from_codes(match.group())) for match in _CODES.finditer(text)]


def _hex_runs(text: str) -> list[re.Match[str]]:
    matches = _HEX.finditer(text)
    return [m for m in matches if len(re.sub(r"[^0-9a-fA-F]|0x", "", m.group())) % 2 == 0]


def _from_codes(text: str) -> bytes:
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return bytes(number for number in numbers if number < 256)


def _filled(token: str) -> str:
    token = token.replace("-", "+").replace("_", "/")
    return token + "=" * (-len(token) % 4) if len(token) % 4 != 1 else token[:-1]


def _tried(decode: Callable[[str], bytes], token: str) -> bytes:
    try:
        return decode(token)
    except (binascii.Error, ValueError):
        return b""


def _readable(data: bytes) -> str:
    text = data.decode("utf-8", errors="ignore")
    seen = sum(c.isprintable() or c.isspace() for c in text)
    return text if len(text) > 7 and seen >= 0.9 * len(data) else ""


def mirrored_and_turned(word: str) -> tuple[str, str]:
    """Return `word` backwards and in rot13."""
    return word[::-1], rot13(word)


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
