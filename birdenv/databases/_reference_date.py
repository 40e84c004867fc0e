"""Databases on which every statement runs as of a reference date, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from birdenv.databases._limits import Limits
from birdenv.databases._results import QueryError, Result, Scope
from birdenv.sql import ClockError, at_date


class DatedSource:
    """A source of databases, with a day in place of what SQL reads of the clock (`at_date`).

    Attributes:
        source: the databases.
        today: the day, such as `2025-02-19`.
    """

    def __init__(self, source: Any, today: str) -> None:
        self.source, self.today = source, today

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def scope(self, db_id: str, limits: Limits) -> Scope:
        """Return what results depend on, which is the day, too."""
        scope: Scope = self.source.scope(db_id, limits)
        return replace(scope, contents=(scope.contents, self.today))

    def open(self, *given: Any, **named: Any) -> Any:
        """Open a database of the source."""
        return _DatedDatabase(self.source.open(*given, **named), self.source.dialect, self.today)


class _DatedDatabase:
    scope = None  # its results are not kept

    def __init__(self, database: Any, dialect: str, today: str) -> None:
        self._database, self._dialect, self._today = database, dialect, today

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._database, name)
        return partial(self._run, found) if name in ("execute", "query", "run", "scan") else found

    def __enter__(self) -> _DatedDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def _run(self, run: Callable[..., Result], given: str | Iterable[str], *more: Any, **named: Any) -> Any:
        """Run one statement, or the scripts of `run`."""
        texts = [given] if isinstance(given, str) else given
        try:
            dated = [at_date(text, self._today, self._dialect) for text in texts]
        except ClockError as error:
            message = f"today is {self._today}, which cannot take the place of {error}: write the date out"
            return QueryError("denied", message, repeatable=True)
        return run(dated[0] if isinstance(given, str) else dated, *more, **named)
