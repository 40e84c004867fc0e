"""The player that says what was said before: in every game, from a file of dialogues."""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from birdenv.cocoa.files import write_examples
from birdenv.dialogue import make_game, play
from birdenv.errors import InputError
from birdenv.runs import run_episodes

pytest.importorskip("bm25s")


def collected(game: str, agent: str, number: int, folder: Path, **settings: Any) -> Path:
    """A file of dialogues of an agent."""
    found = run_episodes(game, agent, limit=number, output=folder / "run", **settings)
    write_examples(folder / "dialogues.json", [record["example"] for record in found.records])
    return folder / "dialogues.json"


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("game", "success"), [("mutual-friends", 0.8), ("bargain", 0.7), ("deal-or-no-deal", 0.7)]
)
def test_it_plays_what_it_has_seen(game: str, success: float, tmp_path: Path) -> None:
    file = collected(game, "rulebased", 40, tmp_path, scenario_seed=5)
    with make_game(game, limit=20) as arena:
        seats = {arena.game.seat_names[0]: f"retrieval:{file}"}
    with make_game(game, limit=20, **seats) as arena:
        won = []
        for instance_id in arena.ids:
            dialogue = arena.start(instance_id)
            play(dialogue, arena.seat_players(dialogue, instance_id))
            outcome = dialogue.outcome()
            won.append(outcome.get("valid_deal", outcome["reward"]))
    assert mean(won) >= success


def test_it_plays_the_sql_games_too(tmp_path: Path) -> None:
    file = collected("c-interact", "oracle", 4, tmp_path)
    again = run_episodes("c-interact", f"retrieval:{file}", limit=4, output=tmp_path / "again")
    assert mean(record["reward"] for record in again.records) > 0.5


def test_a_file_without_moves_of_the_seat_is_told(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text('[{"uuid": "E", "events": []}]')
    with make_game("bargain", limit=1, buyer=f"retrieval:{tmp_path / 'none.json'}") as arena:
        dialogue = arena.start(arena.ids[0])
        with pytest.raises(InputError, match="seat 0 made no move"):
            arena.seat_players(dialogue, arena.ids[0])
