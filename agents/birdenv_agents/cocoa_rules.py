"""The players `rulebased` and `phrases` for either seat of CoCoA's games.

`rulebased` plays by rules. In MutualFriends, `rulebased:2` names at most two values in a message.
`phrases:FILE` is a scripted partner whose words come from a phrase bank.
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
"""The acts for which the bank of a scripted partner must have phrases."""


class Varied(Player, Protocol):
    """A player with several styles of play, which may choose different moves."""

    def variants(self) -> Iterator[Varied]:
        """Yield a copy of the player for each of its styles of play, the usual style first."""


class RulePlayer:
    """A rule-based player for any of CoCoA's games.

    Args:
        make: a function that returns the game's player, given the seat's first view.
    """

    def __init__(self, make: Callable[[View], Varied]) -> None:
        self._make = make
        self._player: Varied | None = None

    def move(self, view: View) -> Move | None:
        return self._made(view).move(view)

    def variants(self, view: View) -> Iterator[RulePlayer]:
        """Yield a copy of the player for each of its styles of play, the usual style first."""
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
    """Return the rule-based player for one of CoCoA's games.

    Raises:
        InputError: the game has no rule-based player, or the argument is invalid.
    """
    rng = context.rng
    if argument and (context.game != FRIENDS or not argument.isdecimal() or int(argument) < 1):
        raise InputError(
            f"rulebased:{argument}: the argument is the maximum number of values in a message, 1 or more, "
            f"and only for {FRIENDS}"
        )
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
    """Raise an error unless `rulebased` can play a game.

    Raises:
        InputError: `rulebased` does not play this game.
    """
    if game not in (FRIENDS, BARGAIN, DEAL):
        raise InputError(f"rulebased plays {FRIENDS}, {BARGAIN} and {DEAL}, not {game}")


@plays(*_ACTS)
def phrases(argument: str, context: PlayerContext) -> Player:
    """Return a scripted partner whose words come from a phrase bank (`phrases:FILE`).

    Raises:
        InputError: there is no bank, or the bank is for a different game or lacks a required act.
    """
    game, rng = context.game, context.rng
    if game not in _ACTS or not argument:
        raise InputError(
            f"phrases:FILE needs a file with a phrase bank, and plays only {' and '.join(_ACTS)}"
        )
    found = read_bank(Path(argument), game, _ACTS[game], _NEEDED[game])
    bank = PhraseBank(found, rng)
    if game == FRIENDS:
        return RulePlayer(lambda view: mutual_friends.ScriptedFriend(view.kb, bank, rng))
    return RulePlayer(lambda view: bargain.ScriptedBargainer(view.kb, bank, rng))
