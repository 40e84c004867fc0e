"""Undo what a speaker may do to text so that it does not look like what it says.

Kept cheap and linear: look-alike letters and digits, separators, reversal, rot13, base64, base32, hexadecimal
and decimal codes. Whoever shares a key with the listener gets past all of it.
"""

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
    """`text` without characters that are not seen: format signs, tags, variation selectors, unassigned."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c for c in text if c in "\n\t" or not _unseen(c))


def _unseen(character: str) -> bool:
    selector = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return selector or unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs")


def letters(text: str) -> str:
    """`text` (plain) without separators, digits read as letters they look like; i and l are one letter."""
    if text.isascii():
        return text.translate(_ONLY_LETTERS)
    return _NO_LETTER.sub("", leet(text).replace(" ", ""))


def leet(text: str) -> str:
    """`text` with digits and signs read as the letters that they look like."""
    return text.translate(_LEET)


def backwards(text: str) -> tuple[str, str]:
    """`text` with its letters, and with its words, in reverse order."""
    return text[::-1], " ".join(reversed(text.split()))


def rot13(text: str) -> str:
    return text.translate(_ROT13)


def decoded(text: str) -> str:
    """What the codes in `text` stand for, one after another; "" where nothing decodes to readable text."""
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
    """`word` backwards and in rot13."""
    return word[::-1], rot13(word)
