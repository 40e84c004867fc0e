"""Lists of known players: those of the game, and no others."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from birdenv.dialogue import make_game
from birdenv.dialogue.games import find_game
from birdenv.dialogue.players import AGENTS, USERS, PlayerSpec, player_names
from birdenv.dialogue.players import _specs as specs
from birdenv.errors import InputError

EVERYWHERE = {"human", "learned", "llm", "retrieval"}
COCOA = {"hybrid", "neural", "rulebased"}
SQL = {"random", "never-asks", "asks-first", "oracle", "predictions"}
INTERACT = {"rule", "rule+llm", "llm-one-prompt"}


@pytest.mark.parametrize(
    ("game", "agents", "users"),
    [
        ("bird", SQL, set()),
        ("c-interact", SQL | {"llm-markup"}, INTERACT),
        ("a-interact", SQL, INTERACT),
        ("bargain", COCOA | {"phrases"}, COCOA | {"phrases"}),
        ("deal-or-no-deal", COCOA, COCOA),
    ],
)
def test_an_unknown_player_is_told_the_players_of_the_game(
    game: str, agents: set[str], users: set[str]
) -> None:
    for group, kind, known in ((AGENTS, "agent", agents), (USERS, "user", users)):
        told = ", ".join(sorted(known | EVERYWHERE))
        with pytest.raises(InputError, match=f"known {kind}s of {game}: {told.replace('+', '.')}; or use"):
            PlayerSpec("nobody", group, game).check()


@pytest.mark.parametrize("game", ["c-interact", "bargain", "deal-or-no-deal"])
def test_a_player_that_is_not_listed_does_not_play_the_game(game: str) -> None:
    arena_game = find_game(game)
    with make_game(game, limit=1) as arena:
        dialogue = arena.start(arena.ids[0])
        try:
            for seat in range(len(arena_game.seats)):
                group = AGENTS if seat == arena_game.evaluated else USERS
                absent = set(player_names(group)) - set(player_names(group, game))
                assert absent
                for name in absent:
                    factory, argument = PlayerSpec(name, group).load()
                    with pytest.raises(InputError):
                        factory(argument, arena.context(dialogue, arena.ids[0], seat))
        finally:
            dialogue.close()


def test_players_of_others_are_listed_and_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = EntryPoint("theirs", "no_such_module:player", AGENTS)
    monkeypatch.setattr(specs, "plugins", lambda group: {"theirs": theirs})
    assert player_names(AGENTS, "bargain") == ["theirs"]
