"""Phrase banks: files that list what a player can say.

A bank is a JSON object:

    {"game": "mutual-friends",
     "phrases": [{"act": "ask", "about": "Company", "text": "anyone of yours at {value}?"},
                 {"act": "yes", "text": "yes, {count} of them"}]}

`act` is the dialogue act, and `text` holds the words, with slots in braces. `about` is the attribute that the
phrase is about; if it is missing, the phrase fits any attribute. `docs/cocoa.md` lists the acts and slots of
each game.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from birdenv.errors import InputError
from birdenv.files import read_json

_SLOT = re.compile(r"\{(\w+)\}")


class PhraseBank:
    """A collection of phrases from which a player draws at random, by dialogue act and attribute.

    A phrase is repeated only after all other phrases for the same act and attribute have been used.
    """

    def __init__(self, phrases: Iterable[Mapping[str, Any]], rng: Random) -> None:
        self._rng = rng
        self._phrases: dict[tuple[str, str | None], list[str]] = {}
        for phrase in phrases:
            self._phrases.setdefault((phrase["act"], phrase.get("about")), []).append(phrase["text"])
        self._left: dict[tuple[str, str | None], list[str]] = {}

    def knows(self, act: str, about: str | None = None) -> bool:
        """Return True if the bank has a phrase for an act that fits the attribute `about`."""
        return (act, about) in self._phrases or (act, None) in self._phrases

    def say(self, act: str, about: str | None = None, **slots: Any) -> str:
        """Return a random phrase for an act, with its slots filled.

        If no phrase is about the attribute `about`, a phrase that fits any attribute is used or, failing
        that, a phrase about a different attribute.
        """
        known = (key for key in ((act, about), (act, None)) if key in self._phrases)
        key = next(known, None) or next(key for key in self._phrases if key[0] == act)
        left = self._left.get(key)
        if not left:
            left = self._left[key] = list(self._phrases[key])
            self._rng.shuffle(left)
        text = left.pop()
        return _SLOT.sub(lambda slot: str(slots.get(slot.group(1), slot.group(0))), text)


def read_bank(
    path: Path, game: str, acts: Mapping[str, set[str]], needed: Iterable[str]
) -> list[Mapping[str, Any]]:
    """Read a bank's phrases from a JSON file.

    Args:
        path: the path of the JSON file.
        game: the name of the game.
        acts: the slots that phrases can use, keyed by dialogue act.
        needed: the acts that the bank must have phrases for.

    Raises:
        InputError: the file is not a bank for the game; the message names the phrase.
    """
    bank = read_json(path)
    phrases = bank.get("phrases") if isinstance(bank, Mapping) else None
    if not isinstance(phrases, list) or bank.get("game") != game:
        raise InputError(f"{path}: expected an object with `game` ({game!r}) and a list `phrases`")
    for number, phrase in enumerate(phrases, 1):
        where = f"{path}: phrase {number}"
        if not isinstance(phrase, Mapping) or not isinstance(phrase.get("text"), str):
            raise InputError(f"{where} needs a `text`")
        act = phrase.get("act")
        if not isinstance(act, str) or act not in acts:
            raise InputError(f"{where}: unknown act {act!r}; the acts are {', '.join(acts)}")
        wrong = sorted(set(_SLOT.findall(phrase["text"])) - acts[act])
        if wrong:
            known = ", ".join(sorted(acts[act])) or "none"
            raise InputError(f"{where}: `{act}` has no slot {wrong[0]!r}; its slots are {known}")
    lacking = [act for act in needed if not any(phrase["act"] == act for phrase in phrases)]
    if lacking:
        raise InputError(f"{path}: there is no phrase for `{lacking[0]}`")
    return phrases
