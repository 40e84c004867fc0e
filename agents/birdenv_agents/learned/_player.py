"""Players with a trained policy, which choose among recorded moves (`learned:FILE`) or rule-based moves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from birdenv.cocoa.acts import Act, Listener
from birdenv.dialogue import Move, PlayerContext, View
from birdenv.dialogue.games import find_game
from birdenv.dialogue.players import plays
from birdenv.errors import InputError
from birdenv_agents.cocoa_rules import RulePlayer, rulebased
from birdenv_agents.learned._grounding import data_of, grounded, last_resort, situation
from birdenv_agents.learned._policy import Array, Policy, read_policy, softmax

_GREEDY = "greedy:"


def learned(argument: str, context: PlayerContext) -> LearnedPlayer:
    """Return a player with a trained policy (`learned:FILE`).

    `learned:greedy:FILE` always takes the most likely act.

    Raises:
        InputError: the file is not a policy for this game.
    """
    policy, is_greedy = _policy(argument, context, "learned")
    return LearnedPlayer(policy, context, is_greedy)


@plays("mutual-friends", "bargain", "deal-or-no-deal")
def hybrid(argument: str, context: PlayerContext) -> HybridPlayer:
    """Return a player whose trained policy chooses among the rule-based player's moves (`hybrid:FILE`).

    Raises:
        InputError: the file is not a policy for this game, or the game has no rule-based player.
    """
    policy, is_greedy = _policy(argument, context, "hybrid")
    return HybridPlayer(policy, rulebased("", context), context, is_greedy)


def _policy(argument: str, context: PlayerContext, name: str) -> tuple[Policy, bool]:
    path = argument.removeprefix(_GREEDY)
    if not path:
        raise InputError(
            f"{name}:FILE needs a policy: train one with birdenv train-player {context.game} --data FILE "
            "--out FILE"
        )
    return read_policy(Path(path), context.game), argument.startswith(_GREEDY)


class _PolicyPlayer:
    """The base class of players with a policy, which follows the dialogue and draws acts.

    Attributes:
        is_greedy: True to take the most likely act instead of drawing an act.
    """

    def __init__(self, policy: Policy, context: PlayerContext, is_greedy: bool) -> None:
        self._policy = policy
        self._game = find_game(context.game)
        self._rng = context.rng
        self.is_greedy = is_greedy
        self._listener: Listener | None = None

    def probabilities(self, view: View) -> Mapping[Act, float]:
        """Return the probability of each known act, given the player's view."""
        listener = self._follow(view)
        found = self._policy.probabilities(listener.state(view), view.legal)
        return dict(zip(self._policy.acts, found.tolist(), strict=True))

    def _follow(self, view: View) -> Listener:
        if self._listener is None:
            self._listener = Listener(view, self._game)
        self._listener.follow(view)
        return self._listener

    def _order(self, probabilities: Array) -> list[int]:
        """Return the indices of all possible acts, the most likely first, or in a weighted random order."""
        possible = np.flatnonzero(probabilities)
        if self.is_greedy:
            return [int(place) for place in sorted(possible, key=lambda place: -probabilities[place])]
        waits = {int(place): self._rng.expovariate(probabilities[place]) for place in possible}
        return sorted(waits, key=lambda place: waits[place])


class LearnedPlayer(_PolicyPlayer):
    """A player that draws its next dialogue act from the policy, and takes the words from the transcripts.

    Args:
        policy: the trained policy.
        context: the game, the seat and the random generator.
        is_greedy: True to take the most likely act instead of drawing an act.
    """

    def __init__(self, policy: Policy, context: PlayerContext, is_greedy: bool = False) -> None:
        super().__init__(policy, context, is_greedy)
        self._seat = self._game.seats[context.seat]
        self._task = context.scenario
        self._made: list[Move] = []

    def move(self, view: View) -> Move | None:
        """Return a move for the first drawn act that is possible, or None to wait for the other player."""
        listener = self._follow(view)
        if view.waits and listener.moves and not listener.news:
            return None
        for place in self._order(self._policy.probabilities(listener.state(view), view.legal)):
            known = self._policy.known[place]
            action = self._seat.by_name.get(known.action)
            if action is None:
                continue
            for data in data_of(known, situation(self._task, view, listener), self._rng):
                made = Move(action.name, grounded(action, data, listener, view, self._rng))
                if action.fault(made.data, view.choices) is None and made not in self._made:
                    self._made.append(made)
                    return made
        return last_resort(view, self._made, self._seat)


class HybridPlayer(_PolicyPlayer):
    """A player whose policy chooses among the moves that the rule-based player proposes.

    Args:
        policy: the trained policy.
        rules: the rule-based player.
        context: the game, the seat and the random generator.
        is_greedy: True to take the move with the highest score instead of drawing a move.
    """

    def __init__(
        self, policy: Policy, rules: RulePlayer, context: PlayerContext, is_greedy: bool = False
    ) -> None:
        super().__init__(policy, context, is_greedy)
        self._rules = rules

    def move(self, view: View) -> Move | None:
        """Return one of the moves that the rule-based player proposes, or None if it proposes to wait."""
        listener = self._follow(view)
        proposed: dict[Act, tuple[Move, RulePlayer]] = {}
        for rules in self._rules.variants(view):
            made = rules.move(view)
            if made is not None:
                proposed.setdefault(listener.act_of(made, view)[0], (made, rules))
        if not proposed:
            return self._rules.move(view)
        acts = list(proposed)
        likely = softmax(self._policy.scores(listener.state(view), acts))
        made, self._rules = proposed[acts[self._order(likely)[0]]]
        return made
