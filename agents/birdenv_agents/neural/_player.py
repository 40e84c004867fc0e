"""The player of a network: `neural:FILE`, `neural:greedy:FILE`, `neural:temperature=0.8:FILE`."""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

import torch
from torch import Tensor

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.dialogue.games import find_game
from birdenv.errors import InputError
from birdenv_agents.learned._grounding import last_resort
from birdenv_agents.neural._network import Network, Past, one_thread, read_network
from birdenv_agents.neural._tokens import OWN, Tokens, is_word

TEMPERATURE: Final = 0.5
_TRIES: Final = 5
_HOW: Final = "neural:FILE, neural:greedy:FILE or neural:temperature=0.8:FILE"


class Said(NamedTuple):
    """An own move as it was drawn: its tokens after all that came before, and what it was drawn from.

    Attributes:
        context: what the seat knew.
        tokens: all tokens, the mark of the own move and its own tokens last.
        allowed: for each own token, which tokens were possible.
    """

    context: Tensor
    tokens: list[int]
    allowed: list[Tensor]


def neural(argument: str, context: PlayerContext) -> NeuralPlayer:
    """Make the player of a trained network.

    Raises:
        InputError: the file holds no network, or one of another game.
    """
    how, temperature = argument, TEMPERATURE
    if argument.startswith("greedy:"):
        how, temperature = argument.removeprefix("greedy:"), 0.0
    elif argument.startswith("temperature="):
        told, _, how = argument.removeprefix("temperature=").partition(":")
        try:
            temperature = float(told)
        except ValueError:
            temperature = -1.0
        if not 0 <= temperature <= 10:
            raise InputError(f"neural:{argument}: a temperature is a number from 0 (greedy) to 10; {_HOW}")
    if not how:
        raise InputError(f"the player `neural` needs the file of birdenv train-player --kind neural: {_HOW}")
    return NeuralPlayer(read_network(Path(how), context.game), context, temperature)


class NeuralPlayer:
    """Says what the network makes likely: words, or an action with its data.

    Args:
        network: the network.
        context: the game and the seat; draws tokens.
        temperature: 1 draws as the network learned; less is bolder; 0 takes the likeliest token.

    Attributes:
        said: the own moves as they were drawn; None where they are not kept.
    """

    def __init__(self, network: Network, context: PlayerContext, temperature: float = TEMPERATURE) -> None:
        self._network = network
        self._game = find_game(context.game)
        self._seat = self._game.seats[context.seat]
        self._rng = context.rng
        self._temperature = temperature
        self._tokens: Tokens | None = None
        self._known = self._heard = torch.empty(0)
        self._past: Past | None = None
        self._refused: list[Move] = []
        self.said: list[Said] | None = None

    def move(self, view: View) -> Move | None:
        """Return a move that is possible; None while the other has to answer."""
        with torch.inference_mode(), one_thread():
            tokens = self._follow(view)
            if view.waits and view.heard and view.heard[-1].agent == view.seat:
                return None
            for _ in range(_TRIES if self._temperature else 1):
                made, allowed = self._draw(tokens, view)
                move = tokens.move(made, view, self._rng) if made else None
                if move is None:
                    break
                own = (each for each in view.heard if each.agent == view.seat)
                refused = [each for each in own if (each.metadata or {}).get("refused")]
                is_new = all((move.action, move.data) != (each.action, each.data) for each in refused)
                if is_new and self._seat.by_name[move.action].fault(move.data, view.choices) is None:
                    if self.said is not None:
                        own = self._network.encode([OWN, *made]).tolist()
                        self.said.append(Said(self._known, [*self._heard.tolist(), *own], allowed))
                    return move
        return last_resort(view, [], self._seat)

    def surprise(self, view: View, move: Move) -> list[float]:
        """Return the negative log-probability of each word of a move, of its end and of its action.

        The numbers of a selection are no words.
        """
        with torch.inference_mode(), one_thread():
            made = self._follow(view).of(move)
            numbers = self._network.encode([OWN, *made])[None]
            scores, _ = self._network(self._known[None], numbers[:, :-1], self._past)
            found = -scores[0].log_softmax(-1).gather(1, numbers[0, 1:, None])[:, 0]
        pairs = zip(made, found.tolist(), strict=True)
        return [each for token, each in pairs if not (token.startswith("=") and token != "=")]

    def _follow(self, view: View) -> Tokens:
        if self._tokens is None:
            self._tokens = Tokens(view, self._game)
            self._known = self._network.encode_context(self._tokens.context())
            self._heard = torch.empty(0, dtype=torch.long)
        news = self._network.encode(self._tokens.follow(view))
        if len(news):
            self._heard = torch.cat([self._heard, news])
            _, self._past = self._network(self._known[None], news[None], self._past)
        return self._tokens

    def _draw(self, tokens: Tokens, view: View) -> tuple[list[str], list[Tensor]]:
        """Draw the tokens of a move, one after the other; none if nothing that was learned is possible."""
        words = self._network.settings.words
        sayable = torch.tensor([is_word(word) and tokens.can_say(word) for word in words])
        made: list[str] = []
        masks: list[Tensor] = []
        past, last = self._past, OWN
        while (possible := tokens.next(made, view.legal)) is not None:
            allowed = sayable.clone() if possible.words else torch.zeros(len(words), dtype=torch.bool)
            for token in possible.tokens & self._network.numbers.keys():
                allowed[self._network.numbers[token]] = True
            if not allowed.any():
                return [], []
            scores, past = self._network(self._known[None], self._network.encode([last])[None], past)
            last = words[self._choose(scores[0, -1].masked_fill(~allowed, -torch.inf))]
            made.append(last)
            masks.append(allowed)
        return made, masks

    def _choose(self, scores: Tensor) -> int:
        if not self._temperature:
            return int(scores.argmax())
        chances = list(accumulate((scores.double() / self._temperature).softmax(-1).tolist()))
        return min(bisect(chances, self._rng.random() * chances[-1]), len(chances) - 1)
