"""The network, and the file that holds its weights, its words and its settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from birdenv.errors import InputError
from birdenv.files import file_errors, write_bytes
from birdenv_agents.neural._tokens import MARKS, UNKNOWN

_VERSION: Final = 1
_LONGEST_CONTEXT: Final = 64
_SIZE = Annotated[int, Field(gt=0, le=2048)]


class Settings(BaseModel):
    """What a file says beside the weights.

    Attributes:
        version: of the file's format.
        game: the game whose dialogues were learned from.
        words: the tokens, in the order of their numbers.
        embedding, known, hidden: sizes of a word's vector, of that of the seat's knowledge, and of the state.
        trained: on what, and how long.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    game: str
    words: tuple[str, ...] = Field(min_length=len(MARKS) + 1, max_length=100_000)
    embedding: _SIZE = 128
    known: _SIZE = 64
    hidden: _SIZE = 256
    trained: Mapping[str, Any] = Field(default_factory=dict)

    @field_validator("words")
    @classmethod
    def _begin_with_marks(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        if words[: len(MARKS)] != MARKS or len(set(words)) < len(words):
            raise ValueError("the words are no list of tokens")
        return words


class Past(NamedTuple):
    """What the network keeps of the tokens so far: the state, and all states, to look back at."""

    state: Tensor
    states: Tensor


class Network(nn.Module):
    """A recurrent language model (GRU) that looks back at its own states, and knows what the seat knows.

    Args:
        settings: sizes and words.
        dropout: share of the inputs that are left out in training.
    """

    def __init__(self, settings: Settings, dropout: float = 0.0) -> None:
        super().__init__()
        self.settings = settings
        self.numbers = {word: number for number, word in enumerate(settings.words)}
        embedding, known, hidden = settings.embedding, settings.known, settings.hidden
        self.embedding = nn.Embedding(len(settings.words), embedding, padding_idx=0)
        self.place = nn.Embedding(_LONGEST_CONTEXT, embedding)
        self.each = nn.Linear(embedding, known)
        self.all = nn.Linear(known, known)
        self.gru = nn.GRU(embedding + known, hidden, batch_first=True)
        self.query = nn.Linear(hidden, known)
        self.key = nn.Linear(hidden, known)
        self.mix = nn.Linear(2 * hidden + known, embedding)
        self.bias = nn.Parameter(torch.zeros(len(settings.words)))
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
        likeness = self.query(states) @ self.key(all_states).transpose(1, 2) / self.settings.known**0.5
        later = torch.ones(size, all_states.shape[1], dtype=torch.bool).triu(1 + all_states.shape[1] - size)
        seen = likeness.masked_fill(later, -1e9).softmax(-1) @ all_states
        mixed = self.dropout(torch.tanh(self.mix(torch.cat([states, known, seen], -1))))
        return mixed @ self.embedding.weight.T + self.bias, Past(state, all_states)


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute in one thread: small networks are faster so, and sums come out the same on every machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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
    no_player = f"{path} is no neural player: make one with birdenv train-player GAME --kind neural"
    try:
        with file_errors(path), safe_open(path, framework="pt") as file:
            told = (file.metadata() or {}).get("birdenv_neural")
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    except SafetensorError as error:
        raise InputError(f"{no_player} ({error})") from None
    if told is None:
        raise InputError(no_player)
    try:
        version = json.loads(told)["version"]
        if isinstance(version, int) and version > _VERSION:
            raise InputError(f"{path} was written by a newer version of birdenv: update birdenv")
        with torch.device("meta"):  # sizes are compared before there is room for them
            network = Network(Settings.model_validate_json(told))
        network.load_state_dict({name: each.float() for name, each in weights.items()}, assign=True)
    except (ValueError, KeyError, TypeError, RuntimeError, ValidationError) as error:
        raise InputError(f"{no_player} ({str(error).splitlines()[0]})") from None
    if not all(tensor.isfinite().all() for tensor in weights.values()):
        raise InputError(f"{no_player} (a weight is no finite number)")
    return network.eval()
