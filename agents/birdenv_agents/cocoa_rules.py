"""Players of CoCoA's games, in either seat: the agents `rulebased` and `phrases`.

`rulebased` plays by rules; in MutualFriends `rulebased:2` puts two values into a message at most.
`phrases:FILE` is a scripted partner that speaks in the words of a bank of phrases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from pathlib import Path
from typing import Final, Protocol

from birdenv.dialogue import Move, Player, PlayerContext, View
from birdenv.dialogue.players import plays
from birdenv.errors import InputError
from birdenv_agents import bargain, deal_or_no_deal, mutual_friends
from birdenv_agents._phrase_bank import PhraseBank, read_bank
from birdenv_agents.mutual_friends._player import MOST_VALUES

__all__ = ["phrases", "rulebased"]

FRIENDS: Final = "mutual-friends"
BARGAIN: Final = "bargain"
DEAL: Final = "deal-or-no-deal"

_ACTS: Final[Mapping[str, Mapping[str, set[str]]]] = {FRIENDS: mutual_friends.ACTS, BARGAIN: bargain.ACTS}

_NEEDED: Final = {
    FRIENDS: ("ask", "inform", "deny", "yes", "no"),
    BARGAIN: ("open", "counter", "insist", "agree"),
}
"""Acts without which a partner cannot go on."""


class Varied(Player, Protocol):
    """A player that can be had in other manners: each may come to another move."""

    def variants(self) -> Iterator[Varied]:
        """Yield copies, the first of them in the usual manner."""


class RulePlayer:
    """Makes the player of a game at its first move, from what its seat knows."""

    def __init__(self, make: Callable[[View], Varied]) -> None:
        self._make = make
        self._player: Varied | None = None

    def move(self, view: View) -> Move | None:
        return self._made(view).move(view)

    def variants(self, view: View) -> Iterator[RulePlayer]:
        """Yield copies that may move in other ways, the first of them in the usual manner."""
        for player in self._made(view).variants():
            other = copy(self)
            other._player = player
            yield other

    def _made(self, view: View) -> Varied:
        if self._player is None:
            self._player = self._make(view)
        return self._player


@plays(FRIENDS, BARGAIN, DEAL)
def rulebased(argument: str, context: PlayerContext) -> RulePlayer:
    """Make the rule-based player of one of CoCoA's games.

    Raises:
        InputError: it does not play the game, or the argument cannot be used.
    """
    rng = context.rng
    if argument and (context.game != FRIENDS or not argument.isdecimal() or int(argument) < 1):
        raise InputError(f"rulebased:{argument}: only in {FRIENDS}, a number of values in a message from 1")
    if context.game == FRIENDS:
        most = int(argument) if argument else MOST_VALUES
        return RulePlayer(
            lambda view: mutual_friends.FriendsPlayer(view.kb, PhraseBank(mutual_friends.PHRASES, rng), most)
        )
    if context.game == BARGAIN:
        return RulePlayer(lambda view: bargain.Bargainer(view.kb, PhraseBank(bargain.PHRASES, rng)))
    check_rules(context.game)
    return RulePlayer(lambda view: deal_or_no_deal.Sharer(view.kb))


def check_rules(game: str) -> None:
    """Refuse a game that `rulebased` does not play.

    Raises:
        InputError: it does not.
    """
    if game not in (FRIENDS, BARGAIN, DEAL):
        raise InputError(f"rulebased plays {FRIENDS}, {BARGAIN} and {DEAL}, not {game}")


@plays(*_ACTS)
def phrases(argument: str, context: PlayerContext) -> Player:
    """Make the scripted partner that speaks in the words of a bank (`phrases:FILE`).

    Raises:
        InputError: there is no bank, it is none of this game, or it lacks an act that is always needed.
    """
    game, rng = context.game, context.rng
    if game not in _ACTS or not argument:
        raise InputError(f"phrases:FILE plays {' and '.join(_ACTS)} in the words of a bank of phrases")
    found = read_bank(Path(argument), game, _ACTS[game], _NEEDED[game])
    bank = PhraseBank(found, rng)
    if game == FRIENDS:
        return RulePlayer(lambda view: mutual_friends.ScriptedFriend(view.kb, bank, rng))
    return RulePlayer(lambda view: bargain.ScriptedBargainer(view.kb, bank, rng))
