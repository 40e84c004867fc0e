"""Stop a user's words that would give the task away, whoever the user is: rules, a model, a person.

BIRD-Interact leaves this to a prompt (§3.4); here it is code. An answer is replaced as a whole, with a
reason, if it

* has the shape of SQL: a statement's skeleton, a function call, a code fence;
* speaks of a reference: "ground truth", "gold SQL", "annotated", "snippet", "SQL";
* spells a name of the schema (or of the gold SQL) that is not in the granted snippets, if the name looks
  like an identifier (`_identifiers.py` has the rule; ordinary words such as "status" pass);
* repeats six words in a row of the gold SQL that are in no granted snippet;
* repeats eight words in a row of the clear question that are in no granted snippet or term.

Before that, tricks are undone: compatibility forms, invisible signs, accents, look-alike letters, letters
spaced apart, comments inside words. What a granted snippet quotes ('Gold', '$.a.b') is taken out first: the
user may say it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from birdenv.users._brief import Brief
from birdenv.users._identifiers import is_identifier
from birdenv.users._lexer import split_words, tokenize
from birdenv.users._wording import quoted

__all__ = ["CANNED", "Guarded", "guard_answer"]

CANNED = "Sorry, I would rather not go into that. Please ask about what I meant by my question."
"""What is said instead of an answer that was stopped."""

_GOLD_RUN = 6
_CLEAR_RUN = 8

# Cyrillic and Greek letters that look like Latin ones, after case folding.
_LOOK_ALIKE = str.maketrans("аеосрхуіјѕԁһкмтвгпԛԝαεορχυικντβɡııѡ", "aeocpxyijsdhkmtbrnqwaeopxuikvtbgiiw")
_SPACED_OUT = re.compile(r"\b(?:\w[ .\-_]){3,}\w\b")
_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+\*/")
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[^\W_]+")
_SQUASHED = ("select", "insertinto", "deletefrom", "createtable", "createview", "groundtruth", "goldsql")
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
_REFERENCE = re.compile(
    r"\b(?:ground\W{0,3}truths?|gold\W{0,3}(?:standard|sql|query|queries|answer|solution|code|statement)s?"
    r"|(?:reference|solution|correct|expected|hidden|original|official)"
    r" (?:sql|query|queries|solution|code|statement)s?"
    r"|(?:reference|expected|hidden|official) answers?)\b"
)
_TELLTALE = frozenset(
    {
        "sql",
        "postgresql",
        "sqlite",
        "groundtruth",
        "gold",
        "golden",
        "annotated",
        "annotation",
        "snippet",
        "snippets",
    }
)


@dataclass(frozen=True, slots=True)
class Guarded:
    """What may be said; `reason` tells why the answer was replaced, and is "" if it was not."""

    text: str
    reason: str = ""


def guard_answer(text: str, brief: Brief, granted: Sequence[str]) -> Guarded:
    """`text` if it keeps to what `granted` (SQL snippets) entitles to, otherwise `CANNED` and a reason."""
    reason = _leak(text, brief, granted)
    return Guarded(CANNED, reason) if reason else Guarded(text)


def _leak(text: str, brief: Brief, granted: Sequence[str]) -> str:
    plain = _plain(_without_quotes(text, brief, granted))
    bare = _COMMENT.sub("", plain)
    joined = _SPACED_OUT.sub(lambda match: _squash(match.group()), bare)
    terms = [item.term for item in brief.ambiguities]
    allowed = _vocabulary([*granted, *terms])
    secret = _made_up(brief.identifiers, brief.gold, _vocabulary([brief.clear_query])) - allowed
    for version in dict.fromkeys((bare, joined, _COMMENT.sub(" ", plain))):
        said = _WORD.findall(version)
        reason = (
            _sql_shape(version, said)
            or _reference(version, said, brief, allowed)
            or next((f"names {word!r}" for word in said if word in secret), "")
        )
        if reason:
            return reason
    for run in map(_squash, _SPACED_OUT.findall(bare)):
        if any(len(part) > 5 and part in run for part in (*_SQUASHED, *sorted(secret))):
            return f"spells a secret letter by letter: {run[:40]}"
    said = _PART.findall(bare)
    if _shares(said, map(_sql_words, brief.gold), map(_sql_words, granted), _GOLD_RUN):
        return "repeats the reference beyond what was granted"
    clear = _PART.findall(_plain(brief.clear_query))
    known = [_PART.findall(_plain(part)) for part in (*granted, *terms)]
    if _shares(said, [clear], known, min(_CLEAR_RUN, max(len(clear), 5))):
        return "repeats the clear question"
    return ""


def _squash(letters: str) -> str:
    return re.sub(r"[ .\-_]", "", letters)


def _plain(text: str) -> str:
    """Lower case, without accents, invisible signs and look-alike letters."""
    if text.isascii() and text.isprintable():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    kept = "".join(
        c for c in decomposed if unicodedata.category(c) not in ("Cf", "Mn", "Me", "Cc") or c in "\n\t\r"
    )
    return kept.casefold().translate(_LOOK_ALIKE)


def _without_quotes(text: str, brief: Brief, granted: Sequence[str]) -> str:
    """`text` without what the granted snippets and the terms themselves put in quotation marks."""
    strings = {
        t.text
        for part in granted
        for t in tokenize(part)
        if t.kind in ("string", "quoted") and t.text.strip()
    }
    strings.update(" ".join(item.term.split()) for item in brief.ambiguities)
    for string in sorted(strings, key=lambda s: (-len(s), s)):
        for form in (quoted(string), f"'{string}'", f'"{string}"'):
            text = text.replace(form, " ' ' ")
    return text


def _vocabulary(parts: Iterable[str]) -> frozenset[str]:
    """Words, spelt as they are and split, that are not secret."""
    found: set[str] = set()
    for part in parts:
        found.update(re.findall(r"\w+", _plain(part)))
        found.update(split_words(part).split())
    return frozenset(found)


def _sql_shape(text: str, said: list[str]) -> str:
    if _FENCE.search(text):
        return "has a code fence"
    for pattern in (_CALL, _COMPARED, _CASE, _WITH):
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


def _reference(text: str, said: list[str], brief: Brief, allowed: frozenset[str]) -> str:
    """Words for a reference; a word that belongs to the task's own world (a gold price) is no telltale."""
    if match := _REFERENCE.search(text):
        return f"speaks of a reference: {match.group()}"
    suspect = [word for word in said if word in _TELLTALE and word not in allowed]
    own = _vocabulary([brief.clear_query, *brief.identifiers]) if suspect else frozenset[str]()
    return next((f"speaks of a reference: {word}" for word in suspect if word not in own), "")


@lru_cache(maxsize=256)
def _made_up(identifiers: frozenset[str], gold: tuple[str, ...], own: frozenset[str]) -> frozenset[str]:
    """The names of a task that look like identifiers."""
    names = set(identifiers)
    names.update(t.text for statement in gold for t in tokenize(statement) if t.kind in ("word", "quoted"))
    return frozenset(_plain(name) for name in names if is_identifier(name, own))


def _sql_words(sql: str) -> list[str]:
    return _PART.findall(_plain(sql))


def _shares(said: list[str], secret: Iterable[list[str]], known: Iterable[list[str]], length: int) -> bool:
    """Whether `said` has a run of `length` words that is in `secret` and not in `known`."""
    hidden = {run for part in secret for run in _runs(part, length)}
    hidden -= {run for part in known for run in _runs(part, length)}
    return bool(hidden) and any(run in hidden for run in _runs(said, length))


def _runs(said: list[str], length: int) -> Iterable[tuple[str, ...]]:
    return (tuple(said[i : i + length]) for i in range(len(said) - length + 1))
