"""What is no player is refused in words that say what one is."""

from __future__ import annotations

from typing import Any

import pytest

from birdenv.dialogue import make_game
from birdenv.errors import InputError


class _Acts:
    def act(self, view: Any) -> None: ...


def _of_two(view: Any, state: Any) -> Any:
    return view.legal[0]


def _of_three(view: Any, state: Any, more: Any) -> None: ...


def _makes_nothing(argument: str, context: Any) -> None: ...


@pytest.mark.parametrize("player", [_Acts, _of_two, _of_three, _makes_nothing, 3])
def test_what_is_no_player_is_told_what_one_is(player: Any) -> None:
    with (
        pytest.raises(InputError, match=r"function that takes a view|it must be"),
        make_game("c-interact", user=player) as arena,
        arena.episode(arena.ids[0]) as episode,
    ):
        episode.act("clarify", "Which ones?")
