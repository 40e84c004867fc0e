"""Players that learn, in games that bring their own tasks: text-to-SQL, and a toy game of somebody's own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from birdenv_agents.learned import train_hybrid, train_policy, train_retrieval

from birdenv.cocoa.acts import Transcripts
from birdenv.cocoa.files import ExampleRecord, as_examples, as_scenario
from birdenv.dialogue import Action, Dialogue, Field, Game, Move, Reply, Rules, Seat, View, make_game, play
from birdenv.dialogue.games import Settings, TaskList, find_game, register_game
from birdenv.dialogue.record import Example
from birdenv.errors import InputError

TAKE = Action("take", (Field("pile", "item"), Field("count", "integer", 1, 3)))


class Piles(Rules):
    """Take from one of several piles, which are other items after every move."""

    seats = (Seat("first", (TAKE,), items=3), Seat("second", (TAKE,), items=3))

    def __init__(self, sizes: str) -> None:
        self.sizes, self.turn = dict(zip("abc", map(int, sizes), strict=True)), 0

    def open(self) -> tuple[int, ...]:
        return () if self.status else (self.turn,)

    def legal(self, seat: int) -> tuple[str, ...]:
        return ("take",)

    def choices(self, seat: int) -> list[dict[str, object]]:
        return [{"pile": name, "left": left} for name, left in self.sizes.items() if left]

    def instruction(self, seat: int) -> str:
        return "Who takes the last one wins."

    def play(self, seat: int, move: Move) -> Reply:
        name, count = move.data["pile"]["pile"], move.data["count"]
        if count > self.sizes[name]:
            return Reply("There are not so many.", refused=True)
        self.sizes[name] -= count
        self.turn = 1 - seat
        if not any(self.sizes.values()):
            self.status, self.rewards = "completed", (1.0 - 2 * seat, 2.0 * seat - 1)
        return Reply()


class Sizes(TaskList):
    def start(self, instance_id: str) -> Rules:
        return Piles(instance_id)


PILES = Game("piles", Piles.seats, Settings, lambda settings: Sizes(["345", "123"]))


def take_most(view: View) -> Move:
    pile = max(view.choices, key=lambda pile: pile["left"])
    return Move("take", {"pile": pile, "count": min(3, pile["left"])})


TASKS = 2
TRAINERS = {"learned": train_policy, "retrieval": train_retrieval}


@pytest.fixture
def teachers(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, dict[str, Any]]]:
    """Who plays the dialogues that are learned from, by game."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "dialogue"))
    import toy_game
    import toy_players

    register_game(toy_game.GAME)
    register_game(PILES)
    yield {
        "bird": {"system": "never-asks"},
        "c-interact": {"system": "asks-first", "user": "rule"},
        "piles": {"first": take_most, "second": take_most},
        "guess": {"guesser": toy_players.Bisection, "keeper": toy_players.keeper},
    }
    from birdenv.dialogue import games

    games._registered.pop("guess")
    games._registered.pop("piles")
    for name in ("toy_game", "toy_players"):
        sys.modules.pop(name, None)


def held(game: str, players: dict[str, Any]) -> list[tuple[str, Dialogue]]:
    with make_game(game, **players) as arena:
        found = []
        for instance_id in arena.ids[:TASKS]:
            dialogue = arena.start(instance_id)
            play(dialogue, arena.seat_players(dialogue, instance_id))
            dialogue.close()
            found.append((instance_id, dialogue))
    return found


def examples(game: str, dialogues: list[tuple[str, Dialogue]]) -> list[ExampleRecord]:
    with make_game(game) as arena:
        rows = [
            Example("E", task, as_scenario(arena._tasks.scenario(task)), {}, None, tuple(dialogue.events))
            for task, dialogue in dialogues
        ]
    return as_examples([row.to_json() for row in rows], "here")


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", TRAINERS)
@pytest.mark.parametrize("game", ["bird", "c-interact", "guess", "piles"])
def test_a_player_does_again_what_it_has_seen_in_any_registered_game(
    game: str, kind: str, teachers: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    if kind == "retrieval":
        pytest.importorskip("bm25s")
    seen = held(game, teachers[game])
    with Transcripts(find_game(game), examples(game, seen)) as transcripts:
        assert sum(map(len, transcripts)) == sum(len(dialogue.events) for _, dialogue in seen)
        TRAINERS[kind](transcripts, tmp_path / "player.json", 0, lambda share: None)
    evaluated = next(iter(teachers[game]))
    again = held(game, teachers[game] | {evaluated: f"{kind}:{tmp_path / 'player.json'}"})
    moves = [event for _, dialogue in again for event in dialogue.events]
    if game == "piles":  # it may take more than there are, but not again and again
        assert all(len(dialogue.events) < 20 and dialogue.status == "completed" for _, dialogue in again)
        return
    assert not any((event.metadata or {}).get("refused") for event in moves)
    assert all(dialogue.status in ("completed", "silence") for _, dialogue in again)
    if game != "guess":  # there a guess depends on all before it
        earned = [sum(dialogue.rewards[0] for _, dialogue in each) for each in (again, seen)]
        assert earned[0] >= earned[1] > 0


def test_a_game_without_rules_has_no_hybrid(teachers: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    found = examples("guess", held("guess", teachers["guess"]))
    says = pytest.raises(InputError, match=r"rulebased plays .*, not guess")
    with Transcripts(find_game("guess"), found) as transcripts, says:
        train_hybrid(transcripts, tmp_path / "p.json", 0, lambda share: None)
    assert not (tmp_path / "p.json").exists()


def test_dialogues_about_other_tasks_are_told(teachers: dict[str, dict[str, Any]]) -> None:
    [example, *_] = examples("guess", held("guess", teachers["guess"]))
    strange = example.model_copy(update={"scenario_uuid": "T9"})
    with pytest.raises(InputError, match="'E' is about the task 'T9', but guess has no such task"):
        Transcripts(find_game("guess"), [example, strange])
