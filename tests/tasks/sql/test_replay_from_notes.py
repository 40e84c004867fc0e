"""A dialogue goes on in another process: what was noted of its moves stands in for the SQL that ran."""

from __future__ import annotations

import json
from typing import Any

import pytest

from birdenv.dialogue import Dialogue, Move, make_game, replay

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
BEFORE = [
    Move("execute_sql", "SELECT 1"),
    Move("execute_sql", "CREATE TABLE mine AS SELECT 1 AS one"),
    Move("execute_sql", ENDLESS),
    Move("execute_sql", "no SQL"),
    Move("execute_sql", "INSERT INTO mine VALUES (2)"),
]
WRONG = [Move("submit_sql", "SELECT 'wrong'"), Move("execute_sql", "INSERT INTO mine VALUES (3)")]
AFTER = Move("execute_sql", "SELECT SUM(one) AS total FROM mine")


def played(dialogue: Dialogue, moves: list[Move]) -> list[Any]:
    """Play moves; what was noted of each, as a file keeps it."""
    noted = []
    for move in moves:
        dialogue.rules.noted = None
        dialogue.apply(0, move)
        noted.append(json.loads(json.dumps(dialogue.rules.noted)))
    return noted


@pytest.mark.parametrize(
    ("game", "moves", "total", "settings"),
    [
        ("bird", BEFORE, 3, {}),
        ("c-interact", BEFORE + WRONG, 6, {"execute_sql": True}),
        ("a-interact", BEFORE[1:3] + WRONG, 4, {"patience": 10}),
    ],
)
def test_no_statement_runs_again_but_what_was_written_is_there(
    game: str, moves: list[Move], total: int, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    with make_game(game, limit=1, sql_timeout=0.1, **settings) as arena:
        [instance_id] = arena.ids
        with arena._tasks.source.open(arena._tasks.public(instance_id).database) as database:  # type: ignore[attr-defined]
            kind = type(database)
        execute = kind.execute

        def watched(self: Any, sql: str, rows: int | None = None) -> Any:
            ran.append(sql)
            return execute(self, sql, rows)

        dialogue = arena.start(instance_id)
        noted = played(dialogue, moves)
        assert "timeout" in str(noted)
        monkeypatch.setattr(kind, "execute", watched)

        rules: Any = arena.start(instance_id).rules
        grader, rules._grader = rules._grader, None
        again = replay(rules, dialogue.events, noted=noted)
        rules._grader = grader
        assert ran == []
        assert [event.to_json() for event in again.events] == [event.to_json() for event in dialogue.events]
        assert again.outcome() == dialogue.outcome()
        for seat in range(len(arena.game.seats)):
            assert again.view(seat) == dialogue.view(seat)

        again.apply(0, AFTER)
        written = [move.data for move in moves if move.data.startswith(("CREATE", "INSERT"))]
        assert ran == [*written, AFTER.data]
        dialogue.apply(0, AFTER)
        assert again.events[-1] == dialogue.events[-1]
        assert str(total) in dialogue.events[-1].metadata["reply"].split()  # type: ignore[index]
        for each in (dialogue, again):
            each.close()
