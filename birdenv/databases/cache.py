"""One cache of results in memory.

A result is kept only where the engine itself calls the statement repeatable (`QueryResult.repeatable`), or
the caller knows that it is, and if it took more than a millisecond: a quick statement is executed again.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass, replace
from itertools import chain
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from birdenv.databases._protocols import EpisodeDatabase
from birdenv.databases._results import QueryError, Result, Scope

MOST_BYTES: Final = 64 * 2**20
"""Of memory that one cache takes, with its keys."""

_LONG: Final = 0.001  # seconds; what takes less is not kept
_SHARE_OF_ONE: Final = 2  # one result takes at most this part of the bytes
_ENTRY_BYTES: Final = 400  # of a place in the table and in the order of use, about
_LEAVES: Final = frozenset({type(None), bool, int, float, str, bytes})

Method: TypeAlias = Literal["execute", "query", "script", "state"]
"""How the statement runs: as the agent's own, as a plain query, as scripts that end with a result, or as
scripts of which the state is taken that they leave."""


class Key(NamedTuple):
    """Everything that a result depends on.

    Attributes:
        scope: the engine's build, the database's contents, and the limits.
        method: how the statement runs.
        rows: the caller's own row limit; None for that of the limits.
        statement: the SQL, or several texts in their order.
    """

    scope: Scope
    method: Method
    rows: int | None
    statement: Hashable


class Lasting(Protocol):
    """A value that can be kept."""

    @property
    def repeatable(self) -> bool:
        """Return whether the statement gives the same result whenever it runs on the same contents."""

    @property
    def elapsed(self) -> float:
        """Return the seconds that it took to get the value."""


_V = TypeVar("_V", bound=Lasting)


class ResultCache:
    """Results by everything that they depend on. May be used by several threads.

    Args:
        most_bytes: memory that the results take together with their keys, as Python counts it. The least
            recently used go first.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._results: OrderedDict[Key, tuple[Any, int]] = OrderedDict()
        self._statements: Counter[Hashable] = Counter()  # of the keys
        self._size = 0
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Return the number of bytes that results and keys occupy now."""
        return self._size

    def execute(self, database: EpisodeDatabase, sql: str, rows: int | None = None) -> Result:
        """Return what `database.execute(sql, rows)` gives, from memory where it is known.

        A database with changes of its own is always asked.
        """
        if sql not in self._statements:  # most: a text of its own, and quick
            value = database.execute(sql, rows)
            if value.elapsed > _LONG and value.repeatable and (scope := database.scope) is not None:
                self._keep(Key(scope, "execute", rows, sql), value)
            return value
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
        """Return the value of a key, from `run()` if it is not known.

        Args:
            key: what the value depends on.
            run: gets the value.
            reuse: makes what is needed now of a known value; None where that does not suffice.
            lasts: tells whether the value lasts although the engine does not say so.
            is_current: asked after `run` whether the database is still the one of the key.
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
        """Forget everything."""
        with self._lock:
            self._results.clear()
            self._statements.clear()
            self._size = 0

    def _find(self, key: Key) -> Any | None:
        if key.statement not in self._statements:
            return None
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
            self._statements[key.statement] += not before
            self._size += size - before
            while self._size > self.most_bytes:
                old, (_, forgotten) = self._results.popitem(last=False)
                self._size -= forgotten
                self._statements[old.statement] -= 1
                if not self._statements[old.statement]:
                    del self._statements[old.statement]

    def _after_fork(self) -> None:
        """A thread of the parent may have held a lock."""
        self._lock = threading.Lock()


def _asked(lasts: Callable[[], bool] | None, value: Lasting) -> bool:
    return lasts is not None and not isinstance(value, QueryError) and lasts()


def _with_rows(value: Any, kind: type[list[Any]] | type[tuple[Any, ...]]) -> Any:
    """Return the value with a copy of its rows, if it has any: what is kept, and what was given, share
    none.
    """
    return replace(value, rows=kind(value.rows)) if hasattr(value, "rows") else value


def memory_of(value: object, most: float = float("inf")) -> int:
    """Count the bytes that Python takes for a value and everything in it.

    Equal objects in two places count twice. Counting ends soon after `most` is exceeded.
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
"""The one of this process."""

os.register_at_fork(after_in_child=result_cache._after_fork)
