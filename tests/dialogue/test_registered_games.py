"""What every registered game keeps, and that no driver knows one by name."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

import birdenv
from birdenv.dialogue import Dialogue, Move, make_game, replay
from birdenv.dialogue.chat import tool_schemas
from birdenv.dialogue.games import find_game, game_names, read_settings
from birdenv.dialogue.record import Example
from birdenv.errors import InputError, SettingError
from birdenv.runs import RunDirectory, RunPlan, prepare, run

GAMES = game_names()

ODD = [
    Move("malformed"),
    Move("quit it"),
    Move("submit_sql", None),
    Move("submit_sql", 5),
    Move("submit_sql", "x" * 70_000),
    Move("clarify", ""),
    Move("get_column_meaning", {"table": "a"}),
    Move("execute_sql", {"sql": "SELECT 1"}),
    Move("clarify", "What do you mean?"),
    Move("execute_sql", "SELECT 1"),
    Move("submit_sql", "SELECT '\ud800'"),
    Move("message", "What do you have?"),
    Move("select", {"book": 1}),
    Move("select", {"book": 10**400}),
    Move("offer", {"price": float("inf")}),
    Move("offer", {"price": -(10**400)}),
    Move("accept"),
]


def hostile(dialogue: Dialogue, players: Any, rng: Random) -> None:
    """Play at random, malformed moves included, for at most 60 moves."""
    for _ in range(60):
        if dialogue.is_over:
            return
        for seat in tuple(dialogue.open):
            player = players[seat]
            move = rng.choice(ODD) if player is None else player.move(dialogue.view(seat))
            if move is not None and seat in dialogue.open:
                dialogue.apply(seat, move)


@pytest.mark.parametrize("name", GAMES)
def test_any_moves_are_recorded_and_replayed_to_the_same_state(name: str) -> None:
    with make_game(name, limit=3) as arena:
        for place, instance_id in enumerate(arena.ids):
            dialogue = arena.start(instance_id)
            hostile(dialogue, arena.seat_players(dialogue, instance_id, but=0), Random(place))
            dialogue.stop("event limit")
            text = json.dumps([event.to_json() for event in dialogue.events], allow_nan=False)
            again = replay(arena.start(instance_id).rules, dialogue.events)
            assert json.dumps([event.to_json() for event in again.events]) == text
            assert again.rewards == dialogue.rewards and again.status == dialogue.status
            for seat in range(len(arena.game.seats)):
                assert again.view(seat) == dialogue.view(seat)
            dialogue.close()
            again.close()


@pytest.mark.parametrize("name", GAMES)
def test_views_on_the_way_are_those_of_a_fresh_dialogue(name: str) -> None:
    with make_game(name, limit=1) as arena:
        [instance_id] = arena.ids
        dialogue = arena.start(instance_id)
        seats = range(len(arena.game.seats))
        seen = [[dialogue.view(seat) for seat in seats]]
        rng = Random(8)
        players = arena.seat_players(dialogue, instance_id, but=0)
        while dialogue.open and len(seen) < 16:
            seat = min(dialogue.open)
            player = players[seat]
            dialogue.apply(seat, rng.choice(ODD) if player is None else player.move(dialogue.view(seat)))
            seen.append([dialogue.view(seat) for seat in seats])
        assert len(seen) > 3
        for count in range(0, len(seen), 3):
            again = replay(arena.start(instance_id).rules, dialogue.events[:count])
            assert [again.view(seat) for seat in seats] == seen[count]
            again.close()
        dialogue.close()


@pytest.mark.parametrize("name", GAMES)
def test_views_are_values_and_hold_no_trace(name: str) -> None:
    with make_game(name, limit=1) as arena:
        dialogue = arena.start(arena.ids[0])
        before = dialogue.view(0)
        assert dialogue.view(0) == before
        dialogue.apply(0, Move("submit_sql", "SELECT 1", {"secret": "trace-of-a-player"}))
        assert "trace-of-a-player" not in repr([dialogue.view(0), dialogue.events])
        assert len(before.heard) == 0
        dialogue.close()


@pytest.mark.parametrize("name", GAMES)
def test_settings_are_frozen_plain_values(name: str) -> None:
    game = find_game(name)
    settings = game.settings()
    assert game.settings(**json.loads(settings.model_dump_json())) == settings
    with pytest.raises(InputError, match="has no setting 'nonsense'; its settings are "):
        read_settings(game, {"nonsense": 1})
    assert all(tool_schemas(seat) for seat in game.seats)
    assert game.record_model is not None and game.record_model.model_json_schema()["properties"]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"profile": "loose"}, "profile 'loose' is unknown; choose from strict, shell, adk"),
        ({"patience": 200}, "patience must be from 0 to 100, got 200"),
        ({"patience": "3"}, "patience must be a whole number from 0 to 100, got '3'"),
        ({"limit": 0}, "limit must be at least 1, got 0"),
        ({"databases": "library"}, "databases must be a list of names, got the string 'library'"),
    ],
)
def test_a_wrong_setting_is_told_by_its_name(values: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError) as caught:
        make_game("c-interact", **values)
    assert str(caught.value) == says
    assert str(pickle.loads(pickle.dumps(caught.value))) == says
    [name] = values
    assert caught.value.under(f"--{name}") == f"--{says}"


@pytest.mark.parametrize("name", GAMES)
def test_records_hold_a_transcript_that_can_be_played_again(name: str, tmp_path: Path) -> None:
    is_sql = "dialect" in find_game(name).settings.model_fields
    with make_game(name, limit=2) as arena:
        directory = RunDirectory.create(tmp_path)
        plan = RunPlan(arena, {**arena.players, 0: "asks-first" if is_sql else "rulebased"})
        prepare(directory, plan.config(), resume=False)
        run(plan, directory)
        for record in directory.read("runs").values():
            example = Example.from_json(record["example"])
            again = replay(arena.start(record["instance_id"]).rules, example.events)
            assert again.rewards[0] == record["reward"]
            again.close()


@pytest.mark.parametrize("name", GAMES)
def test_the_second_arena_loads_nothing(name: str) -> None:
    with make_game(name) as first, make_game(name) as second:
        assert first._tasks is second._tasks
        assert first.instruction(first.ids[0])
    with pytest.raises(InputError, match="no task 'nobody'"), make_game(name) as third:
        third.start("nobody")


GENERIC = (
    "dialogue",
    "envs",
    "processes",
    "studies",
    "runs/_runner.py",
    "runs/seating.py",
    "runs/_player_process.py",
    "runs/jobs.py",
)
BY_NATURE = {
    "envs/_gymnasium.py",
    "envs/_vector.py",
    "envs/c_interact_v0.py",
    "envs/candidates/_compiled.py",
    "envs/candidates/_session.py",
    "envs/candidates/_setting.py",
    "envs/candidates/_tables.py",
    "envs/wrappers.py",
}
"""The registered classes, the PettingZoo modules, the setting that chooses among candidates, and
the wrapper of the published c-Interact prompts."""


def test_no_driver_knows_a_game_by_name() -> None:
    package = Path(birdenv.__file__).parent
    names = re.compile(r"""["'](?:""" + "|".join(map(re.escape, GAMES)) + r""")["']|birdenv\.tasks""")
    files = [
        path
        for place in GENERIC
        for path in ([package / place] if place.endswith(".py") else sorted((package / place).rglob("*.py")))
    ]
    assert len(files) > 15
    found = {
        path.relative_to(package).as_posix()
        for path in [*files, package / "files.py"]
        if names.search(path.read_text())
    }
    assert found <= BY_NATURE
