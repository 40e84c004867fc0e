"""Reinforcement learning: a trained network plays, and learns from the rewards of its dialogues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from statistics import mean
from typing import Any, Final, TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from birdenv.dialogue import Arena, Game, make_game, play
from birdenv_agents.neural._network import Network, read_network, write_network
from birdenv_agents.neural._player import TEMPERATURE, NeuralPlayer, Said

_REPEATS: Final = 4
"""The number of dialogues on one scenario; the mean of their rewards is the baseline."""
_BATCH: Final = 8 * _REPEATS
_RATE: Final = 5e-4
_LIKENESS: Final = 0.1
"""The weight, in points of reward, of one nat of divergence from the original network."""
_EVENTS: Final = 20
"""The largest number of moves in a dialogue. It is small, so that players who never concede get no deal."""
_SCENARIOS: Final = 1000
_OTHER_SCENARIOS: Final = 1_000_003
"""The offset of the scenario seed, so that training does not use the scenarios of comparisons."""


Group: TypeAlias = Sequence[tuple[Sequence[Said], float]]
"""The learner's moves in each dialogue on one scenario, and the reward minus the scenario's mean reward."""


def reinforce(
    game: Game,
    start: Path,
    path: Path,
    seed: int,
    progress: Callable[[float], None],
    dialogues: int,
    settings: Mapping[str, Any],
) -> None:
    """Improve a network by playing: moves in dialogues with high rewards become more likely.

    This is REINFORCE (Williams 1992; Lewis et al. 2017). In half of the scenarios, the partner is the
    original network, and in the other half, the network that is being trained. This keeps the network from
    relying on a partner that gives in. Each scenario is played several times, and the mean reward is the
    baseline. Every step also keeps the predictions close to those of the original network. The original
    network continues to infer the agreed division of things.

    Args:
        game: the game to play.
        start: the file of the trained network.
        path: the file for the improved network.
        seed: the seed for choosing scenarios and for all random draws.
        progress: a function that is called with the finished share of the work, from 0 to 1.
        dialogues: the number of dialogues to play.
        settings: settings for the game. The default scenarios differ from the game's own default scenarios.

    Raises:
        InputError: `start` does not contain a network for this game.
    """
    fixed = read_network(start, game.name)
    learner = deepcopy(fixed)
    learner.reader = fixed.reader or fixed
    optimizer = torch.optim.Adam(learner.parameters(), _RATE)
    drawn = {"limit": _SCENARIOS, "scenario_seed": seed + _OTHER_SCENARIOS, "max_events": _EVENTS}
    known = game.settings.model_fields
    made = {name: value for name, value in drawn.items() if name in known} | dict(settings)
    with make_game(game, **made) as arena:
        for first in range(0, dialogues, _BATCH):
            numbers = range(first, min(first + _BATCH, dialogues))
            _update(learner, fixed, optimizer, _play(arena, learner, fixed, numbers, seed))
            progress(numbers.stop / dialogues)
    write_network(path, learner, reinforced=dialogues, reinforced_seed=seed)


def _play(arena: Arena, learner: Network, fixed: Network, numbers: range, seed: int) -> list[Group]:
    """Play dialogues, and return the learner's moves, in both seats if the learner plays with itself."""
    found: dict[tuple[int, int], list[tuple[Sequence[Said], float]]] = defaultdict(list)
    for number in numbers:
        scenario = number // _REPEATS
        task = arena.ids[scenario % len(arena.ids)]
        dialogue = arena.start(task)
        networks = [learner, (fixed, learner)[scenario // 4 % 2]]
        players = []
        for seat, network in enumerate(networks[:: -1 if scenario % 2 else 1]):
            context = arena.context(dialogue, task, seat, seed=seed, repeat=number)
            players.append(NeuralPlayer(network, context))
            if network is learner:
                players[seat].said = []
        play(dialogue, players, first=scenario // 2 % 2)
        for seat, player in enumerate(players):
            if player.said is not None:
                found[scenario, seat].append((player.said, dialogue.rewards[seat]))
        dialogue.close()
    return [
        [(said, reward - mean(reward for _, reward in group)) for said, reward in group]
        for group in found.values()
    ]


def _update(
    learner: Network, fixed: Network, optimizer: torch.optim.Optimizer, played: Sequence[Group]
) -> None:
    """Make a gradient step: moves in dialogues with a gain become likelier, near the fixed network."""
    optimizer.zero_grad()
    for group in played:
        rows = [(row, gain) for said, gain in group for row in _rows(said)]
        if rows:
            (_loss(learner, fixed, rows) / sum(map(len, played))).backward()
    torch.nn.utils.clip_grad_norm_(learner.parameters(), 1.0)
    optimizer.step()


def _loss(learner: Network, fixed: Network, rows: Sequence[tuple[Sequence[Said], float]]) -> Tensor:
    contexts = torch.stack([row[0].context for row, _ in rows])
    tokens = pad_sequence([torch.tensor(row[0].tokens) for row, _ in rows], batch_first=True)
    scores, _ = learner(contexts, tokens[:, :-1])
    with torch.no_grad():
        usual, _ = fixed(contexts, tokens[:, :-1])
    told = tokens[:, 1:] > 0
    total = _LIKENESS * cross_entropy(scores[told], usual[told].softmax(-1), reduction="sum")
    for found, (row, gain) in zip(scores, rows, strict=True):
        for each in row:
            end, count = len(each.tokens), len(each.allowed)
            own = found[end - 1 - count : end - 1].masked_fill(~torch.stack(each.allowed), -torch.inf)
            chosen = torch.tensor(each.tokens[end - count :])[:, None]
            total = total - gain * (own / TEMPERATURE).log_softmax(-1).gather(1, chosen).sum()
    return total


def _rows(said: Sequence[Said]) -> list[list[Said]]:
    """Return moves in groups whose tokens are prefixes of the group's first move.

    Usually, the moves of a dialogue form a single group. There are more groups if the network's words became
    other tokens when the dialogue was read again.
    """
    rows: list[list[Said]] = []
    for each in reversed(said):
        size = len(each.tokens)
        for row in rows:
            if row[0].tokens[:size] == each.tokens:
                row.append(each)
                break
        else:
            rows.append([each])
    return rows
