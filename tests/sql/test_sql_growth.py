"""Every pass over SQL text takes time in proportion to it, whoever wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import pytest
from growth import FEW, HOSTILE, MANY, slow_pieces

from birdenv.sql import (
    LONGEST_SQL,
    after_comments,
    at_date,
    first_keyword,
    first_words,
    is_single_query,
    may_change,
    may_write,
    normalised,
    one_line,
    split_script,
    split_statements,
    sql_tokens,
    statement_end,
    stretches,
    tokens,
)


def attempt(work: Callable[[], object]) -> object:
    try:
        return work()
    except ValueError:
        return None


def all_of(work: Callable[[str], Iterable[object]]) -> Callable[[str], object]:
    return lambda text: list(work(text))


WORK: dict[str, Callable[[str], object]] = {
    "tokens": all_of(tokens),
    "stretches": all_of(stretches),
    "sqlite tokens": lambda text: attempt(lambda: sql_tokens(text, "sqlite")),
    "postgres tokens": lambda text: attempt(lambda: sql_tokens(text, "postgres")),
    "normalised": normalised,
    "split_statements": split_statements,
    "split_script": split_script,
    "statement_end": lambda text: attempt(lambda: statement_end(text, 0)),
    "after_comments": lambda text: attempt(lambda: after_comments(text)),
    "first_keyword": first_keyword,
    "first_words": first_words,
    "may_write": may_write,
    "may_change": may_change,
    "is_single_query, sqlite": lambda text: is_single_query(text, "sqlite"),
    "is_single_query, postgres": lambda text: is_single_query(text, "postgres"),
    "at_date, sqlite": lambda text: attempt(lambda: at_date(f"now {text}", "2025-02-19", "sqlite")),
    "at_date, postgres": lambda text: attempt(lambda: at_date(f"now {text}", "2025-02-19", "postgres")),
    "one_line, sqlite": lambda text: one_line(text + "\n", "sqlite"),
    "one_line, postgres": lambda text: one_line(text + "\n", "postgres"),
}


@pytest.mark.every(2)
@pytest.mark.parametrize("work", WORK.values(), ids=WORK.keys())
def test_time_grows_with_the_text(work: Callable[[str], object]) -> None:
    assert slow_pieces(work, FEW, HOSTILE[::3]) == []


@pytest.mark.slow
@pytest.mark.parametrize("work", WORK.values(), ids=WORK.keys())
def test_time_grows_with_a_long_text(work: Callable[[str], object]) -> None:
    assert slow_pieces(work, MANY) == []


@pytest.mark.slow
def test_a_quadratic_pass_is_seen() -> None:
    quadratic = re.compile(r"/\*.*?\*/", re.DOTALL)
    assert slow_pieces(str.upper, FEW, ["/* "]) == []
    assert len(slow_pieces(quadratic.findall, FEW, ["/* "])) == 2


def test_text_that_no_database_runs_is_not_looked_into() -> None:
    text = "SELECT 1 " + " " * LONGEST_SQL
    assert may_change(text)
    for dialect in ("sqlite", "postgres"):
        with pytest.raises(ValueError, match="longer than 1000000 characters"):
            sql_tokens(text, dialect)
