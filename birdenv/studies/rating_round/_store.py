"""The database of ratings: raters, what each has begun, and what they said. It lies in the study's folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from birdenv.files import file_errors
from birdenv.studies._database import Database

RATINGS: Final = "ratings.sqlite"
"""The file in a folder."""

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS rater(
  id TEXT PRIMARY KEY, external TEXT UNIQUE, platform TEXT NOT NULL, joined REAL NOT NULL, code TEXT);
CREATE TABLE IF NOT EXISTS judgement(
  item TEXT NOT NULL, rater TEXT NOT NULL, begun REAL NOT NULL, done REAL, said TEXT,
  PRIMARY KEY(item, rater));
CREATE INDEX IF NOT EXISTS judgement_rater ON judgement(rater);
"""


class Rater(NamedTuple):
    """One rater; `code` is there when they have finished."""

    id: str
    platform: dict[str, str]
    code: str | None


class RatingStore(Database):
    """The ratings of one folder. Safe from any thread.

    Args:
        folder: the folder; it is made if it is not there, but for reading.
        for_reading: nothing is written.

    Raises:
        InputError: the folder or the file cannot be used.
    """

    def __init__(self, folder: Path, for_reading: bool = False) -> None:
        if not for_reading:
            with file_errors(folder, "made"):
                folder.mkdir(parents=True, exist_ok=True)
        super().__init__(folder / RATINGS, _TABLES, for_reading)

    def add_rater(self, id: str, external: str | None, platform: Mapping[str, str], now: float) -> Rater:
        """Add a rater who agreed; one whom the platform sent before is the same person.

        Of one who comes again in their own browser, the platform's new parameters are kept: the way back.
        """
        self.rows(
            "INSERT OR IGNORE INTO rater VALUES (?, ?, ?, ?, NULL)",
            *(id, external, json.dumps(dict(platform)), now),
        )
        if platform:
            sql = "UPDATE rater SET platform = ? WHERE id = ? AND external = ?"
            self.rows(sql, json.dumps(dict(platform)), id, external)
        found = self._raters("id = ?", id) or self._raters("external = ?", external)
        return found[0]

    def rater(self, id: str) -> Rater | None:
        """Return a rater."""
        found = self._raters("id = ?", id)
        return found[0] if found else None

    def _raters(self, where: str, value: str | None) -> list[Rater]:
        rows = self.rows(f"SELECT id, platform, code FROM rater WHERE {where}", value)
        return [Rater(id, self.parsed(platform), code) for id, platform, code in rows]

    def everybody(self) -> list[tuple[str, str | None, float, str | None]]:
        """Return id, id on the platform, time of joining and code of all raters, by their names."""
        return self.rows("SELECT id, external, joined, code FROM rater ORDER BY external, id")

    def set_code(self, rater: str, code: str) -> None:
        """Keep a rater's completion code."""
        self.rows("UPDATE rater SET code = ? WHERE id = ?", code, rater)

    def begun(self, rater: str) -> dict[str, bool]:
        """Return the items that a rater has begun, and whether each is done."""
        rows = self.rows("SELECT item, done IS NOT NULL FROM judgement WHERE rater = ?", rater)
        return {item: bool(done) for item, done in rows}

    def taken(self, since: float) -> Counter[str]:
        """Return how many raters each item has: those who are done, or began later than `since`."""
        sql = "SELECT item, COUNT(*) FROM judgement WHERE done IS NOT NULL OR begun > ? GROUP BY item"
        return Counter(dict(self.rows(sql, since)))

    def begin(self, item: str, rater: str, now: float) -> None:
        """Note that a rater begins an item, or comes back to it."""
        self.rows("INSERT OR IGNORE INTO judgement VALUES (?, ?, ?, NULL, NULL)", item, rater, now)

    def finish(self, item: str, rater: str, now: float, said: Mapping[str, Any]) -> None:
        """Keep what a rater said of an item that they began; the first word counts."""
        self.rows(
            "UPDATE judgement SET done = ?, said = ? WHERE item = ? AND rater = ? AND done IS NULL",
            *(now, json.dumps(dict(said)), item, rater),
        )

    def said(self) -> list[tuple[str, dict[str, Any]]]:
        """Return all that was said, by rater, in the order of time."""
        sql = "SELECT rater, said FROM judgement WHERE done IS NOT NULL ORDER BY done, item, rater"
        rows = self.rows(sql)
        return [(rater, self.parsed(said)) for rater, said in rows]
