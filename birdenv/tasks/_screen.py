"""What the system sees of its database: a statement in, a text out.

Rollouts of one task, and tasks on one database, run the same exploring statements over and over. What is sure
to give the same rows on the same contents is shown from memory when it comes again: a statement that takes
some time from the second time on, any other from the third, since most never come again.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable
from typing import Final

from birdenv._sightings import sightings
from birdenv.databases import EpisodeDatabase, Limits
from birdenv.tasks._result_text import FETCHED_ROWS, result_text

__all__ = ["Screen"]

_LONG: Final = 0.001  # seconds
_MOST_CHARACTERS: Final = 4_000_000  # of statements and texts that are remembered in this process


class Screen:
    """Shows one episode's database, of which `limits` are the limits."""

    def __init__(self, database: EpisodeDatabase, limits: Limits) -> None:
        self._database = database
        contents = database.contents
        self._known = None if contents is None else _shown.page(contents, (type(database), limits))

    def show(self, sql: str) -> str:
        """Run one statement as the agent's own; its result as text."""
        database, known = self._database, self._known
        if known is None or database.is_private:
            return result_text(database.execute(sql, rows=FETCHED_ROWS))
        text = known.get(sql)
        if text is None:
            result = database.execute(sql, rows=FETCHED_ROWS)
            text = result_text(result)
            if result.repeatable and (result.elapsed > _LONG or not sightings.is_new(sql)):
                _shown.keep(known, sql, text)
        return text


class _Shown:
    """Texts by contents, rules (what runs it, with what limits) and statement; emptied when it is full."""

    def __init__(self) -> None:
        self._pages: weakref.WeakKeyDictionary[object, dict[Hashable, dict[str, str]]]
        self._pages = weakref.WeakKeyDictionary()
        self._size = 0

    def page(self, contents: object, rules: Hashable) -> dict[str, str]:
        """Texts of statements on the same contents under the same rules, to look up and to `keep`."""
        return self._pages.setdefault(contents, {}).setdefault(rules, {})

    def keep(self, page: dict[str, str], sql: str, text: str) -> None:
        self._size += len(sql) + len(text)
        if self._size > _MOST_CHARACTERS:
            self.forget()
            self._size = len(sql) + len(text)
        page[sql] = text

    def forget(self) -> None:
        for pages in list(self._pages.values()):
            for page in list(pages.values()):
                page.clear()
        self._size = 0


_shown = _Shown()
