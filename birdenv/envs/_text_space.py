"""A space of Unicode strings that supports shared memory.

Gymnasium's `AsyncVectorEnv` reads the observations from shared memory once, and returns deep copies of them
after each step. Arrays are views of the shared memory, so copies of arrays are up to date, but strings from
Gymnasium's own `Text` space never change. The space in this module therefore returns `SharedTexts`, a view of
the shared memory whose deep copy is a tuple of the current strings.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Space, Tuple
from gymnasium.spaces.utils import flatdim, flatten, flatten_space, is_space_dtype_shape_equiv, unflatten
from gymnasium.vector.utils import (
    batch_differing_spaces,
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)
from gymnasium.wrappers.utils import create_zero_array

T = TypeVar("T")
SHARED_BYTES = 2**20
"""The maximum size in bytes of a string in shared memory, for each environment."""

_LENGTH_BYTES = 8
_LONGEST_CHARACTER = 4  # bytes in UTF-8


class SpaceAsText(Space[T], Generic[T]):
    """A space whose members can be encoded as text of at most `max_length` characters.

    A subclass defines `contains`, `sample`, `encode` and `decode`.
    """

    def __init__(
        self, max_length: int, *, dtype: npt.DTypeLike = object, seed: int | np.random.Generator | None = None
    ) -> None:
        if max_length < 0:
            raise ValueError(f"max_length must not be negative, got {max_length}")
        self.max_length = int(max_length)
        super().__init__(shape=None, dtype=dtype, seed=seed)

    def __init_subclass__(cls) -> None:
        batch_differing_spaces.register(cls)(_batch_differing)  # Gymnasium looks up the exact class

    def encode(self, value: T) -> str:
        """Convert a member of the space to text."""
        raise NotImplementedError

    def decode(self, text: str) -> T:
        """Convert text from `encode` back to the member of the space."""
        raise NotImplementedError

    @property
    def is_np_flattenable(self) -> bool:
        return False

    @property
    def shared_bytes(self) -> int:
        """Return the maximum number of bytes that a member takes up in shared memory."""
        return min(_LONGEST_CHARACTER * self.max_length, SHARED_BYTES)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.max_length == self.max_length

    def __repr__(self) -> str:
        return f"{type(self).__name__}(max_length={self.max_length})"


class SharedTexts(Sequence[T]):
    """A view of all environments' strings in shared memory. A deep copy is a tuple of strings."""

    def __init__(self, space: SpaceAsText[T], rows: npt.NDArray[np.uint8]) -> None:
        self._space = space
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...

    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        row = self._rows[index]
        length = int.from_bytes(row[:_LENGTH_BYTES].tobytes(), "little")
        if not length:
            return self._space.decode("")
        written = row[_LENGTH_BYTES : _LENGTH_BYTES + length].tobytes()
        return self._space.decode(written.decode("utf-8", "surrogatepass"))

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[T, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return repr(tuple(self))


def _batch_differing(spaces: Sequence[SpaceAsText[Any]]) -> Any:
    return Tuple(list(spaces))


def _rows(space: SpaceAsText[Any], shared_memory: Any) -> npt.NDArray[np.uint8]:
    flat: npt.NDArray[np.uint8] = np.frombuffer(shared_memory.get_obj(), dtype=np.uint8)
    return flat.reshape(-1, _LENGTH_BYTES + space.shared_bytes)


@create_shared_memory.register(SpaceAsText)
def _create(space: SpaceAsText[Any], n: int = 1, ctx: Any = multiprocessing) -> Any:
    return ctx.Array("B", n * (_LENGTH_BYTES + space.shared_bytes))


@read_from_shared_memory.register(SpaceAsText)
def _read(space: SpaceAsText[T], shared_memory: Any, n: int = 1) -> SharedTexts[T]:
    return SharedTexts(space, _rows(space, shared_memory))


@write_to_shared_memory.register(SpaceAsText)
def _write(space: SpaceAsText[T], index: int, value: T, shared_memory: Any) -> None:
    written = space.encode(value).encode("utf-8", "surrogatepass")
    if len(written) > space.shared_bytes:
        raise ValueError(
            f"a string of {len(written)} bytes does not fit into the {space.shared_bytes} bytes of shared"
            " memory that AsyncVectorEnv reserves; make the vector environment with shared_memory=False"
        )
    row = _rows(space, shared_memory)[index]
    end = _LENGTH_BYTES + len(written)
    row[:end] = np.frombuffer(len(written).to_bytes(_LENGTH_BYTES, "little") + written, dtype=np.uint8)


@is_space_dtype_shape_equiv.register(SpaceAsText)
def _equivalent(space_1: SpaceAsText[Any], space_2: Space[Any]) -> bool:
    return space_1 == space_2


@flatdim.register(SpaceAsText)
def _flatdim(space: SpaceAsText[Any]) -> int:
    raise ValueError(
        f"{space} cannot be flattened, because text is not a vector: compute numeric features first"
    )


@flatten_space.register(SpaceAsText)
def _flatten_space(space: SpaceAsText[T]) -> SpaceAsText[T]:
    return (
        space  # unchanged, as Gymnasium's graphs and sequences are; only the arrays around it are flattened
    )


@flatten.register(SpaceAsText)
def _flatten(space: SpaceAsText[T], x: T) -> T:
    return x


@unflatten.register(SpaceAsText)
def _unflatten(space: SpaceAsText[T], x: T) -> T:
    return x


@create_zero_array.register(SpaceAsText)
def _zero(space: SpaceAsText[T]) -> T:
    """Return the empty member, with which Gymnasium pads a stack of frames at the start."""
    return space.decode("")


_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ",
    " \n\t'\"`;,.()*=<>|\\/-_%?!",
    "äöüßéèçñøåłžşőÆŒ€",
    "αβγδεζηθλμπσφωАБВГДежзийкл",
    "אבגדהوزحطيكل",
    "कखगघठड\u0301\u0308\u200d",
    "查询数据库列日本語のテキスト한국어",
    "😀🐦📊𝔸𝛑\U00010348",
)
_LONGEST_SAMPLE = 32


class UnicodeText(SpaceAsText[str]):
    """The space of all strings of at most `max_length` Unicode characters.

    Gymnasium's `Text` allows only the characters in a given alphabet, but database results can contain any
    character. Samples are short (up to 32 characters). They mix several scripts, punctuation and line breaks,
    and contain no surrogates.

    >>> space = UnicodeText(max_length=1000)
    >>> "Größe\\n查询" in space, "x" * 1001 in space, b"bytes" in space
    (True, False, False)
    """

    def __init__(self, max_length: int, *, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, dtype=str, seed=seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: None = None, probability: None = None) -> str:
        """Return a random short string. Masks and probabilities are not supported."""
        if mask is not None or probability is not None:
            raise ValueError("UnicodeText supports neither a mask nor a probability")
        rng = self.np_random
        length = int(rng.integers(0, min(self.max_length, _LONGEST_SAMPLE) + 1))
        alphabets = [_ALPHABETS[i] for i in rng.integers(0, len(_ALPHABETS), size=length)]
        return "".join(alphabet[int(rng.integers(0, len(alphabet)))] for alphabet in alphabets)

    def encode(self, value: str) -> str:
        return value

    def decode(self, text: str) -> str:
        return text

    def to_jsonable(self, sample_n: Iterable[str]) -> list[str]:
        return list(sample_n)

    def from_jsonable(self, sample_n: list[str]) -> list[str]:
        return list(sample_n)
