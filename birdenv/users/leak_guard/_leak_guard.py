"""The leak guard for one task. The secrets are compiled once, and each answer is checked against them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from birdenv.users._brief import Brief
from birdenv.users.leak_guard._disguises import decoded, leet, letters, plain, visible
from birdenv.users.leak_guard._secrets import Secrets, quotations, secrets_of, signs
from birdenv.users.leak_guard._sql_shapes import reference_words, sql_shape

CANNED = "Sorry, I would rather not go into that. Please ask about what I meant by my question."
"""The sentence that replaces a blocked answer."""

_SHORT = 500  # characters of an answer that is remembered
_SPACED_OUT = re.compile(r"\b(?:\w[ .\-_]){3,}\w\b")
_SPACES = re.compile(r"[ .\-_]")
_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+\*/")
_WORD = re.compile(r"\w+")
_QUALIFIED = re.compile(r"(?<![\w.])([a-z]\w{0,40})\.([a-z_]\w+)")
_SQUASHED = frozenset(
    map(letters, "select insertinto deletefrom createtable createview groundtruth goldsql".split())
)


class GuardedAnswer(NamedTuple):
    """An answer that is safe to send.

    Attributes:
        text: the user's answer, or the sentence that replaced it.
        reason: why the guard replaced the answer; empty if it did not.
    """

    text: str
    reason: str = ""


def guard_answer(text: str, brief: Brief, granted: Sequence[str]) -> GuardedAnswer:
    """Return an answer if it reveals only what was granted; otherwise, a fixed sentence and the reason.

    Invisible characters are removed from the answer, because they could carry a message.

    Args:
        text: the user's answer.
        brief: what the user knows about the task.
        granted: the SQL snippets that the answer may draw on.
    """
    text = visible(text)
    find = _reason if len(text) <= _SHORT else _reason.__wrapped__
    reason = find(text, brief, tuple(granted))
    return GuardedAnswer(CANNED, reason) if reason else GuardedAnswer(text)


@lru_cache(maxsize=4096)
def _reason(text: str, brief: Brief, granted: tuple[str, ...]) -> str:
    """Return the reason for replacing an answer, or an empty string.

    For speed, the secrets for an answer without grants are tried first: most answers contain none of them.
    """
    shown = text
    for quotation in quotations(brief, granted):
        shown = shown.replace(quotation, " ' ' ")
    shown = plain(shown)
    return _leak(text, shown, secrets_of(brief, ())) and _leak(text, shown, secrets_of(brief, granted))


def _leak(text: str, shown: str, secrets: Secrets) -> str:
    """Return what a text leaks, or an empty string; `shown` is the plain text without quotations."""
    bare = _without_comments(shown, "")
    closed_up = _SPACED_OUT.sub(lambda match: _SPACES.sub("", match[0]), bare)
    for version in dict.fromkeys((bare, closed_up, _without_comments(shown, " "))):
        said = _WORD.findall(version)
        if shape := sql_shape(version, said) or _qualified(version, secrets):
            return f"has the shape of SQL: {shape}"
        if reference := reference_words(version, said, secrets.own_world):
            return f"speaks of a reference: {reference}"
        if named := _named(said, secrets.names):
            return named
    for run in _SPACED_OUT.findall(bare):
        if any(part in letters(run) for part in _SQUASHED | secrets.names_as_letters):
            return f"spells a secret letter by letter: {run[:40]}"
    if not secrets.signs.isdisjoint(signs(bare)):
        return "repeats the reference beyond what was granted"
    return secrets.repeated_in(bare) or _disguised(text, bare, secrets)


def _without_comments(text: str, instead: str) -> str:
    closed, end, rest = text.rpartition("*/")  # looking for an end that there is not takes long
    return _COMMENT.sub(instead, closed + end) + rest


def _named(said: Sequence[str], names: frozenset[str]) -> str:
    return next((f"names {word!r}" for word in said if word in names), "")


def _disguised(text: str, bare: str, secrets: Secrets) -> str:
    """Return a reason if `text` leaks a secret in disguise; `bare` is its plain form."""
    long = [word for word in _WORD.findall(bare) if len(word) > 5 and word not in secrets.spelt]
    forms = leet(" ".join(long)).replace("_", "")
    if not secrets.names_as_letters.isdisjoint([*forms.split(), *forms[::-1].split()]):
        return "names a secret in disguise"
    rot13, words_reversed = codecs.encode(bare, "rot13"), " ".join(reversed(bare.split()))
    undone = "\n".join((bare[::-1], rot13, words_reversed, plain(decoded(text))))
    said = _WORD.findall(undone)
    named = _named([word for word in said if len(word) > 5], secrets.names)
    reason = secrets.repeated_in(undone) or named or sql_shape(undone, said)
    return f"in disguise: {reason}" if reason else ""


def _qualified(text: str, secrets: Secrets) -> str:
    """Return the first column in a text that has a table or alias before it, or an empty string."""
    for match in _QUALIFIED.finditer(text) if "." in text[:-1] else ():
        alias, column = match.groups()
        if column in secrets.spelt and (len(alias) < 3 or alias in secrets.spelt):
            return match[0][:40]
    return ""
