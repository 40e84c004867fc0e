"""Players of a policy: `learned:FILE` in the words of the transcripts, `hybrid:FILE` with moves of rules."""

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
    """Make the player of a trained policy (`learned:FILE`; `learned:greedy:FILE` takes the likeliest act).

    Raises:
        InputError: there is no policy in the file, or one of another game.
    """
    policy, is_greedy = _policy(argument, context, "learned")
    return LearnedPlayer(policy, context, is_greedy)


@plays("mutual-friends", "bargain", "deal-or-no-deal")
def hybrid(argument: str, context: PlayerContext) -> HybridPlayer:
    """Make the player that chooses among the rule-based player's moves by a trained policy (`hybrid:FILE`).

    Raises:
        InputError: there is no policy in the file, one of another game, or no rules for the game.
    """
    policy, is_greedy = _policy(argument, context, "hybrid")
    return HybridPlayer(policy, rulebased("", context), context, is_greedy)


def _policy(argument: str, context: PlayerContext, name: str) -> tuple[Policy, bool]:
    path = argument.removeprefix(_GREEDY)
    if not path:
        raise InputError(
            f"{name}:FILE needs a policy: birdenv train-player {context.game} --data FILE --out FILE"
        )
    return read_policy(Path(path), context.game), argument.startswith(_GREEDY)


class _PolicyPlayer:
    """What both players share: following the dialogue, and drawing from probabilities.

    Attributes:
        is_greedy: it takes what is likeliest instead of drawing.
    """

    def __init__(self, policy: Policy, context: PlayerContext, is_greedy: bool) -> None:
        self._policy = policy
        self._game = find_game(context.game)
        self._rng = context.rng
        self.is_greedy = is_greedy
        self._listener: Listener | None = None

    def probabilities(self, view: View) -> Mapping[Act, float]:
        """Return the probability of each known act in a view."""
        listener = self._follow(view)
        found = self._policy.probabilities(listener.state(view), view.legal)
        return dict(zip(self._policy.acts, found.tolist(), strict=True))

    def _follow(self, view: View) -> Listener:
        if self._listener is None:
            self._listener = Listener(view, self._game)
        self._listener.follow(view)
        return self._listener

    def _order(self, probabilities: Array) -> list[int]:
        """Return the places of all that is possible: the likeliest first, or drawn one after the other."""
        possible = np.flatnonzero(probabilities)
        if self.is_greedy:
            return [int(place) for place in sorted(possible, key=lambda place: -probabilities[place])]
        waits = {int(place): self._rng.expovariate(probabilities[place]) for place in possible}
        return sorted(waits, key=lambda place: waits[place])


class LearnedPlayer(_PolicyPlayer):
    """Draws the next act from the policy, and says it in words of the transcripts.

    Args:
        policy: the policy.
        context: the game and the seat; draws acts, words and values.
        is_greedy: it takes the likeliest act.
    """

    def __init__(self, policy: Policy, context: PlayerContext, is_greedy: bool = False) -> None:
        super().__init__(policy, context, is_greedy)
        self._seat = self._game.seats[context.seat]
        self._task = context.scenario
        self._made: list[Move] = []

    def move(self, view: View) -> Move | None:
        """Return a move of the first act drawn that can be made; None while the other has to answer."""
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
    """Lets the rule-based player propose moves, and takes one by the policy.

    Args:
        policy: the policy.
        rules: proposes moves.
        context: the game; draws one of them.
        is_greedy: it takes the one with the highest score.
    """

    def __init__(
        self, policy: Policy, rules: RulePlayer, context: PlayerContext, is_greedy: bool = False
    ) -> None:
        super().__init__(policy, context, is_greedy)
        self._rules = rules

    def move(self, view: View) -> Move | None:
        """Return one of the moves that the rules propose; None if they say nothing."""
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
