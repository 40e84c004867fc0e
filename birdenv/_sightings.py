"""Telling what comes again from what comes once, at the cost of a look: only the former is worth keeping."""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from typing import Final

_PLACES: Final = 2**16  # of 8 bytes


class Sightings:
    """Which keys came before, by their hashes: one in each place of a table, the latest.

    So a key may be forgotten, and is then new again; that one is taken for another is next to impossible.
    """

    def __init__(self) -> None:
        self._hashes = array("q", bytes(8 * _PLACES))

    def is_new(self, key: Hashable) -> bool:
        """Whether the key did not come before, as far as is known; now it has."""
        digest = hash(key)
        place = digest % _PLACES
        if self._hashes[place] == digest:
            return False
        self._hashes[place] = digest
        return True


sightings = Sightings()
"""The one of this process."""
