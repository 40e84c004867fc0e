"""Text of others on a terminal: ids, names and messages come from files that anybody may have written."""

from __future__ import annotations

import re
from typing import Final

_COMMANDS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Spell out the characters that a terminal obeys instead of showing them, but for tabs and line ends.

    >>> visible("\x1b[2Jlibrary_1")
    '\\x1b[2Jlibrary_1'
    """
    return _COMMANDS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
