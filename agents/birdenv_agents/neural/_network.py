"""The network, and the file that holds its weights, its words and its settings."""

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

torch.set_num_threads(1)  # small networks are faster so, and sums are the same on every machine

_VERSION: Final = 1
_LONGEST_CONTEXT: Final = 64
_EMBEDDING: Final = 128
_KNOWN: Final = 64
_HIDDEN: Final = 256
"""Sizes of a token's vector, of that of the seat's knowledge, and of the state."""


class Settings(BaseModel):
    """What a file says beside the weights.

    Attributes:
        version: of the file's format, and with it of the network's sizes.
        game: the game whose dialogues were learned from.
        words: the tokens that were learned, in the order of their numbers, after the marks.
        trained: on what, and how long.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    game: str
    words: tuple[str, ...] = Field(max_length=100_000)
    trained: Mapping[str, Any] = Field(default_factory=dict)


class Past(NamedTuple):
    """What the network keeps of the tokens so far: the state, and all states, to look back at."""

    state: Tensor
    states: Tensor


class Network(nn.Module):
    """A recurrent language model (GRU) that looks back at its own states, and knows what the seat knows.

    Args:
        settings: its words.
        dropout: share of the inputs that are left out in training.
    """

    def __init__(self, settings: Settings, dropout: float = 0.0) -> None:
        super().__init__()
        self.settings = settings
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
        """Return the numbers of tokens; words that were not learned are all the same."""
        unknown = self.numbers[UNKNOWN]
        return torch.tensor([self.numbers.get(token, unknown) for token in tokens])

    def encode_context(self, tokens: Sequence[str]) -> Tensor:
        """Return the numbers of a seat's context, with zeros after it."""
        found = self.encode(tokens[:_LONGEST_CONTEXT])
        return nn.functional.pad(found, (0, _LONGEST_CONTEXT - len(found)))

    def forward(self, context: Tensor, tokens: Tensor, past: Past | None = None) -> tuple[Tensor, Past]:
        """Return the scores of the next token after each token, and what to go on from.

        Args:
            context: numbers of what the seat knows, of shape (dialogues, context).
            tokens: numbers of tokens, of shape (dialogues, length).
            past: what came before.
        """
        size = tokens.shape[1]
        each = torch.relu(self.each(self.embedding(context) + self.place.weight))
        known = torch.tanh(self.all((each * (context > 0)[..., None]).sum(1)))[:, None].expand(-1, size, -1)
        inputs = torch.cat([self.dropout(self.embedding(tokens)), known], -1)
        states, state = self.gru(inputs, None if past is None else past.state)
        states = self.dropout(states)
        all_states = states if past is None else torch.cat([past.states, states], 1)
        likeness = self.query(states) @ self.key(all_states).transpose(1, 2) / _KNOWN**0.5
        later = torch.ones(size, all_states.shape[1], dtype=torch.bool).triu(1 + all_states.shape[1] - size)
        seen = likeness.masked_fill(later, -1e9).softmax(-1) @ all_states
        mixed = self.dropout(torch.tanh(self.mix(torch.cat([states, known, seen], -1))))
        return mixed @ self.embedding.weight.T + self.bias, Past(state, all_states)


def write_network(path: Path, network: Network, **trained: Any) -> None:
    """Write a network as one safetensors file."""
    settings = network.settings.model_copy(update={"trained": {**network.settings.trained, **trained}})
    weights = {name: tensor.contiguous() for name, tensor in network.state_dict().items()}
    write_bytes(path, save(weights, {"birdenv_neural": settings.model_dump_json()}))


def read_network(path: Path, game: str) -> Network:
    """Read the network of a game. The same file is read once in a process.

    Raises:
        InputError: the file holds none, or one of another game or of a newer version.
    """
    stamp = path.stat().st_mtime_ns if path.is_file() else 0
    network = _read(path, stamp)
    if network.settings.game != game:
        raise InputError(f"{path} was trained for {network.settings.game}, and this is {game}")
    return network


@lru_cache(maxsize=8)
def _read(path: Path, stamp: int) -> Network:
    try:
        with file_errors(path), safe_open(path, framework="pt") as file:
            told = json.loads(file.metadata()["birdenv_neural"])
            weights = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
        if isinstance(told["version"], int) and told["version"] > _VERSION:
            raise InputError(f"{path} was written by a newer version of birdenv: update birdenv")
        with torch.device("meta"):  # sizes are compared before there is room for them
            network = Network(Settings.model_validate(told))
        network.load_state_dict(weights, assign=True)
        if not all(tensor.isfinite().all() for tensor in weights.values()):
            raise ValueError("a weight is not a finite number")
    except InputError:
        raise
    except (SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        why = str(error).split("\n", 1)[0]
        raise InputError(
            f"{path} is not a neural player ({why}): make one with birdenv train-player GAME --kind neural"
        ) from None
    return network.eval()
