"""Cache the results of statements in memory.

A result is cached only if the statement took more than a millisecond and is repeatable: either the engine has
marked the result as `repeatable`, or the caller knows that the statement is repeatable.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass, replace
from itertools import chain
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from birdenv.databases._protocols import EpisodeDatabase
from birdenv.databases._results import QueryError, Result, Scope

MOST_BYTES: Final = 64 * 2**20
"""Maximum memory of one cache, including its keys."""

_LONG: Final = 0.001  # seconds; results of faster statements are not kept
_SHARE_OF_ONE: Final = 2  # one result takes at most half of the memory
_ENTRY_BYTES: Final = 400  # approximate overhead of an entry
_LEAVES: Final = frozenset({type(None), bool, int, float, str, bytes})

Method: TypeAlias = Literal["execute", "query", "script", "state"]
"""How the statement runs: as the agent's statement, as a plain query, as scripts whose last result counts,
or as scripts whose final database state counts."""


class Key(NamedTuple):
    """A cache key, which holds everything that determines a result.

    Attributes:
        scope: the engine's build, the database's contents, and the limits.
        method: how the statement runs (see `Method`).
        rows: the row limit of the caller, or None if only the limit in `scope` applies.
        statement: one SQL string, or a tuple of SQL strings in order.
    """

    scope: Scope
    method: Method
    rows: int | None
    statement: Hashable


class Lasting(Protocol):
    """A value that can be cached: the result of a statement, or a value derived from it."""

    @property
    def repeatable(self) -> bool:
        """Return whether the statement returns the same result whenever it runs on the same contents."""

    @property
    def elapsed(self) -> float:
        """Return how many seconds the statement took."""


_V = TypeVar("_V", bound=Lasting)


class ResultCache:
    """A thread-safe cache of results.

    Args:
        most_bytes: maximum memory for results and keys in bytes. The least recently used results are evicted
            first.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._results: OrderedDict[Key, tuple[Any, int]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Return the memory that the results and keys currently occupy, in bytes."""
        return self._size

    def execute(self, database: EpisodeDatabase, sql: str, rows: int | None = None) -> Result:
        """Return the result of `database.execute(sql, rows)`, taking it from the cache if possible.

        If the episode has changed the database, the statement always runs.
        """
        scope = database.scope
        if scope is None:
            return database.execute(sql, rows)
        return self.get(Key(scope, "execute", rows, sql), lambda: database.execute(sql, rows))

    def get(
        self,
        key: Key,
        run: Callable[[], _V],
        *,
        reuse: Callable[[_V], _V | None] | None = None,
        lasts: Callable[[], bool] | None = None,
        is_current: Callable[[], bool] | None = None,
    ) -> _V:
        """Return the cached value for a key, or call `run` and cache the value if it is repeatable.

        Args:
            key: everything that determines the value.
            run: a function that computes the value.
            reuse: a function that converts a cached value into the value that the caller needs, or returns
                None if that is impossible; `run` is then called.
            lasts: a function that returns whether the value is repeatable. It is called only if the engine
                has not marked the value as repeatable.
            is_current: a function that returns whether the key still describes the database. It is called
                after `run`; if it returns False, the value is not cached.
        """
        known: _V | None = self._find(key)
        if known is not None and reuse is not None:
            known = reuse(known)
        if known is not None:
            return known
        value = run()
        if (
            value.elapsed > _LONG
            and (value.repeatable or _asked(lasts, value))
            and (is_current is None or is_current())
        ):
            self._keep(key, value)
        return value

    def clear(self) -> None:
        """Remove all results from the cache."""
        with self._lock:
            self._results.clear()
            self._size = 0

    def _find(self, key: Key) -> Any | None:
        with self._lock:
            found = self._results.get(key)
            if found is not None:
                self._results.move_to_end(key)
        return None if found is None else _with_rows(found[0], list)

    def _keep(self, key: Key, value: Lasting) -> None:
        value = _with_rows(value, tuple)
        most = self.most_bytes // _SHARE_OF_ONE
        size = _ENTRY_BYTES + memory_of(key, most)
        size += memory_of(value, most - size)
        if size > most:
            return
        with self._lock:
            _, before = self._results.pop(key, (None, 0))
            self._results[key] = (value, size)
            self._size += size - before
            while self._size > self.most_bytes:
                _, (_, forgotten) = self._results.popitem(last=False)
                self._size -= forgotten

    def _after_fork(self) -> None:
        """Replace the lock, which a thread in the parent process may have held."""
        self._lock = threading.Lock()


def _asked(lasts: Callable[[], bool] | None, value: Lasting) -> bool:
    return lasts is not None and not isinstance(value, QueryError) and lasts()


def _with_rows(value: Any, kind: type[list[Any]] | type[tuple[Any, ...]]) -> Any:
    """Copy the rows of a value, so that the cache and its callers share no list."""
    return replace(value, rows=kind(value.rows)) if hasattr(value, "rows") else value


def memory_of(value: object, most: float = float("inf")) -> int:
    """Return the memory that a value and everything in it occupy, in bytes.

    An object that occurs twice is counted twice. Counting stops soon after the sum exceeds `most`.
    """
    total = sys.getsizeof(value)
    open_values = [value]
    while open_values and total <= most:
        item = open_values.pop()
        held: Any = ()
        if isinstance(item, dict):
            held = list(chain.from_iterable(item.items()))
        elif isinstance(item, list | tuple | set | frozenset):
            held = item
        elif is_dataclass(item):
            held = [getattr(item, part.name) for part in fields(item)]
        if len(held):
            total += sum(map(sys.getsizeof, held))
            open_values += [part for part in held if type(part) not in _LEAVES]
    return total


result_cache: Final = ResultCache()
"""The cache of this process."""

os.register_at_fork(after_in_child=result_cache._after_fork)
