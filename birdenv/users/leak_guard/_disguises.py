"""Undo disguises in a text: look-alike letters, leet, base64, base32, character codes."""

from __future__ import annotations

import base64
import re
import unicodedata

# Cyrillic and Greek letters that look like Latin ones, after case folding.
_LOOK_ALIKE = str.maketrans("аеосрхуіјѕԁһкмтвгпԛԝαεορχυικντβɡııѡ", "aeocpxyijsdhkmtbrnqwaeopxuikvtbgiiw")

_LEET = str.maketrans("0134578l!|@$", "oieastbiiias")
_PART = re.compile(r"[^\W_]+")
_BASE_64 = re.compile(r"[A-Za-z0-9+/_-]{12,}")
_BASE_32 = re.compile(r"[A-Z2-7]{12,}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}(?:\\x|0x|[\s:,-]){0,2}){10,}")
_NO_HEX = re.compile(r"[^0-9a-fA-F]|0x")
_CODES = re.compile(r"(?:\d{2,3}[\s,;]{1,2}){10,}\d{2,3}")


def plain(text: str) -> str:
    """Return `text` in lower case, without accents and invisible characters, in ordinary Latin letters."""
    if text.isascii() and text.isprintable():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    kept = "".join(
        c for c in decomposed if unicodedata.category(c) not in ("Cf", "Mn", "Me", "Cc") or c in "\n\t\r"
    )
    return kept.casefold().translate(_LOOK_ALIKE)


def visible(text: str) -> str:
    """Return `text` without invisible characters, such as format characters, tags and variation selectors."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c for c in text if c in "\n\t" or not _is_invisible(c))


def _is_invisible(character: str) -> bool:
    selector = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return selector or unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs")


def leet(text: str) -> str:
    """Replace digits and symbols in `text` by the letters that they resemble; i and l become one letter."""
    return text.translate(_LEET)


def letters(text: str) -> str:
    """Return only the letters in `text`, after replacing digits with the letters they resemble."""
    return "".join(_PART.findall(leet(text)))


def words_of(text: str) -> tuple[str, ...]:
    """Return the words in `text`, which underscores separate, too."""
    return tuple(_PART.findall(text))


def decoded(text: str) -> str:
    """Decode everything encoded in `text`, or return "" if nothing decodes to readable text."""
    codes = (_NO_HEX.sub("", match[0]) for match in _HEX.finditer(text))
    found = [bytes.fromhex(digits[: len(digits) // 2 * 2]) for digits in codes]
    for match in _CODES.finditer(text):
        found.append(bytes(code for code in map(int, re.findall(r"\d+", match[0])) if code < 256))
    for token in _whole_and_in_parts(_BASE_64.findall(text)):
        for start in range(4):  # the code may begin within a word
            end = len(token) - ((len(token) - start) % 4 == 1)
            found.append(base64.urlsafe_b64decode(token[start:end] + "==="))
    for token in _whole_and_in_parts(_BASE_32.findall(text)):
        found.append(base64.b32decode(token[: len(token) // 8 * 8]))
    return "\n".join(filter(None, map(_readable, found)))


def _whole_and_in_parts(tokens: list[str]) -> list[str]:
    return [*tokens, "".join(tokens)] if len(tokens) > 1 else tokens


def _readable(data: bytes) -> str:
    text = data.decode("utf-8", errors="ignore")
    seen = sum(c.isprintable() or c.isspace() for c in text)
    return text if len(text) > 7 and seen >= 0.9 * len(data) else ""
