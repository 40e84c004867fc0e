"""`check_game` finds the mistakes of a game by name; a sound game passes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from birdenv.dialogue import Action, Field, Game, Move, Reply, Rules, Seat
from birdenv.dialogue.games import Settings, TaskList, find_game
from birdenv.errors import InputError
from birdenv.testing import GameFaultsError, check_game

_tick = count()


class Count(Rules):
    """Says numbers until three are said."""

    seats = (
        Seat("one", (Action("say", (Field("words"),)), Action("pass")), ("judge",), {"left": 3}),
        Seat("two", (Action("say", (Field("words"),)),), ("one", "judge")),
    )

    def __init__(self) -> None:
        self.left = 3

    def open(self) -> tuple[int, ...]:
        return () if self.status else (0,)

    def legal(self, seat: int) -> tuple[str, ...]:
        return self.seats[seat].kinds

    def instruction(self, seat: int) -> str:
        return "Say three things."

    def gauges(self, seat: int) -> dict[str, float]:
        return {} if seat else {"left": self.left}

    def play(self, seat: int, move: Move) -> Reply:
        self.left -= 1
        if not self.left:
            self.status, self.rewards = "completed", (1.0, 1.0)
        return Reply("Go on.")


def game_of(rules: type[Rules], ids: tuple[str, ...] = ("a", "b"), **more: Any) -> Game:
    class Tasks(TaskList):
        def start(self, instance_id: str) -> Rules:
            return rules()

    given: dict[str, Any] = {"name": "count", "seats": rules.seats, "settings": Settings}
    return Game(**given | {"tasks": lambda settings: Tasks(ids)} | more)


GAME = game_of(Count)


def _with(**methods: Any) -> Game:
    return game_of(type("Wrong", (Count,), methods))


def _seats(**changes: Any) -> tuple[Seat, ...]:
    return (replace(Count.seats[0], **changes), Count.seats[1])


def _raising(self: Count, seat: int, move: Move) -> Reply:
    raise KeyError("colour")


def _loading(settings: Any) -> TaskList:
    raise OSError("no file")


WRONG: dict[str, tuple[str, Callable[[], Game]]] = {
    "a field that is no list": (
        "fields",
        lambda: _with(seats=_seats(actions=(Action("say", Field("words")),))),
    ),  # type: ignore[arg-type]
    "two actions of one name": ("actions", lambda: _with(seats=_seats(actions=(Action("say"),) * 2))),
    "two seats of one name": ("seats", lambda: _with(seats=(Count.seats[0],) * 2)),
    "the name of another game": ("name", lambda: replace(GAME, name="bird")),
    "no tasks": ("tasks", lambda: game_of(Count, ())),
    "a task twice": ("tasks", lambda: game_of(Count, ("a", "a"))),
    "tasks that cannot be loaded": ("tasks", lambda: replace(GAME, tasks=_loading)),
    "rewards of wrong shape": ("rewards", lambda: _with(rewards=(0.0,))),
    "a reward for all": ("rewards", lambda: _with(rewards=0.0)),
    "a legal action that the seat does not have": (
        "legal",
        lambda: _with(legal=lambda self, seat: ("shout",)),
    ),
    "a name for a list of legal actions": ("legal", lambda: _with(legal=lambda self, seat: "say")),
    "nothing is legal": ("legal", lambda: _with(legal=lambda self, seat: ())),
    "a seat that there is not": ("open", lambda: _with(open=lambda self: (7,))),
    "an episode that cannot end": ("end", lambda: _with(play=lambda self, seat, move: Reply("Go on."))),
    "a gauge beyond its bound": ("gauges", lambda: _with(gauges=lambda self, seat: {"left": 99})),
    "a phase too many": ("phases", lambda: _with(phase=lambda self: 2)),
    "a voice that is not declared": ("voices", lambda: _with(opening=lambda self, seat: ("Hello", "bird"))),
    "an instruction that is no text": ("instruction", lambda: _with(instruction=lambda self, seat: None)),
    "a move without a reply": ("error", lambda: _with(play=lambda self, seat, move: None)),
    "an outcome that is no JSON": ("outcome", lambda: _with(outcome=lambda self: {"a": {1}})),
    "chance": (
        "repeatable",
        lambda: _with(gauges=lambda self, seat: {}, play=lambda self, seat, move: _by_chance(self)),
    ),
    "an error": ("error", lambda: _with(play=_raising)),
}


def _by_chance(rules: Any) -> Reply:
    rules.status = "completed"
    return Reply(f"{next(_tick)}")


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
def test_a_mistake_is_found_by_name(what: str) -> None:
    fault, make = WRONG[what]
    with pytest.raises(GameFaultsError) as caught:
        check_game(make())
    assert fault in caught.value.faults, caught.value
    assert f"the game {'bird' if fault == 'name' else 'count'} has " in str(caught.value)
    if what == "an error":
        assert "in Wrong._raising" in str(caught.value)
    if what == "a move without a reply":
        assert "Wrong answered 'say' with NoneType, expected a birdenv.dialogue.Reply" in str(caught.value)


def test_a_sound_game_passes() -> None:
    check_game(GAME)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "name", ["mutual-friends", "bargain", "deal-or-no-deal", "c-interact", "a-interact", "bird"]
)
def test_games_of_ours_pass(name: str) -> None:
    check_game(find_game(name))


@pytest.mark.slow
def test_a_game_is_played_by_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        Path(__file__)
        .read_text()
        .partition("\ndef _with")[0]
        .replace('"name": "count"', '"name": "own-count"')
    )
    (tmp_path / "own_game.py").write_text(f"{source}\n\ndef passes(view):\n    return Move('pass')\n")
    script = str(Path(sys.executable).with_name("birdenv"))  # which has its own folder in the path, not this
    command = [script, "play", "own_game:GAME", "--agent", "own_game:passes"]
    command += ["--two", "own_game:passes", "--output", "runs"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and "own-count" in ran.stdout, ran
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for wrong, said in (
        ("nowhere:GAME", "module 'nowhere' is neither installed"),
        ("own_game:Count", "expected a birdenv.dialogue.Game"),
        ("own_game:NONE", "cannot be imported"),
    ):
        with pytest.raises(InputError, match=said):
            find_game(wrong)
