"""Distinguish names that reveal the schema (identifiers) from words that anybody might use.

A name counts as an identifier if it contains an underscore, a digit or an inner capital, or if it is several
words run together. A name is assumed to be run together if it is not an ordinary word and

* begins or ends with a common part of data names ("...registry", "...pct", "avg..."),
* contains an ordinary word and other letters that are not an English ending ("shopmesh"),
* has nine letters or more and no English ending, or
* has no vowel, or four consonants in a row.

So `loafref` and `qltyx` are identifiers; `loaves`, `status` and `performance` are not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources

_MARKED = re.compile(r"[\d_$]|[a-z][A-Z]")
_UNPRONOUNCEABLE = re.compile(r"[bcdfghjklmnpqrstvwxz]{4}|^[^aeiouy]+$")
_COMMENT = re.compile(r"(?m)^#.*\n")
_SECTION = re.compile(r"(?ms)^\[([\w ]+)\]\n(.*?)(?=^\[[\w ]+\]\n|\Z)")


def read_sections(package: str, name: str) -> dict[str, str]:
    """Return the sections of a package's text file by title.

    A section begins with a line that contains its title in brackets. Lines that begin with # are comments.
    """
    text = (resources.files(package) / name).read_text(encoding="utf-8")
    return {title: body.strip() for title, body in _SECTION.findall(_COMMENT.sub("", text))}


_WORDS = read_sections("birdenv.users", "words_of_names.txt")


def words_of_names(section: str) -> list[str]:
    """Return the entries in a section of `words_of_names.txt`."""
    return _WORDS[section].split()


_ENDS = re.compile(rf"(?:{'|'.join(words_of_names('last parts of names'))})$")
_STARTS = re.compile(rf"^(?:{'|'.join(words_of_names('first parts of names'))})")
_ENGLISH_ENDING = re.compile(rf"(?:{'|'.join(words_of_names('English endings'))})s?$")
_ORDINARY = frozenset(words_of_names("ordinary words"))
_ENDINGS = frozenset(words_of_names("endings of longer words"))


def is_identifier(name: str, ordinary: frozenset[str] = frozenset()) -> bool:
    """Return True if a name reveals the schema. The words in `ordinary`, such as the request's, never do.

    >>> [is_identifier(name) for name in ("loafref", "CrustScore", "avg_dose", "status", "planets")]
    [True, True, True, False, False]
    """
    return _looks_made_up(name) and (_MARKED.search(name) is not None or name.lower() not in ordinary)


@lru_cache(maxsize=20_000)
def _looks_made_up(name: str) -> bool:
    if _MARKED.search(name):
        return True
    word = name.lower()
    if len(word) < 4 or word in _ORDINARY or word.removesuffix("s") in _ORDINARY:
        return False
    return any(p.search(word) is not None for p in (_UNPRONOUNCEABLE, _ENDS, _STARTS)) or _run_together(word)


def _run_together(word: str) -> bool:
    if len(word) > 8 and _ENGLISH_ENDING.search(word) is None:
        return True
    for i in range(1, len(word) - 1):
        front, back = word[:i], word[i:]
        if i > 3 and front in _ORDINARY and back not in _ENDINGS:
            return True
        if i > 1 and len(back) > 3 and back in _ORDINARY:
            return True
        if any(back[:end] in _ORDINARY for end in range(6, len(back) - 1)):
            return True
    return False
