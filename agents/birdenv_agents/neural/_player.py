"""The player with a neural network: `neural:FILE`, `neural:greedy:FILE` or `neural:temperature=0.8:FILE`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

import torch
from torch import Tensor

from birdenv.cocoa.acts._tokens import ANY_WORD, OTHER, OWN, DialogueTokens, is_word
from birdenv.dialogue import Move, PlayerContext, View
from birdenv.dialogue.games import find_game
from birdenv.errors import InputError
from birdenv_agents.learned._grounding import last_resort
from birdenv_agents.neural._network import Network, Past, read_network

TEMPERATURE: Final = 0.5
_ARGUMENT: Final = re.compile(
    r"(?:(?:(greedy)|temperature=(\d{1,2}(?:\.\d{1,9})?)):)?(?!greedy:|temperature=)(.+)"
)


class Said(NamedTuple):
    """A move of the player, recorded for reinforcement.

    Attributes:
        context: the token numbers of the seat's knowledge.
        tokens: the numbers of all tokens in the dialogue, up to and including the move.
        allowed: for each token in the move, a mask of the tokens that were possible at that position.
    """

    context: Tensor
    tokens: list[int]
    allowed: list[Tensor]


def neural(argument: str, context: PlayerContext) -> NeuralPlayer:
    """Return a player that uses a trained network.

    Raises:
        InputError: the argument is invalid, or the file does not contain a network for this game.
    """
    found = _ARGUMENT.fullmatch(argument)
    if found is None:
        raise InputError(
            "the player `neural` needs a file from birdenv train-player --kind neural: use neural:FILE, "
            "neural:greedy:FILE or neural:temperature=0.8:FILE"
        )
    is_greedy, told, file = found.groups()
    temperature = 0.0 if is_greedy else float(told or TEMPERATURE)
    return NeuralPlayer(read_network(Path(file), context.game), context, temperature)


class NeuralPlayer:
    """A player that draws words, or an action with its data, from the probabilities of a network.

    Args:
        network: the trained network.
        context: the game, the seat, and the random generator.
        temperature: 1 to draw with the network's own probabilities, a lower value to favour likely tokens, or
            0 to take the most likely token.

    Attributes:
        said: the moves of this player, for reinforcement; None if they are not recorded.
    """

    def __init__(self, network: Network, context: PlayerContext, temperature: float = TEMPERATURE) -> None:
        self._network = network
        self._game = find_game(context.game)
        self._seat = self._game.seats[context.seat]
        self._rng = context.rng
        self._temperature = temperature
        self._tokens: DialogueTokens | None = None
        self._known = self._heard = torch.empty(0)
        self._past: Past | None = None
        self._told = 1  # the number of tokens whose surprise was returned; the first has none
        self.said: list[Said] | None = None

    def move(self, view: View) -> Move | None:
        """Return a legal move, or None to wait for the partner's answer."""
        with torch.inference_mode():
            tokens = self._follow(view)
            if view.waits and view.heard and view.heard[-1].agent == view.seat:
                return None
            made, allowed = self._draw(tokens, view)
            move = (
                self._share(view, made[0])
                if tokens.shares(made)
                else tokens.move(made, view)
                if made
                else None
            )
        if move is None or self._seat.by_name[move.action].fault(move.data, view.choices) is not None:
            return last_resort(view, [], self._seat)
        if self.said is not None:
            numbers = self._network.encode([OWN, *made]).tolist()
            self.said.append(Said(self._known, [*self._heard.tolist(), *numbers], allowed))
        return move

    def surprise(self, view: View, move: Move) -> tuple[list[float], list[float]]:
        """Return the negative log-probabilities of the tokens since the last call, and of a move's tokens.

        The first list covers the tokens before the move, and the marker of its speaker. The second list
        covers the words of the move, its end marker and its action, but not the numbers of a selection.
        """
        with torch.inference_mode():
            made = self._follow(view).of(move)
            numbers = torch.cat([self._heard, self._network.encode([OWN, *made])])
            scores, _ = self._network(self._known[None], numbers[None, :-1])
            costs = -scores[0].log_softmax(-1).gather(1, numbers[1:, None])[:, 0]
        before, self._told = self._told, len(numbers)
        counted = [
            cost
            for token, cost in zip(made, costs[-len(made) :].tolist(), strict=True)
            if token[0] != "=" or token == "="
        ]
        return costs[before - 1 : len(self._heard)].tolist(), counted

    def _follow(self, view: View) -> DialogueTokens:
        if self._tokens is None:
            self._tokens = DialogueTokens(view, self._game)
            self._known = self._network.encode_context(self._tokens.context())
            self._heard = torch.empty(0, dtype=torch.long)
        news = self._network.encode(self._tokens.follow(view))
        if len(news):
            self._heard = torch.cat([self._heard, news])
            _, self._past = self._network(self._known[None], news[None], self._past)
        return self._tokens

    def _draw(self, tokens: DialogueTokens, view: View) -> tuple[list[str], list[Tensor]]:
        """Draw the tokens of a move one by one, and return them with masks of the possible tokens.

        Both lists are empty if no known token is possible.
        """
        words = self._network.words
        sayable = torch.tensor([is_word(word) and tokens.can_say(word) for word in words])
        made: list[str] = []
        masks: list[Tensor] = []
        past, last = self._past, OWN
        while not tokens.shares(made) and (possible := tokens.next(made, view.legal)):
            allowed = sayable.clone() if ANY_WORD in possible else torch.zeros(len(words), dtype=torch.bool)
            for token in possible & self._network.numbers.keys():
                allowed[self._network.numbers[token]] = True
            if not allowed.any():
                return [], []
            scores, past = self._network(self._known[None], self._network.encode([last])[None], past)
            last = words[self._choose(scores[0, -1].masked_fill(~allowed, -torch.inf))]
            made.append(last)
            masks.append(allowed)
        return made, masks

    def _share(self, view: View, action: str) -> Move:
        """Return the most likely division of the things, given the dialogue as both seats saw it.

        The values of the things are hidden from the network, so that both seats infer the same division.
        """
        reader = self._network.reader or self._network
        public = DialogueTokens(view, self._game, is_public=True)
        talk, shares = public.talk(view, action), public.shares([action])
        known = reader.encode_context(public.context())[None]
        total = torch.zeros(len(shares))
        turned = [{OWN: OTHER, OTHER: OWN}.get(token, token) for token in talk]
        for heard, taken in ((talk, shares), (turned, list(map(public.rest, shares)))):
            first, past = reader(known, reader.encode([*heard, OWN, action])[None])
            numbers = torch.stack(list(map(reader.encode, taken)))
            count = len(numbers)
            state, *others = past
            state = state.expand(-1, count, -1).contiguous()
            past = Past(state, *(each.expand(count, -1, -1) for each in others))
            later, _ = reader(known, numbers[:, :-1], past)
            scores = torch.cat([first[:, -1:].expand(count, -1, -1), later], 1).log_softmax(-1)
            total += scores.gather(2, numbers[..., None]).sum((1, 2))
        return public.move([action, *shares[int(total.argmax())]], view)

    def _choose(self, scores: Tensor) -> int:
        if not self._temperature:
            return int(scores.argmax())
        chances = (scores.double() / self._temperature).softmax(-1).tolist()
        return self._rng.choices(range(len(chances)), chances)[0]
