"""Analyse SQL as text: split it into tokens and statements, and find uses of the clock and random numbers.

All other code analyses SQL with sqlglot's syntax trees. This package imports only the standard library,
because the process that runs test cases imports it. All functions run in linear time.
"""

from __future__ import annotations

from birdenv.sql._statements import (
    NO_QUERY,
    STICKING,
    after_comments,
    first_keyword,
    first_words,
    is_single_query,
    may_write,
    one_line,
    quiet_parser,
    split_script,
    split_statements,
    statement_end,
    statement_start,
)
from birdenv.sql._tokens import (
    LONGEST_SQL,
    Stretch,
    Token,
    UnterminatedError,
    folded,
    normalised,
    quoted,
    spelling,
    sql_tokens,
    stretches,
    tokens,
    unquoted,
)
from birdenv.sql._volatile import ClockError, at_date, may_change

__all__ = [
    "LONGEST_SQL",
    "NO_QUERY",
    "STICKING",
    "ClockError",
    "Stretch",
    "Token",
    "UnterminatedError",
    "after_comments",
    "at_date",
    "first_keyword",
    "first_words",
    "folded",
    "is_single_query",
    "may_change",
    "may_write",
    "normalised",
    "one_line",
    "quiet_parser",
    "quoted",
    "spelling",
    "split_script",
    "split_statements",
    "sql_tokens",
    "statement_end",
    "statement_start",
    "stretches",
    "tokens",
    "unquoted",
]
