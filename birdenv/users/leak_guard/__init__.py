"""Stop a user's words that would give the task away, whoever the user is: rules, a model, a person.

BIRD-Interact leaves this to a prompt (§3.4); here it is code. An answer is replaced as a whole, with a
reason, if it

* has the shape of SQL: a statement's skeleton, a function call, `alias.column`, `IN (..`, a code fence;
* speaks of a reference: "ground truth", "gold SQL", "the solution", "benchmark", "snippet", "SQL";
* spells a name of the schema (or of the gold SQL) that is not in the granted snippets, if the name looks
  like an identifier (`_protected.py` has the rule; ordinary words such as "status" pass);
* repeats six words in a row of the gold SQL, or of an annotated snippet that was not granted, which are in
  no granted snippet; or a comparison of theirs in signs (`tier = 'x'`);
* repeats eight words in a row of the clear question that are in no granted snippet or term;
* has a stretch of letters of either, whatever stands between them, backwards, with digits for letters, in
  rot13, base64, base32, hexadecimal or decimal codes (`_patterns.py`).

Before that, tricks are undone: compatibility forms, invisible signs, accents, look-alike letters, letters
spaced apart, comments inside words. What a granted snippet quotes ('Gold', '$.a.b') is taken out first: the
user may say it.

What it promises: nothing leaves verbatim, nor in the everyday disguises above, and plain sentences about what
was granted pass. What it cannot: recognise a paraphrase of the clear question or of the SQL in other words,
or a code that two accomplices agreed on (initial letters, a cipher, one word a turn). Whoever is determined
to pass a secret can always encode it; this is a net against leaks, no breaker of ciphers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from birdenv.users._brief import Brief
from birdenv.users.leak_guard._patterns import (
    TELLTALE,
    backwards,
    decoded,
    letters,
    plain,
    reference_words,
    rot13,
    sql_shape,
    suspicious_reference,
    visible,
)
from birdenv.users.leak_guard._protected import (
    GOLD_LETTERS,
    GOLD_RUN,
    PART,
    Secrets,
    runs,
    secrets_of,
    signs,
    stretches,
    vocabulary,
)
from birdenv.users.sql_in_words._lexer import tokenize
from birdenv.users.sql_in_words._words import quoted

__all__ = ["CANNED", "Guarded", "guard_answer"]

CANNED = "Sorry, I would rather not go into that. Please ask about what I meant by my question."
"""What is said instead of an answer that was stopped."""


_SPACED_OUT = re.compile(r"\b(?:\w[ .\-_]){3,}\w\b")
_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+\*/")
_WORD = re.compile(r"\w+")
_QUALIFIED = re.compile(r"(?<![\w.])([a-z]\w{0,40})\.([a-z_]\w+)")
_SQUASHED = ("select", "insertinto", "deletefrom", "createtable", "createview", "groundtruth", "goldsql")


@dataclass(frozen=True, slots=True)
class Guarded:
    """What may be said; `reason` tells why the answer was replaced, and is "" if it was not."""

    text: str
    reason: str = ""


def guard_answer(text: str, brief: Brief, granted: Sequence[str]) -> Guarded:
    """`text` if it keeps to what `granted` (SQL snippets) entitles to, otherwise `CANNED` and a reason.

    What is passed on is what was looked at: signs that nobody sees, which could carry a message, are gone.
    """
    text = visible(text)
    reason = _leak(text, brief, granted)
    return Guarded(CANNED, reason) if reason else Guarded(text)


def _leak(text: str, brief: Brief, granted: Sequence[str]) -> str:
    terms = tuple(item.term for item in brief.ambiguities)
    allowed = vocabulary((*granted, *terms), brief.identifiers)
    secrets = secrets_of(brief, tuple(granted))
    shown = plain(_without_quotes(text, brief, granted))
    bare = _COMMENT.sub("", shown)
    joined = _SPACED_OUT.sub(lambda match: _squash(match.group()), bare)
    for version in dict.fromkeys((bare, joined, _COMMENT.sub(" ", shown))):
        said = _WORD.findall(version)
        reason = (
            sql_shape(version, said)
            or _qualified(version, secrets)
            or _reference(version, said, brief, allowed)
            or next((f"names {word!r}" for word in said if word in secrets.names), "")
        )
        if reason:
            return reason
    for run in map(_squash, _SPACED_OUT.findall(bare)):
        if any(len(part) > 5 and part in run for part in (*_SQUASHED, *sorted(secrets.names))):
            return f"spells a secret letter by letter: {run[:40]}"
    if not secrets.signs.isdisjoint(signs(bare)):
        return "repeats the reference beyond what was granted"
    return _repeats(bare, secrets) or _disguised(text, bare, secrets)


def _repeats(text: str, secrets: Secrets) -> str:
    """Whether plain `text` has words or letters in a row of what is secret."""
    said = PART.findall(text)
    run = letters(text)
    if not secrets.sql.isdisjoint(runs(said, GOLD_RUN)) or not secrets.sql_letters.isdisjoint(
        stretches(run, GOLD_LETTERS)
    ):
        return "repeats the reference beyond what was granted"
    if not secrets.clear.isdisjoint(runs(said, secrets.clear_run)) or not secrets.clear_letters.isdisjoint(
        stretches(run, secrets.clear_length)
    ):
        return "repeats the clear question"
    return ""


def _disguised(text: str, bare: str, secrets: Secrets) -> str:
    """Whether `text` says something secret once a disguise is taken off."""
    for word in _WORD.findall(bare):
        if len(word) > 5 and word not in secrets.spelt:
            forms = (letters(word), letters(word[::-1]))
            if not secrets.names_as_letters.isdisjoint(forms):
                return f"names a secret in disguise: {word[:40]}"
    for version in (*backwards(bare), rot13(bare), plain(decoded(text))):
        said = _WORD.findall(version)
        reason = _repeats(version, secrets) or next(
            (f"names {word!r}" for word in said if len(word) > 5 and word in secrets.names), ""
        )
        if not reason and version is not bare:
            reason = sql_shape(version, said) if len(said) > 2 else ""
        if reason:
            return f"in disguise: {reason}"
    return ""


def _squash(text: str) -> str:
    return re.sub(r"[ .\-_]", "", text)


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


def _reference(text: str, said: list[str], brief: Brief, allowed: frozenset[str]) -> str:
    """Words for a reference; a word that belongs to the task's own world (a gold price) is no telltale."""
    if words := reference_words(text):
        return f"speaks of a reference: {words}"
    suspect = [word for word in said if word in TELLTALE and word not in allowed]
    suspect += sorted(suspicious_reference(text) - allowed)
    own = vocabulary((brief.clear_query, *sorted(brief.identifiers))) if suspect else frozenset[str]()
    return next((f"speaks of a reference: {word}" for word in suspect if word not in own), "")


def _qualified(text: str, secrets: Secrets) -> str:
    for match in _QUALIFIED.finditer(text):
        alias, column = match.groups()
        known = column in secrets.spelt and (len(alias) < 3 or alias in secrets.spelt)
        if known and match.group() not in secrets.free_pairs:
            return f"has the shape of SQL: {match.group()[:40]}"
    return ""
