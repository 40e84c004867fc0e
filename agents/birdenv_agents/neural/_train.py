"""Maximum-likelihood training: the network learns to predict every token that a seat hears or says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from io import BytesIO
from math import cos, pi
from pathlib import Path
from pickle import UnpicklingError
from random import Random
from typing import Any, Final, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from birdenv.cocoa.acts import Transcripts
from birdenv.cocoa.acts._tokens import MARKS, OWN, UNKNOWN, DialogueTokens, is_word
from birdenv.dialogue import Game
from birdenv.errors import InputError
from birdenv.files import exists, file_errors, write_bytes
from birdenv_agents.neural._network import Network, Settings, write_network

Progress: TypeAlias = Callable[[float], None]
Row: TypeAlias = tuple[Tensor, Tensor]
"""A dialogue as a seat sees it: the token numbers of the seat's knowledge, and of the whole dialogue."""

_RARE: Final = 20
"""Words that occur less often become unknown, except in small data, where the share below decides."""
_RARE_SHARE: Final = 1e-4
_PASSES: Final = (4, 60)
_TOKENS: Final = 6_500_000  # the approximate number of tokens in all passes together
_BATCHES: Final = (8, 32)
_STEPS: Final = 30
"""The smallest number of steps in a pass, unless batches would be too small."""
_SORTED: Final = 20  # the number of batches that are sorted by length together
_RATE: Final = 3e-3
_WARM_UP: Final = 100
_DROPOUT: Final = 0.2
_UNHEARD: Final = 0.01
"""The share of words that training replaces with the unknown word, so that the network learns to use it."""
_NUMBERS: Final = 3.0
"""The weight of the numbers of a selection, which are rare."""


def train(
    transcripts: Transcripts, path: Path, seed: int, progress: Progress, *, resume: bool = False
) -> None:
    """Train a network to continue dialogues, and write it to a file.

    After each pass through the dialogues, the training state is saved in `PATH.part`, which is deleted
    at the end.

    Args:
        transcripts: the dialogues to learn from.
        path: the file to write.
        seed: the seed for the initial weights and the order of the dialogues.
        progress: a function that is called with the finished share of the work, from 0 to 1.
        resume: True to continue from `PATH.part`. The result is the same as without an interruption.

    Raises:
        InputError: the dialogues contain no legal move, the game is not played in words, or `PATH.part`
            cannot be used.
    """
    _check(transcripts.game)
    found = list(_tokens(transcripts, lambda share: progress(share * 0.1)))
    if not found:
        raise InputError(f"the {len(transcripts)} dialogues contain no move that is legal in the game")
    words = _words(found)
    trained = {"dialogues": len(transcripts), "seed": seed}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        settings = Settings(game=transcripts.game.name, words=words, trained=trained)
        network = Network(settings, _DROPOUT)
        rows = [(network.encode_context(known), network.encode(tokens)) for known, tokens in found]
        _learn(network, rows, path, seed, lambda share: progress(0.1 + 0.9 * share), resume)
    write_network(path, network)
    _part(path).unlink(missing_ok=True)


def _check(game: Game) -> None:
    kinds = {field.kind for seat in game.seats for action in seat.actions for field in action.fields}
    if len(game.seats) != 2 or "code" in kinds:
        raise InputError(f"neural plays games in which two seats talk, not {game.name}: use --kind retrieval")


def _tokens(transcripts: Transcripts, progress: Progress) -> Iterator[tuple[list[str], list[str]]]:
    """Yield, for each seat of each dialogue, the tokens of its knowledge and of its dialogue.

    The dialogue ends with the seat's last move.
    """
    for done, turns in enumerate(transcripts, 1):
        for view, move in {turn.view.seat: turn for turn in turns}.values():
            tokens = DialogueTokens(view, transcripts.game)
            yield tokens.context(), [*tokens.follow(view), OWN, *(made := tokens.of(move))]
            public = DialogueTokens(view, transcripts.game, is_public=True)
            if public.shares(made[:1]):  # learn to read a share from the talk, without values
                yield public.context(), [*public.talk(view, made[0]), OWN, *public.of(move)]
        progress(done / len(transcripts))


def _words(found: Sequence[tuple[list[str], list[str]]]) -> tuple[str, ...]:
    counts = Counter(token for known, tokens in found for token in (*known, *tokens))
    rare = min(_RARE, counts.total() * _RARE_SHARE)
    kept = [token for token in counts if not is_word(token) or "{" in token or counts[token] >= rare]
    return tuple(sorted(set(kept) - set(MARKS), key=lambda token: (-counts[token], token)))


def _learn(
    network: Network, rows: Sequence[Row], path: Path, seed: int, progress: Progress, resume: bool
) -> None:
    least, most = _PASSES
    passes = min(most, max(least, _TOKENS // sum(len(tokens) for _, tokens in rows)))
    size = min(_BATCHES[1], max(_BATCHES[0], len(rows) // _STEPS))
    steps = passes * -(-len(rows) // size)
    optimizer = torch.optim.Adam(network.parameters(), _RATE)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / _WARM_UP) * (0.51 + 0.49 * cos(pi * step / steps))
    )
    parts = {"network": network, "optimizer": optimizer, "rate": rate}
    of = sha256(repr([seed, network.settings, [tokens.tolist() for _, tokens in rows]]).encode()).hexdigest()
    done = _restore(_part(path), parts, of) if resume else 0
    weights = torch.ones(len(network.words))
    for word, number in network.numbers.items():
        if word[0] == "=" and len(word) > 1:
            weights[number] = _NUMBERS
    network.train()
    for number in range(done, passes):
        torch.manual_seed(seed * passes + number)
        for place, batch in enumerate(_batches(rows, size, Random(f"{seed} {number}"))):
            known = torch.stack([each for each, _ in batch])
            tokens = pad_sequence([each for _, each in batch], batch_first=True)
            unheard = (torch.rand(tokens.shape) < _UNHEARD) & (tokens >= len(MARKS))
            heard = tokens.masked_fill(unheard, network.numbers[UNKNOWN])
            scores, _ = network(known, heard[:, :-1])
            loss = nn.functional.cross_entropy(
                scores.flatten(0, 1), tokens[:, 1:].flatten(), weights, ignore_index=0
            )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            rate.step()
            progress((number + (place + 1) * size / len(rows)) / passes)
        data = BytesIO()
        torch.save(
            {"of": of, "done": number + 1, **{n: part.state_dict() for n, part in parts.items()}}, data
        )
        write_bytes(_part(path), data.getvalue())


def _batches(rows: Sequence[Row], size: int, rng: Random) -> Iterator[Sequence[Row]]:
    """Yield all rows in random order, in batches of similar length."""
    order = rng.sample(rows, len(rows))
    made = []
    for start in range(0, len(order), _SORTED * size):
        some = sorted(order[start : start + _SORTED * size], key=lambda row: len(row[1]))
        made += [some[place : place + size] for place in range(0, len(some), size)]
    rng.shuffle(made)
    yield from made


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _restore(part: Path, parts: dict[str, Any], of: str) -> int:
    """Restore the state of an interrupted training, and return the number of completed passes."""
    if not exists(part):
        raise InputError(f"there is no {part} to continue from: train without --resume")
    try:
        with file_errors(part):
            found = torch.load(part, weights_only=True)
        if found["of"] == of:
            for name, each in parts.items():
                each.load_state_dict(found[name])
            return int(found["done"])
    except (UnpicklingError, EOFError, RuntimeError, KeyError, TypeError, AttributeError):
        pass
    raise InputError(
        f"{part} is incomplete, or was made with different dialogues or a different seed: "
        "train without --resume"
    )
