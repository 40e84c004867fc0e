"""Train policies on dialogues, and write the file for the retrieval player."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from birdenv.cocoa.acts import Act, Listener, Transcripts
from birdenv.cocoa.files import write_examples
from birdenv.errors import InputError
from birdenv_agents.cocoa_rules import check_rules
from birdenv_agents.learned._grounding import situation
from birdenv_agents.learned._policy import (
    Array,
    KnownAct,
    PolicyFile,
    membership,
    parts,
    softmax,
    write_policy,
)

Progress = Callable[[float], None]
"""A function that is called with the share of the work that is done."""

_MOST_ACTS: Final = 400
_MOST_DATA: Final = 40
_MOST_PLACED: Final = 2000  # for data that each belong to one situation
_BATCH: Final = 256
_RATE: Final = 0.05
_PASSES: Final = (3, 40)
_TURNS: Final = 150_000  # the approximate number of turns in all passes together


class Place(NamedTuple):
    """One recorded turn.

    Attributes:
        features: the features of the seat's view.
        legal: the names of the legal actions.
        act: the act of the recorded move.
        data: the data of the recorded move, with slots.
        about: a text that describes the situation; empty if the data have slots.
    """

    features: list[str]
    legal: tuple[str, ...]
    act: Act
    data: Any
    about: str


def train_policy(transcripts: Transcripts, path: Path, seed: int, progress: Progress) -> None:
    """Learn which act comes next in recorded dialogues, and write the policy to a file.

    Args:
        transcripts: the dialogues to learn from.
        path: the policy file to write.
        seed: the seed for the order of the turns.
        progress: a function that is called with the finished share of the work, from 0 to 1.

    Raises:
        InputError: the dialogues contain no moves, or belong to a different game.
    """
    places = list(_places(transcripts, lambda share: progress(share / 2)))
    if not places:
        raise _without_moves(transcripts)
    known = _known(places)
    weights = _learned(places, [each.act for each in known], seed, lambda share: progress(0.5 + share / 2))
    trained = {"dialogues": len(transcripts), "moves": len(places), "seed": seed}
    name = transcripts.game.name
    write_policy(path, PolicyFile(birdenv_policy=1, game=name, trained=trained, acts=known, weights=weights))


def train_hybrid(transcripts: Transcripts, path: Path, seed: int, progress: Progress) -> None:
    """Train the policy for a player that chooses among the rule-based player's moves.

    The arguments are the same as for `train_policy`.

    Raises:
        InputError: the game has no rule-based player, or `train_policy` cannot use the dialogues.
    """
    check_rules(transcripts.game.name)
    train_policy(transcripts, path, seed, progress)


def train_retrieval(transcripts: Transcripts, path: Path, seed: int, progress: Progress) -> None:
    """Write all dialogues that can be replayed to the file of a retrieval player.

    The arguments are the same as for `train_policy`; `seed` has no effect.

    Raises:
        InputError: the dialogues contain no moves, or belong to a different game.
    """
    kept = []
    for place, example in enumerate(transcripts.examples):
        if transcripts.turns(place):
            kept.append(example)
        progress((place + 1) / len(transcripts))
    if not kept:
        raise _without_moves(transcripts)
    write_examples(path, kept)


def _without_moves(transcripts: Transcripts) -> InputError:
    name = transcripts.game.name
    return InputError(f"the {len(transcripts)} dialogues contain no move that is possible in {name}")


def _places(transcripts: Transcripts, progress: Progress) -> Iterator[Place]:
    for done, turns in enumerate(transcripts, 1):
        task = transcripts.arena._tasks.public(transcripts.ids[done - 1])
        listeners: dict[int, Listener] = {}
        for view, move in turns:
            listener = listeners.setdefault(view.seat, Listener(view, transcripts.game))
            listener.follow(view)
            act, data = listener.act_of(move, view)
            yield Place(listener.state(view), view.legal, act, data, situation(task, view, listener))
        progress(done / len(transcripts))


def _known(places: Sequence[Place]) -> list[KnownAct]:
    """Return the most frequent acts, with the data of their moves."""
    counts: Counter[Act] = Counter(place.act for place in places)
    data: dict[Act, Counter[tuple[str, str]]] = {}
    for place in places:
        data.setdefault(place.act, Counter())[json.dumps(place.data, sort_keys=True), place.about] += 1
    made = []
    for act, _ in sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:_MOST_ACTS]:
        found = sorted(data[act].items(), key=lambda each: (-each[1], each[0]))
        is_placed = any(about for (_, about), _ in found)
        found = found[: _MOST_PLACED if is_placed else _MOST_DATA]
        made.append(
            KnownAct(
                action=act.action,
                parts=act.parts,
                data=tuple(json.loads(text) for (text, _), _ in found),
                counts=tuple(count for _, count in found),
                about=tuple(about for (_, about), _ in found) if is_placed else (),
            )
        )
    return made


def _learned(
    places: Sequence[Place], acts: Sequence[Act], seed: int, progress: Progress
) -> dict[str, dict[str, float]]:
    """Return the maximum a posteriori weights under a Gaussian prior of variance 1, found with Adam."""
    number = {act: place for place, act in enumerate(acts)}
    places = [place for place in places if place.act in number]
    names = sorted({part for act in acts for part in parts(act)})
    features = sorted({feature for place in places for feature in place.features})
    column = {feature: place for place, feature in enumerate(features)}
    of_acts = membership(acts, {name: place for place, name in enumerate(names)})
    actions = np.array([act.action for act in acts])
    masks = {legal: np.isin(actions, legal) for legal in {place.legal for place in places}}
    holding = [np.array([column[feature] for feature in place.features]) for place in places]
    targets = np.array([number[place.act] for place in places])
    weights = np.zeros((len(names), len(features)))
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    rng = np.random.default_rng(seed)
    least, most = _PASSES
    passes = min(most, max(least, _TURNS // len(places)))
    step = 0
    for done in range(1, passes + 1):
        order = rng.permutation(len(places))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            inputs = np.zeros((len(batch), len(features)))
            for row, place in zip(inputs, batch, strict=True):
                row[holding[place]] = 1
            allowed = np.array([masks[places[place].legal] for place in batch])
            gradient = _gradient(inputs, allowed, targets[batch], weights, of_acts) + weights / len(places)
            step += 1
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            moved = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
            weights -= _RATE * moved
        progress(done / passes)
    return {
        name: dict(zip(features, row.tolist(), strict=True)) for name, row in zip(names, weights, strict=True)
    }


def _gradient(inputs: Array, allowed: Array, targets: Array, weights: Array, of_acts: Array) -> Array:
    """Return the gradient of the mean negative log-likelihood."""
    scores = (inputs @ weights.T) @ of_acts.T
    error = softmax(np.where(allowed, scores, -np.inf))
    error[np.arange(len(targets)), targets] -= 1
    found: Array = (error @ of_acts).T @ inputs / len(targets)
    return found
