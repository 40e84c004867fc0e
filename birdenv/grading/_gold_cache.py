"""What golds return, each worked out once on its own pristine copy and remembered."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import lru_cache
from typing import Final, Generic, TypeVar

from birdenv.databases import QueryError, QueryResult, Result
from birdenv.sql import may_change

_MOST_REMEMBERED: Final = 1_024  # results or states
_MOST_ROWS: Final = 100_000  # what has more is worked out again each time
_MOST_ROWS_IN_ALL: Final = 2_000_000
_T = TypeVar("_T")


@lru_cache(maxsize=4096)
def reads_clock(sql: str) -> bool:
    """Whether the result may change from one run to the next: the SQL reads the clock or random numbers.

    Judged by the text, on the safe side: `'now'` counts wherever it stands. The answers are remembered: ask
    about the benchmark's own SQL, not about predictions.
    """
    return may_change(sql)


def whole(result: Result) -> Result:
    """The result, its rows frozen; a `too_large` error where it was cut: part of a gold grades nothing."""
    if isinstance(result, QueryResult) and result.truncated:
        return QueryError("too_large", f"more than {len(result.rows)} rows", result.elapsed)
    return replace(result, rows=tuple(result.rows)) if isinstance(result, QueryResult) else result


class GoldCache(Generic[_T]):
    """What golds give by key, for several threads: the same key is worked out once, others in parallel.

    `size_of` tells how large a value is (its rows, by default), None if it must not be remembered: errors are
    not (a timeout may be the machine's), nor is what is larger than `most_of_one`. The least used go first
    where all together are larger than `most_in_all`.
    """

    def __init__(
        self,
        size_of: Callable[[_T], int | None],
        most_of_one: float = _MOST_ROWS,
        most_in_all: int = _MOST_ROWS_IN_ALL,
    ) -> None:
        self._size_of = size_of
        self._most_of_one = most_of_one
        self._most_in_all = most_in_all
        self._values: OrderedDict[Hashable, tuple[_T, int]] = OrderedDict()
        self._size = 0
        self._locks: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, work_out: Callable[[], _T]) -> _T:
        """The remembered value of this key, or that of `work_out()`, which is then remembered."""
        with self._lock:
            known = self._values.get(key)
            if known is not None:
                self._values.move_to_end(key)
                return known[0]
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            with self._lock:
                if key in self._values:
                    return self._values[key][0]
            value = work_out()
            self._remember(key, value)
            return value

    def _remember(self, key: Hashable, value: _T) -> None:
        size = self._size_of(value)
        with self._lock:
            self._locks.pop(key, None)
            if size is None or size > self._most_of_one or key in self._values:
                return
            self._values[key] = (value, size)
            self._size += size
            while len(self._values) > _MOST_REMEMBERED or self._size > self._most_in_all:
                if len(self._values) == 1:
                    break  # the latest is kept: it is in use, and may be asked for again at once
                _, (_, forgotten) = self._values.popitem(last=False)
                self._size -= forgotten


def rows_of_result(result: Result) -> int | None:
    """How many rows a result has; None for an error."""
    return len(result.rows) if isinstance(result, QueryResult) else None
