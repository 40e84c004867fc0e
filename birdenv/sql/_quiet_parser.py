"""Parsing the SQL of others with sqlglot, without its log.

This module is short because three rooms parse and none of them may import another.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_parser() -> Iterator[None]:
    """Keep sqlglot from logging each statement that it keeps unparsed; the log would quote gold SQL."""
    import logging  # here, because the process of test cases imports this room and needs no log

    logger = logging.getLogger("sqlglot")

    def drop(record: object) -> bool:
        return False

    logger.addFilter(drop)
    try:
        yield
    finally:
        logger.removeFilter(drop)
