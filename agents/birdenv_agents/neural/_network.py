"""The network, and the file that stores its weights, words and settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import torch
from pydantic import BaseModel, ConfigDict, Field
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from birdenv.cocoa.acts._tokens import MARKS, UNKNOWN
from birdenv.errors import InputError
from birdenv.files import file_errors, write_bytes

torch.set_num_threads(1)  # small networks are faster this way, and sums do not depend on the machine

_VERSION: Final = 1
_LONGEST_CONTEXT: Final = 64
_EMBEDDING: Final = 128
_KNOWN: Final = 64
_HIDDEN: Final = 256
"""Sizes of the vectors for a token, for the seat's knowledge, and for the state."""


class Settings(BaseModel):
    """The settings that a file stores alongside the weights.

    Attributes:
        version: the version of the file format, which fixes the sizes of the network.
        game: the game of the dialogues that the network was trained on.
        words: the tokens that the network knows, excluding `MARKS`. Their order determines their numbers.
        trained: facts about the training, such as the number of dialogues and the seeds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    game: str
    words: tuple[str, ...] = Field(max_length=100_000)
    trained: Mapping[str, Any] = Field(default_factory=dict)


class Past(NamedTuple):
    """The network's memory of a dialogue.

    Attributes:
        state: the last state of the recurrent layer.
        known: the encoding of the seat's knowledge.
        states: all states so far, to which the network attends.
        keys: the attention keys of `states`.
    """

    state: Tensor
    known: Tensor
    states: Tensor
    keys: Tensor


class Network(nn.Module):
    """A recurrent language model (GRU) with attention to its own states, given the seat's knowledge.

    Args:
        settings: the settings with the network's words.
        dropout: the dropout rate in training.

    Attributes:
        settings: the settings with the network's words.
        reader: the network that infers the agreed division of things from the dialogue; None if this network
            infers it. After reinforcement, the reader is the original network, so that the shares of both
            seats still fit together.
        words: all tokens, including `MARKS`.
        numbers: the number of each token, keyed by token.
    """

    def __init__(self, settings: Settings, dropout: float = 0.0) -> None:
        super().__init__()
        self.settings = settings
        self.reader: Network | None = None
        self.words = (*MARKS, *settings.words)
        self.numbers = {word: number for number, word in enumerate(self.words)}
        self.embedding = nn.Embedding(len(self.words), _EMBEDDING, padding_idx=0)
        self.place = nn.Embedding(_LONGEST_CONTEXT, _EMBEDDING)
        self.each = nn.Linear(_EMBEDDING, _KNOWN)
        self.all = nn.Linear(_KNOWN, _KNOWN)
        self.gru = nn.GRU(_EMBEDDING + _KNOWN, _HIDDEN, batch_first=True)
        self.query = nn.Linear(_HIDDEN, _KNOWN)
        self.key = nn.Linear(_HIDDEN, _KNOWN)
        self.mix = nn.Linear(2 * _HIDDEN + _KNOWN, _EMBEDDING)
        self.bias = nn.Parameter(torch.zeros(len(self.words)))
        self.dropout = nn.Dropout(dropout)
        nn.init.normal_(self.embedding.weight, std=0.1)

    def encode(self, tokens: Sequence[str]) -> Tensor:
        """Return the numbers of tokens. All unknown tokens have the same number."""
        unknown = self.numbers[UNKNOWN]
        return torch.tensor([self.numbers.get(token, unknown) for token in tokens])

    def encode_context(self, tokens: Sequence[str]) -> Tensor:
        """Return the token numbers for a seat's knowledge, padded with zeros to a fixed length."""
        found = self.encode(tokens[:_LONGEST_CONTEXT])
        return nn.functional.pad(found, (0, _LONGEST_CONTEXT - len(found)))

    def forward(self, context: Tensor, tokens: Tensor, past: Past | None = None) -> tuple[Tensor, Past]:
        """Return the logits of the next token after each token, and the memory to continue from.

        Args:
            context: the token numbers of the seat's knowledge, of shape (dialogues, context).
            tokens: the numbers of the tokens, of shape (dialogues, length).
            past: the memory of earlier tokens; None at the beginning of the dialogues.
        """
        size = tokens.shape[1]
        if past is None:
            each = torch.relu(self.each(self.embedding(context) + self.place.weight))
            known = torch.tanh(self.all((each * (context > 0)[..., None]).sum(1)))[:, None]
        else:
            known = past.known
        told = known.expand(-1, size, -1)
        inputs = torch.cat([self.dropout(self.embedding(tokens)), told], -1)
        states, state = self.gru(inputs, None if past is None else past.state)
        states = self.dropout(states)
        all_states, keys = states, self.key(states)
        if past is not None:
            all_states, keys = torch.cat([past.states, states], 1), torch.cat([past.keys, keys], 1)
        likeness = self.query(states) @ keys.transpose(1, 2) / _KNOWN**0.5
        later = torch.ones(size, all_states.shape[1], dtype=torch.bool).triu(1 + all_states.shape[1] - size)
        seen = likeness.masked_fill(later, -1e9).softmax(-1) @ all_states
        mixed = self.dropout(torch.tanh(self.mix(torch.cat([states, told, seen], -1))))
        return mixed @ self.embedding.weight.T + self.bias, Past(state, known, all_states, keys)


def write_network(path: Path, network: Network, **trained: Any) -> None:
    """Write a network to a safetensors file, with the facts about its training in `trained`."""
    settings = network.settings.model_copy(update={"trained": {**network.settings.trained, **trained}})
    weights = {name: tensor.contiguous() for name, tensor in network.state_dict().items()}
    write_bytes(path, save(weights, {"birdenv_neural": settings.model_dump_json()}))


def read_network(path: Path, game: str) -> Network:
    """Read a network for a game. Each process reads a file only once.

    Raises:
        InputError: the file does not contain a network, or its network is for a different game or from a
            newer version of birdenv.
    """
    stamp = path.stat().st_mtime_ns if path.is_file() else 0
    network = _read(path, stamp)
    if network.settings.game != game:
        raise InputError(f"{path} was trained for {network.settings.game}, not for {game}")
    return network


@lru_cache(maxsize=8)
def _read(path: Path, stamp: int) -> Network:
    try:
        with file_errors(path), safe_open(path, framework="pt") as file:
            told = json.loads(file.metadata()["birdenv_neural"])
            weights = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
        if isinstance(told["version"], int) and told["version"] > _VERSION:
            raise InputError(f"{path} was written by a newer version of birdenv: update birdenv")
        with torch.device("meta"):  # compare sizes before allocating memory
            network = Network(Settings.model_validate(told))
            if any(name.startswith("reader.") for name in weights):
                network.reader = Network(network.settings)
        network.load_state_dict(weights, assign=True)
        if not all(tensor.isfinite().all() for tensor in weights.values()):
            raise ValueError("a weight is not a finite number")
    except InputError:
        raise
    except (SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        why = str(error).split("\n", 1)[0]
        raise InputError(
            f"{path} is not a neural player ({why}): train one with birdenv train-player GAME --kind neural"
        ) from None
    return network.eval()
