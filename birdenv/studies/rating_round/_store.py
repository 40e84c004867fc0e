"""The database of a rating round: raters, the items that they have begun, and their judgements."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from birdenv.files import file_errors
from birdenv.studies._database import Database

RATINGS: Final = "ratings.sqlite"
"""The name of the database in the folder of a study or a round."""

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS rater(
  id TEXT PRIMARY KEY, external TEXT UNIQUE, platform TEXT NOT NULL, joined REAL NOT NULL, code TEXT);
CREATE TABLE IF NOT EXISTS judgement(
  item TEXT NOT NULL, rater TEXT NOT NULL, begun REAL NOT NULL, done REAL, said TEXT,
  PRIMARY KEY(item, rater));
CREATE INDEX IF NOT EXISTS judgement_rater ON judgement(rater);
"""


class Rater(NamedTuple):
    """A person who rates dialogues.

    Attributes:
        id: the id of the rater.
        platform: the parameters that the recruiting platform sent.
        code: the completion code; None until the rater has finished.
    """

    id: str
    platform: dict[str, str]
    code: str | None


class RatingStore(Database):
    """The thread-safe database of a rating round in a folder.

    Args:
        folder: the folder. Unless `for_reading` is True, it is created if it does not exist.
        for_reading: True to open the database without writing anything.

    Raises:
        InputError: the folder or the file cannot be used.
    """

    def __init__(self, folder: Path, for_reading: bool = False) -> None:
        if not for_reading:
            with file_errors(folder, "made"):
                folder.mkdir(parents=True, exist_ok=True)
        super().__init__(folder / RATINGS, _TABLES, for_reading)

    def add_rater(self, id: str, external: str | None, platform: Mapping[str, str], now: float) -> Rater:
        """Add a rater who has given consent, or return the rater whom the platform sent earlier.

        If a rater returns with the same browser, `platform` replaces the stored parameters, because the link
        back to the platform needs the current ones.

        Args:
            id: the id of a new rater.
            external: the rater's id on the platform; None if no platform sent the rater.
            platform: the parameters that the platform sent.
            now: the current time in seconds.
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
        """Return a rater, or None if the id is unknown."""
        found = self._raters("id = ?", id)
        return found[0] if found else None

    def _raters(self, where: str, value: str | None) -> list[Rater]:
        rows = self.rows(f"SELECT id, platform, code FROM rater WHERE {where}", value)
        return [Rater(id, self.parsed(platform), code) for id, platform, code in rows]

    def everybody(self) -> list[tuple[str, str | None, float, str | None]]:
        """Return each rater's id, platform id, join time and code, sorted by platform id, then by id."""
        return self.rows("SELECT id, external, joined, code FROM rater ORDER BY external, id")

    def set_code(self, rater: str, code: str) -> None:
        """Store a rater's completion code."""
        self.rows("UPDATE rater SET code = ? WHERE id = ?", code, rater)

    def begun(self, rater: str) -> dict[str, bool]:
        """Return the items that a rater has begun, as a dict from item id to whether the item is judged."""
        rows = self.rows("SELECT item, done IS NOT NULL FROM judgement WHERE rater = ?", rater)
        return {item: bool(done) for item, done in rows}

    def taken(self, since: float) -> Counter[str]:
        """For each item, count the raters who have judged it, or have begun it after the time `since`."""
        sql = "SELECT item, COUNT(*) FROM judgement WHERE done IS NOT NULL OR begun > ? GROUP BY item"
        return Counter(dict(self.rows(sql, since)))

    def begin(self, item: str, rater: str, now: float) -> None:
        """Record that a rater has begun an item. Further calls have no effect."""
        self.rows("INSERT OR IGNORE INTO judgement VALUES (?, ?, ?, NULL, NULL)", item, rater, now)

    def finish(self, item: str, rater: str, now: float, said: Mapping[str, Any]) -> None:
        """Store a rater's judgement of an item that the rater has begun. Later judgements are ignored."""
        self.rows(
            "UPDATE judgement SET done = ?, said = ? WHERE item = ? AND rater = ? AND done IS NULL",
            *(now, json.dumps(dict(said)), item, rater),
        )

    def said(self) -> list[tuple[str, dict[str, Any]]]:
        """Return all judgements in chronological order, as pairs (rater id, judgement)."""
        sql = "SELECT rater, said FROM judgement WHERE done IS NOT NULL ORDER BY done, item, rater"
        rows = self.rows(sql)
        return [(rater, self.parsed(said)) for rater, said in rows]
