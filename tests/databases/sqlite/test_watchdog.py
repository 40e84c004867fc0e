"""The thread that stops late statements, where the progress handler alone would not."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from database_files import write_database

from birdenv.databases import Limits, QueryError
from birdenv.databases.sqlite import LocalSource, _statement_guard
from birdenv.databases.sqlite._deadline import watchdog

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("is_believed_awake", [False, True])
def test_it_stops_what_is_late_and_sleeps_while_nothing_runs(
    tmp_path: Path,
    local: Callable[[Path], LocalSource],
    monkeypatch: pytest.MonkeyPatch,
    is_believed_awake: bool,
) -> None:
    """Also where nobody woke it: it looks by itself after half a second."""
    monkeypatch.setattr(_statement_guard, "_TICK_INSTRUCTIONS", 2**30)
    write_database(tmp_path, "town", "CREATE TABLE a (b)")
    for _ in range(2):
        until(lambda: not watchdog._is_awake)
        watchdog._is_awake = is_believed_awake
        with local(tmp_path).open("town", Limits(seconds=0.1)) as database:
            result = database.execute(ENDLESS)
        assert isinstance(result, QueryError)
        assert (result.kind, result.elapsed < 0.9) == ("timeout", True)
    until(lambda: not watchdog._is_awake)
    assert not watchdog._alarms_are_set
