"""Does the benchmark's own SQL read the clock or random numbers?

Where the engine does not say whether a statement is repeatable, this is asked of golds. It is never asked of
predictions: SQL can hide what it reads.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_CLOCK: Final = re.compile(
    r"""
    ['"](?:now|today|tomorrow|yesterday|subsec|subsecond)['"]
  | \b(?:current_(?:date|time|timestamp)|localtime|localtimestamp)\b
  | \b(?:now|random|randomblob|gen_random_uuid|uuid_generate_v[14]|clock_timestamp|statement_timestamp
      |transaction_timestamp|timeofday|getdate|curdate|curtime|sysdate)["\]`]?\s*\(
  | \b(?:date|time|datetime|julianday|unixepoch)["\]`]?\s*\(\s*\)
  | \bstrftime["\]`]?\s*\(\s*(?:'[^']*'|"[^"]*")\s*\)
  | \bage\s*\([^,()]*(?:\([^()]*\)[^,()]*)*\)
  | \btablesample\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CLOCK_WORDS: Final = tuple(  # one of them stands in whatever `_CLOCK` finds
    "now today tomorrow yesterday subsec current_ localtime random uuid timestamp timeofday getdate curdate"
    " curtime sysdate date time julianday unixepoch age tablesample".split()
)
_COMMENT: Final = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|(--[^\n]*|/\*.*?\*/)", re.DOTALL)


@lru_cache(maxsize=4096)
def reads_clock(sql: str) -> bool:
    """Tell whether the result may change from one run to the next, by the text and on the safe side.

    `'now'` counts wherever it stands. The answers are remembered: ask about the benchmark's own SQL only.
    """
    lowered = sql.lower()
    if not any(word in lowered for word in _CLOCK_WORDS):
        return False
    return _CLOCK.search(_COMMENT.sub(lambda m: " " if m[1] else m[0], sql)) is not None
