"""The space of Unicode texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from birdenv.envs._text_vectorisation import SpaceAsText

_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ",
    " \n\t'\"`;,.()*=<>|\\/-_%?!",
    "äöüßéèçñøåłžşőÆŒ€",
    "αβγδεζηθλμπσφωАБВГДежзийкл",
    "אבגדהوزحطيكل",
    "कखगघठड\u0301\u0308\u200d",
    "查询数据库列日本語のテキスト한국어",
    "😀🐦📊𝔸𝛑\U00010348",
)
_LONGEST_SAMPLE = 32


class UnicodeText(SpaceAsText[str]):
    """All strings of at most `max_length` characters, with any Unicode in them.

    Gymnasium's `Text` looks at every character of a string to tell whether it is a member, and has an
    alphabet that results from a database leave at once. Samples are short (up to 32 characters), mix
    several scripts, punctuation and line breaks, and hold no surrogates.

    >>> space = UnicodeText(max_length=1000)
    >>> "Größe\\n查询" in space, "x" * 1001 in space, b"bytes" in space
    (True, False, False)
    """

    def __init__(self, max_length: int, *, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, dtype=str, seed=seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: None = None, probability: None = None) -> str:
        """A random short text; this space has no masks."""
        if mask is not None or probability is not None:
            raise ValueError("UnicodeText takes neither a mask nor a probability")
        rng = self.np_random
        length = int(rng.integers(0, min(self.max_length, _LONGEST_SAMPLE) + 1))
        alphabets = [_ALPHABETS[i] for i in rng.integers(0, len(_ALPHABETS), size=length)]
        return "".join(alphabet[int(rng.integers(0, len(alphabet)))] for alphabet in alphabets)

    def encode(self, value: str) -> str:
        return value

    def decode(self, text: str) -> str:
        return text

    def to_jsonable(self, sample_n: Iterable[str]) -> list[str]:
        return list(sample_n)

    def from_jsonable(self, sample_n: list[str]) -> list[str]:
        return list(sample_n)
