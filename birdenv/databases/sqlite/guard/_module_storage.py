"""What modules of virtual tables have to store, and room for it while a statement runs.

A module stores values of its own (pages of an index, lists of places) and takes no notice where one is too
long for the connection's bound. It may also put off, until a transaction ends or a statement begins to write,
what it has to store. So a statement that makes a module store gets a bound at least as large as those values,
or does not run. Where a module has put something off, a statement that only comes after that is not refused:
the module stores it first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from birdenv.databases.sqlite.guard._value_bounds import LARGEST_VALUE, Counted

LONG_LISTS: Final = ("_content", "_segments", "_segdir")
"""How the names of tables end in which modules without pages may store values that are longer than others."""

_NODE_BYTES: Final = 100_000  # of a page of fts5, or a node of rtree, at most
_PUT_OFF_BYTES: Final = 2_000_000  # of fts3, as one value: it stores beyond 1 MB, but a document at a time
_WITHOUT_PAGES: Final = frozenset({"fts3", "fts4"})  # where all of a word's places are one value
_WHOLE_INDEX: Final = 1_000_000_000  # SQLite's own bound on a value, which a whole index may be


class ModuleStorage:
    """What the modules of one private copy have to store.

    `largest`: bytes of a value, 0 without virtual tables. `has_put_off`: one may have put something off. Of
    the statement that was started last: `wants_stored`: modules have to store what they have put off before
    it may run; `has_no_room`: it may not run; `wants_small_files`: no file that it writes may be larger than
    its values, because a module may store its whole index as one.
    """

    def __init__(self, modules: Iterable[str]) -> None:
        self.largest = 0
        self.has_put_off = self._stores = False
        for module in modules:
            self.add(module)
        self.start()

    @property
    def at_once(self) -> int:
        """Bytes of a value that a statement may have to make a module store, and be indexed."""
        return min(self.largest, LARGEST_VALUE)

    def add(self, module: str) -> None:
        """Say that there is a virtual table of this module."""
        self.largest = max(self.largest, _WHOLE_INDEX if module.lower() in _WITHOUT_PAGES else _NODE_BYTES)

    def start(self) -> None:
        """Say that another statement begins, of which nothing is known."""
        self.wants_stored = self.has_no_room = self.wants_small_files = False

    def with_room(self, counted: Counted, *, in_transaction: bool) -> Counted:
        """Return what was counted of the statement, with a bound that lets modules store what they must."""
        self.has_put_off = self.has_put_off and in_transaction
        self._stores = counted.stores
        if not (counted.stores or (self.has_put_off and counted.causes_to_store)):
            return counted
        self.has_put_off = True
        if self.largest == _WHOLE_INDEX and counted.bound == LARGEST_VALUE and not counted.lengthens:
            return counted._replace(bound=_WHOLE_INDEX)  # no value becomes longer than it was
        if counted.bound < min(self.largest, _PUT_OFF_BYTES):
            self.lack_room()
        self.wants_small_files = self.largest == _WHOLE_INDEX
        return counted

    def lack_room(self) -> None:
        """Say that a module may have to store what is longer than the statement's values may be."""
        self.has_no_room = self._stores
        self.wants_stored = not self._stores
