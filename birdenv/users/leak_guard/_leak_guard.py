"""The leak guard of one brief: what is secret is worked out once, and each answer is only looked up in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from birdenv.users._brief import Brief
from birdenv.users.leak_guard._secrets import Protected, Secrets, signs
from birdenv.users.leak_guard._sql_shapes import (
    backwards,
    decoded,
    leet,
    letters,
    plain,
    reference_words,
    rot13,
    sql_shape,
    visible,
)

CANNED = "Sorry, I would rather not go into that. Please ask about what I meant by my question."
"""What is said instead of an answer that was stopped."""

_SHORT = 500  # characters of an answer that is remembered
_MOST_PASSED = 256
_SPACED_OUT = re.compile(r"\b(?:\w[ .\-_]){3,}\w\b")
_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+\*/")
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[^\W_]+")
_QUALIFIED = re.compile(r"(?<![\w.])([a-z]\w{0,40})\.([a-z_]\w+)")
_SQUASHED = ("select", "insertinto", "deletefrom", "createtable", "createview", "groundtruth", "goldsql")


class GuardedAnswer(NamedTuple):
    """The answer that may be said. `reason` says why it replaces another one, and is "" if it does not."""

    text: str
    reason: str = ""


class LeakGuard:
    """Stop the words of any user that would give away the task of one brief."""

    def __init__(self, brief: Brief) -> None:
        self._protected = Protected(brief)
        self._passed: set[tuple[str, tuple[str, ...]]] = set()

    def filter(self, text: str, granted: Sequence[str]) -> GuardedAnswer:
        """Pass on `text` if it keeps to what it was granted, otherwise a fixed sentence and a reason.

        What is passed on is what was looked at: signs that nobody sees, which could carry a message, are
        gone.

        Args:
            text: The words of a user.
            granted: The SQL snippets that the answer may draw on.

        Returns:
            The words that may be said.
        """
        asked = text, tuple(granted)
        if asked in self._passed:
            return GuardedAnswer(text)
        text = visible(text)
        reason = self._leak(text, asked[1])
        if reason:
            return GuardedAnswer(CANNED, reason)
        if len(text) <= _SHORT and len(self._passed) < _MOST_PASSED:
            self._passed.add((text, asked[1]))
        return GuardedAnswer(text)

    def _leak(self, text: str, granted: tuple[str, ...]) -> str:
        """Look for what is secret without any grant first: worked out once, few answers have any."""
        shown = text
        for quotation in self._protected.quotations(granted):
            shown = shown.replace(quotation, " ' ' ")
        if not _leak(text, shown, self._protected.secrets(())):
            return ""
        return _leak(text, shown, self._protected.secrets(granted))


@lru_cache(maxsize=256)
def leak_guard(brief: Brief) -> LeakGuard:
    """Return the guard of `brief`, compiled when it is first asked for."""
    return LeakGuard(brief)


def guard_answer(text: str, brief: Brief, granted: Sequence[str]) -> GuardedAnswer:
    """Filter one answer through the guard of `brief`."""
    return leak_guard(brief).filter(text, granted)


def _leak(text: str, shown: str, secrets: Secrets) -> str:
    """Return what a text has of secrets; `shown` is the text without the quotations that may be said."""
    shown = plain(shown)
    bare, versions = shown, [shown]
    if "/*" in shown:
        closed, end, rest = shown.rpartition("*/")  # looking for an end that there is not takes long
        closed += end
        bare = _COMMENT.sub("", closed) + rest
        versions = [bare, _COMMENT.sub(" ", closed) + rest]
    runs = [match.group() for match in _SPACED_OUT.finditer(bare)]
    if runs:
        versions.insert(1, _SPACED_OUT.sub(lambda match: _squash(match.group()), bare))
    for version in versions:
        said = _WORD.findall(version)
        reason = (
            sql_shape(version, said)
            or _qualified(version, secrets)
            or _reference(version, said, secrets)
            or _named(said, secrets.names)
        )
        if reason:
            return reason
    for run in map(_squash, runs):
        if any(len(part) > 5 and part in run for part in (*_SQUASHED, *sorted(secrets.names))):
            return f"spells a secret letter by letter: {run[:40]}"
    if not secrets.signs.isdisjoint(signs(bare)):
        return "repeats the reference beyond what was granted"
    said = _WORD.findall(bare)
    run = letters(bare)
    parts = said if "_" not in bare else _PART.findall(bare)
    return _repeats(parts, run, secrets) or _disguised(text, bare, said, run, secrets)


def _named(said: list[str], names: frozenset[str]) -> str:
    if names.isdisjoint(said):
        return ""
    return next(f"names {word!r}" for word in said if word in names)


def _repeats(said: list[str], run: str, secrets: Secrets) -> str:
    """Return whether words or letters in a row are those of what is secret."""
    return secrets.words.reason(tuple(said)) or secrets.letters.reason(run)


def _may_be_disguised(text: str, bare: str, said: list[str], run: str, secrets: Secrets) -> bool:
    """Return whether `_disguised` can find something: one look for all disguises, cheaper than they are.

    What mirrors a secret, or is its rot13, is looked up in mirrored and turned secrets, compiled once.
    """
    if "_" in bare or not secrets.disguised_words.isdisjoint(said):
        return True
    reordered = " ".join(reversed(bare.split()))
    words_reordered = _WORD.findall(reordered)
    words, letter_runs = secrets.words, secrets.letters
    return (
        words.may_hold(tuple(said))
        or letter_runs.may_hold(run)
        or letter_runs.may_hold(letters(rot13(bare)))
        or letter_runs.may_hold(letters(reordered))
        or words.may_hold(tuple(words_reordered))
        or bool(sql_shape(reordered, words_reordered))
        or bool(decoded(text))
    )


def _disguised(text: str, bare: str, said: list[str], run: str, secrets: Secrets) -> str:
    """Return whether `text` says something secret once a disguise is taken off."""
    long = [word for word in said if len(word) > 5 and word not in secrets.spelt]
    forms = leet(" ".join(long)).replace("_", "")
    if not secrets.names_as_letters.isdisjoint([*forms.split(), *forms[::-1].split()]):
        return "names a secret in disguise"
    if not _may_be_disguised(text, bare, said, run, secrets):
        return ""
    mirrored, reordered = backwards(bare)
    other, hidden = rot13(bare), plain(decoded(text))
    versions = [
        (mirrored, " ".join(said)[::-1].split(), run[::-1]),
        (reordered, _WORD.findall(reordered), letters(reordered)),
        (other, rot13(" ".join(said)).split(), letters(other)),
    ]
    if hidden:
        versions.append((hidden, _WORD.findall(hidden), letters(hidden)))
    for version, words, letters_in_a_row in versions:
        parts = words if "_" not in version else _PART.findall(version)
        reason = _repeats(parts, letters_in_a_row, secrets) or _named(words, secrets.long_names)
        if not reason and len(words) > 2:
            reason = sql_shape(version, words)
        if reason:
            return f"in disguise: {reason}"
    return ""


def _squash(text: str) -> str:
    return re.sub(r"[ .\-_]", "", text)


def _reference(text: str, said: list[str], secrets: Secrets) -> str:
    """Words for a reference; a word that belongs to the task's own world (a gold price) is no telltale."""
    words, suspects = reference_words(text, said)
    if words:
        return f"speaks of a reference: {words}"
    return next((f"speaks of a reference: {word}" for word in suspects if word not in secrets.own_world), "")


def _qualified(text: str, secrets: Secrets) -> str:
    for match in _QUALIFIED.finditer(text) if "." in text[:-1] else ():
        alias, column = match.groups()
        known = column in secrets.spelt and (len(alias) < 3 or alias in secrets.spelt)
        if known and match.group() not in secrets.free_pairs:
            return f"has the shape of SQL: {match.group()[:40]}"
    return ""
