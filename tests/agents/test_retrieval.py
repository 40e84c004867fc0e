"""The player that says what was said before: in every game, from a file of dialogues."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from birdenv_agents.retrieval import Words

from birdenv.dialogue import make_game, play
from birdenv.dialogue.cocoa import write_examples
from birdenv.errors import InputError
from birdenv.runs import run_episodes

pytest.importorskip("bm25s")

KB = [{"Name": "Ann", "Company": "Ford"}, {"Name": "Bob", "Company": "Best Buy"}]


def test_words_of_a_seat_become_slots_and_back() -> None:
    from random import Random

    words = Words(KB)
    taken = words.take_out("Ann or bob, at Best Buy?")
    assert taken == "{Name} or {Name}, at {Company}?"
    filled = words.put_in(taken, "do you know ford", Random(1))
    assert filled is not None and re.fullmatch(r"(Ann or Bob|Bob or Ann), at Ford\?", filled)
    assert words.put_in("at {School}", "", Random(1)) is None


def test_prices_are_shares_of_the_listed_one() -> None:
    from random import Random

    kb = {"personal": {"Role": "buyer", "Target": 80}, "item": {"Title": "Bike", "Price": 1000}}
    assert Words(kb).take_out("I could pay $850 for 20 miles") == "I could pay ${$0.85} for 20 miles"
    cheaper = Words({**kb, "item": {"Title": "Sofa", "Price": 200}})
    assert cheaper.put_in("I could pay ${$0.85}", "", Random(1)) == "I could pay $170"


def collected(game: str, agent: str, number: int, folder: Path, **settings: Any) -> Path:
    """A file of dialogues of an agent."""
    found = run_episodes(game, agent, limit=number, output=folder / "run", **settings)
    write_examples(folder / "dialogues.json", [record["example"] for record in found.records])
    return folder / "dialogues.json"


@pytest.mark.every(2)
@pytest.mark.parametrize(("game", "success"), [("mutual-friends", 0.8), ("bargain", 0.7)])
def test_it_plays_what_it_has_seen(game: str, success: float, tmp_path: Path) -> None:
    file = collected(game, "rulebased", 40, tmp_path, scenario_seed=5)
    with make_game(game, limit=20) as arena:
        seats = {arena.game.seat_names[0]: f"retrieval:{file}"}
    with make_game(game, limit=20, **seats) as arena:
        won = []
        for instance_id in arena.ids:
            dialogue = arena.start(instance_id)
            play(dialogue, arena.seat_players(dialogue, instance_id))
            won.append(dialogue.outcome()["reward"])
    assert mean(won) >= success


def test_it_plays_the_sql_games_too(tmp_path: Path) -> None:
    file = collected("c-interact", "oracle", 4, tmp_path)
    again = run_episodes("c-interact", f"retrieval:{file}", limit=4, output=tmp_path / "again")
    assert mean(record["reward"] for record in again.records) > 0.5


def test_a_file_without_moves_of_the_seat_is_told(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text('[{"uuid": "E", "events": []}]')
    with make_game("bargain", limit=1, buyer=f"retrieval:{tmp_path / 'none.json'}") as arena:
        dialogue = arena.start(arena.ids[0])
        with pytest.raises(InputError, match="nobody moved in seat 0"):
            arena.seat_players(dialogue, arena.ids[0])
