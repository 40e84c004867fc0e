"""Reinforcement learning, in which a trained network plays with a fixed copy and learns from rewards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from statistics import mean
from typing import Any, Final

import torch
from torch.nn.utils.rnn import pad_sequence

from birdenv.dialogue import Game, make_game, play
from birdenv_agents.neural._network import Network, read_network, write_network
from birdenv_agents.neural._player import TEMPERATURE, NeuralPlayer, Said

_BATCH: Final = 32
_RATE: Final = 2e-4
_BASELINE: Final = 0.9
"""The share of the running mean reward that is kept at each batch."""
_SCENARIOS: Final = 1000
_OTHER_SCENARIOS: Final = 1_000_003
"""Is added to the seed, so that the scenarios are not those on which players are compared."""


def reinforce(
    game: Game,
    start: Path,
    path: Path,
    seed: int,
    progress: Callable[[float], None],
    dialogues: int,
    settings: Mapping[str, Any],
) -> None:
    """Train a network by REINFORCE (Williams 1992; Lewis et al. 2017), and write the result.

    The network plays with a copy of itself that does not learn. The baseline is the running mean of rewards.
    The seats, and who begins, alternate between dialogues.

    Args:
        game: the game.
        start: the file of the network.
        path: the file to write.
        seed: the seed for scenarios and moves.
        progress: is called with the share of the work that is done.
        dialogues: the number of dialogues to play.
        settings: settings of the game. By default, other scenarios are drawn than those of the game's
            defaults.

    Raises:
        InputError: `start` is not a network for this game.
    """
    fixed = read_network(start, game.name)
    learner = deepcopy(fixed)
    optimizer = torch.optim.Adam(learner.parameters(), _RATE)
    drawn = {"limit": _SCENARIOS, "scenario_seed": seed + _OTHER_SCENARIOS}
    known = game.settings.model_fields
    made = {name: value for name, value in drawn.items() if name in known} | dict(settings)
    baseline: float | None = None
    with make_game(game, **made) as arena:
        for first in range(0, dialogues, _BATCH):
            said: list[Sequence[Said]] = []
            rewards: list[float] = []
            for number in range(first, min(first + _BATCH, dialogues)):
                repeat, place = divmod(number, len(arena.ids))
                task, own = arena.ids[place], number % 2
                dialogue = arena.start(task)
                players = [
                    NeuralPlayer(
                        learner if seat == own else fixed,
                        arena.context(dialogue, task, seat, seed=seed, repeat=repeat),
                    )
                    for seat in (0, 1)
                ]
                players[own].said = []
                play(dialogue, players, first=number // 2 % 2)
                said.append(players[own].said or ())
                rewards.append(dialogue.rewards[own])
                dialogue.close()
            usual = mean(rewards) if baseline is None else baseline
            _update(learner, optimizer, said, [reward - usual for reward in rewards])
            baseline = _BASELINE * usual + (1 - _BASELINE) * mean(rewards)
            progress(min(1.0, (first + _BATCH) / dialogues))
    write_network(path, learner, reinforced=dialogues, reinforced_seed=seed)


def _update(
    network: Network, optimizer: torch.optim.Optimizer, said: Sequence[Sequence[Said]], gains: Sequence[float]
) -> None:
    """Take one step along the gradient of the log-probabilities of moves, weighted by their gains."""
    pairs = [(each, gain) for moves, gain in zip(said, gains, strict=True) for each in moves]
    if not pairs:
        return
    tokens = pad_sequence([torch.tensor(each.tokens) for each, _ in pairs], batch_first=True)
    scores, _ = network(torch.stack([each.context for each, _ in pairs]), tokens[:, :-1])
    total = torch.zeros(())
    for row, (each, gain) in zip(scores, pairs, strict=True):
        end, count = len(each.tokens), len(each.allowed)
        own = row[end - 1 - count : end - 1].masked_fill(~torch.stack(each.allowed), -torch.inf)
        chosen = torch.tensor(each.tokens[end - count :])[:, None]
        total = total - gain * (own / TEMPERATURE).log_softmax(-1).gather(1, chosen).sum()
    optimizer.zero_grad()
    (total / len(gains)).backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimizer.step()
