"""Whether SQL reads the clock or random numbers, judged by its text.

On the safe side: `'now'` counts wherever it stands, but in a comment.
"""

from __future__ import annotations

import re
from typing import Final

from birdenv.sql._tokens import LONGEST_SQL, stretches

_READS: Final = re.compile(
    r"""
    ['"](?:now|today|tomorrow|yesterday|subsec|subsecond)['"]
  | \b(?:current_(?:date|time|timestamp)|localtime|localtimestamp)\b
  | \b(?:now|random|randomblob|gen_random_uuid|uuid_generate_v[14]|clock_timestamp|statement_timestamp
      |transaction_timestamp|timeofday|getdate|curdate|curtime|sysdate)["\]`]?\s*+\(
  | \b(?:date|time|datetime|julianday|unixepoch)["\]`]?\s*+\(\s*+\)
  | \bstrftime["\]`]?\s*+\(\s*+(?:'[^']*+'|"[^"]*+")\s*+\)
  | \bage\s*+\([^,()]*+(?:\([^()]*+\)[^,()]*+)*+\)
  | \btablesample\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
WORDS: Final = tuple(  # one of them stands in whatever `_READS` finds
    "now today tomorrow yesterday subsec current_ localtime random uuid timestamp timeofday getdate curdate"
    " curtime sysdate date time julianday unixepoch age tablesample".split()
)


def may_change(sql: str) -> bool:
    """Tell whether SQL may give another result the next time: it reads the clock or random numbers.

    Text longer than `LONGEST_SQL`, which no database runs, may.
    """
    if len(sql) > LONGEST_SQL:
        return True
    lowered = sql.lower()
    if not any(word in lowered for word in WORDS):
        return False
    if "--" in sql or "/*" in sql:
        sql = "".join(
            " " if part.kind == "comment" and part.is_closed else part.text for part in stretches(sql)
        )
    return _READS.search(sql) is not None
