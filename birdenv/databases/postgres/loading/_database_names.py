"""The names of databases on a server, which PostgreSQL cuts at 63 bytes without asking."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    pass


LONGEST_NAME: Final = 63
"""Bytes of UTF-8; PostgreSQL's NAMEDATALEN - 1."""

PREFIX: Final = "birdenv_"
LOADING: Final = "birdenv_loading_"
"""How the names of databases begin that are not whole yet, and of the roles that fill them."""

PUBLISHED: Final = "_template"
"""How the names of templates end on the servers of BIRD-Interact's authors."""

_ROOM_FOR_MORE: Final = 16  # what the names of copies add


def database_name(db_id: str) -> str:
    """The name of the template database for a benchmark's database; different ids give different names."""
    return shortened(f"{PREFIX}{db_id}", LONGEST_NAME - _ROOM_FOR_MORE)


def loading_name(db_id: str) -> str:
    """The name of the same database while it is being loaded."""
    return f"{LOADING}{_digest(db_id)}"


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """The name, or if it is too long its beginning and a digest of all of it.

    A short name that looks like a shortened one gets a digest too, so that the two never meet.
    """
    if len(name.encode()) <= longest and not re.search(r"~[0-9a-f]{12}$", name):
        return name
    kept = name.encode()[: longest - 13].decode(errors="ignore")
    return f"{kept}~{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
