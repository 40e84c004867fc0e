"""What golds return, each worked out once on its own pristine copy and remembered."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Final

from birdenv.databases import QueryError, QueryResult, Result

__all__ = ["GoldCache", "reads_clock", "whole"]

_MOST_REMEMBERED: Final = 1_024  # results
_MOST_ROWS: Final = 100_000  # a longer result is worked out again each time

_CLOCK: Final = re.compile(
    r"""
    ['"](?:now|today|tomorrow|yesterday|subsec|subsecond)['"]
  | \b(?:current_(?:date|time|timestamp)|localtime|localtimestamp)\b
  | \b(?:now|random|randomblob|gen_random_uuid|uuid_generate_v[14]|clock_timestamp|statement_timestamp
      |transaction_timestamp|timeofday|getdate|curdate|curtime|sysdate)\s*\(
  | \b(?:date|time|datetime|julianday|unixepoch)\s*\(\s*\)
  | \bstrftime\s*\(\s*(?:'[^']*'|"[^"]*")\s*\)
  | \bage\s*\([^,()]*(?:\([^()]*\)[^,()]*)*\)
  | \btablesample\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_COMMENT: Final = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|(--[^\n]*|/\*.*?\*/)", re.DOTALL)


def reads_clock(sql: str) -> bool:
    """Whether the result may change from one run to the next: the SQL reads the clock or random numbers.

    Judged by the text, on the safe side: `'now'` counts wherever it stands.
    """
    return _CLOCK.search(_COMMENT.sub(lambda m: " " if m[1] else m[0], sql)) is not None


def whole(result: Result) -> Result:
    """The result, or a `too_large` error where it was cut at the row limit: part of a gold grades nothing."""
    if isinstance(result, QueryResult) and result.truncated:
        return QueryError("too_large", f"more than {len(result.rows)} rows", result.elapsed)
    return result


class GoldCache:
    """Results by key, for several threads: the same key is worked out once, others in parallel.

    Errors are not remembered (a timeout may be the machine's), nor very long results.
    """

    def __init__(self) -> None:
        self._results: OrderedDict[Hashable, QueryResult] = OrderedDict()
        self._locks: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, work_out: Callable[[], Result]) -> Result:
        """The remembered result of this key, or that of `work_out()`, which is then remembered."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key]
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            with self._lock:
                if key in self._results:
                    return self._results[key]
            result = work_out()
            self._remember(key, result)
            return result

    def _remember(self, key: Hashable, result: Result) -> None:
        with self._lock:
            self._locks.pop(key, None)
            if isinstance(result, QueryResult) and len(result.rows) <= _MOST_ROWS:
                self._results[key] = replace(result, rows=tuple(result.rows))
                while len(self._results) > _MOST_REMEMBERED:
                    self._results.popitem(last=False)
