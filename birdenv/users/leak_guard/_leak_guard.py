"""The leak guard for one task. The secrets are compiled once, and each answer is checked against them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from birdenv.users._brief import Brief
from birdenv.users.leak_guard._disguises import decoded, leet, plain, visible
from birdenv.users.leak_guard._secrets import Protected, Secrets, signs
from birdenv.users.leak_guard._sql_shapes import reference_words, sql_shape

CANNED = "Sorry, I would rather not go into that. Please ask about what I meant by my question."
"""The sentence that replaces a blocked answer."""

_SHORT = 500  # characters of an answer that is remembered
_SPACED_OUT = re.compile(r"\b(?:\w[ .\-_]){3,}\w\b")
_SPACES = re.compile(r"[ .\-_]")
_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+\*/")
_WORD = re.compile(r"\w+")
_QUALIFIED = re.compile(r"(?<![\w.])([a-z]\w{0,40})\.([a-z_]\w+)")
_SQUASHED = ("select", "insertinto", "deletefrom", "createtable", "createview", "groundtruth", "goldsql")


class GuardedAnswer(NamedTuple):
    """An answer that is safe to send.

    Attributes:
        text: the user's answer, or the sentence that replaced it.
        reason: why the guard replaced the answer; empty if it did not.
    """

    text: str
    reason: str = ""


class LeakGuard:
    """A filter that replaces answers that would reveal the solution of one task."""

    def __init__(self, brief: Brief) -> None:
        self._protected = Protected(brief)
        self._remembered = lru_cache(maxsize=256)(self._reason)

    def filter(self, text: str, granted: Sequence[str]) -> GuardedAnswer:
        """Return an answer if it reveals only what was granted; otherwise, a fixed sentence and the reason.

        Invisible characters are removed from the answer, because they could carry a message.

        Args:
            text: the user's answer.
            granted: the SQL snippets that the answer may draw on.
        """
        text = visible(text)
        find = self._remembered if len(text) <= _SHORT else self._reason
        reason = find(text, tuple(granted))
        return GuardedAnswer(CANNED, reason) if reason else GuardedAnswer(text)

    def _reason(self, text: str, granted: tuple[str, ...]) -> str:
        """Return the reason for replacing an answer, or an empty string.

        The secrets for an answer without grants are checked first: most answers contain none of them.
        """
        shown = text
        for quotation in self._protected.quotations(granted):
            shown = shown.replace(quotation, " ' ' ")
        return _leak(text, shown, self._protected.secrets(())) and _leak(
            text, shown, self._protected.secrets(granted)
        )


@lru_cache(maxsize=256)
def leak_guard(brief: Brief) -> LeakGuard:
    """Return the guard for `brief`, which is built on the first call and then cached."""
    return LeakGuard(brief)


def guard_answer(text: str, brief: Brief, granted: Sequence[str]) -> GuardedAnswer:
    """Filter one answer through the guard for `brief`."""
    return leak_guard(brief).filter(text, granted)


def _leak(text: str, shown: str, secrets: Secrets) -> str:
    """Return a description of what a text leaks; `shown` is the text without permitted quotations."""
    shown = plain(shown)
    bare = _without_comments(shown, "")
    runs = [_SPACES.sub("", match[0]) for match in _SPACED_OUT.finditer(bare)]
    closed_up = _SPACED_OUT.sub(lambda match: _SPACES.sub("", match[0]), bare)
    for version in dict.fromkeys((bare, closed_up, _without_comments(shown, " "))):
        said = _WORD.findall(version)
        if shape := sql_shape(version, said) or _qualified(version, secrets):
            return f"has the shape of SQL: {shape}"
        if reference := reference_words(version, said, secrets.own_world):
            return f"speaks of a reference: {reference}"
        if named := _named(said, secrets.names):
            return named
    for run in runs:
        if any(len(part) > 5 and part in run for part in (*_SQUASHED, *sorted(secrets.names))):
            return f"spells a secret letter by letter: {run[:40]}"
    if not secrets.signs.isdisjoint(signs(bare)):
        return "repeats the reference beyond what was granted"
    return _repeats(bare, secrets) or _disguised(text, bare, secrets)


def _without_comments(text: str, instead: str) -> str:
    closed, end, rest = text.rpartition("*/")  # looking for an end that there is not takes long
    return _COMMENT.sub(instead, closed + end) + rest


def _named(said: Sequence[str], names: frozenset[str]) -> str:
    return next((f"names {word!r}" for word in said if word in names), "")


def _repeats(text: str, secrets: Secrets) -> str:
    """Return a reason if the text repeats a secret sequence of words or letters."""
    return secrets.words.reason(text) or secrets.letters.reason(text)


def _disguised(text: str, bare: str, secrets: Secrets) -> str:
    """Return a reason if `text` leaks a secret in disguise."""
    long = [word for word in _WORD.findall(bare) if len(word) > 5 and word not in secrets.spelt]
    forms = leet(" ".join(long)).replace("_", "")
    if not secrets.names_as_letters.isdisjoint([*forms.split(), *forms[::-1].split()]):
        return "names a secret in disguise"
    words_reversed = " ".join(reversed(bare.split()))
    for version in (bare[::-1], words_reversed, codecs.encode(bare, "rot13"), plain(decoded(text))):
        said = _WORD.findall(version)
        shape = sql_shape(version, said) if len(said) > 2 else ""
        named = _named([word for word in said if len(word) > 5], secrets.names)
        if reason := _repeats(version, secrets) or named or shape:
            return f"in disguise: {reason}"
    return ""


def _qualified(text: str, secrets: Secrets) -> str:
    """Return the first column in a text that has a table or alias before it, or an empty string."""
    for match in _QUALIFIED.finditer(text) if "." in text[:-1] else ():
        alias, column = match.groups()
        if column in secrets.spelt and (len(alias) < 3 or alias in secrets.spelt):
            return match[0][:40]
    return ""
