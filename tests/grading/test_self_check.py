"""Golds against themselves: what fails, and what makes a gold a poor measure."""

from typing import Any

import pytest

from birdenv.databases import Limits
from birdenv.grading import check_gold

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def test_a_good_gold(source: Any) -> None:
    check = check_gold(source, "shop", "SELECT name, price FROM item ORDER BY id LIMIT 2")
    assert check.passed
    assert (check.rows, check.is_empty, check.reads_clock, check.has_changed, check.tie) == (
        2,
        False,
        False,
        False,
        "",
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sql", "failure"),
    [("SELECT nam FROM item", "missing"), (ENDLESS, "timeout"), ("DELETE FROM item", "denied")],
)
def test_golds_that_do_not_run(source: Any, sql: str, failure: str) -> None:
    check = check_gold(source, "shop", sql, Limits(seconds=0.1))
    assert not check.passed
    assert check.failures["gold"].startswith(failure)
    assert check.rows is None


def test_an_empty_gold_passes_and_is_marked(source: Any) -> None:
    for sql in ("SELECT 1 WHERE 0", "SELECT NULL"):
        check = check_gold(source, "shop", sql)
        assert (check.passed, check.is_empty) == (True, True)


def test_a_gold_that_changes_is_found_by_running_it_twice(source: Any) -> None:
    check = check_gold(source, "shop", "SELECT random() FROM item")
    assert check.reads_clock and check.has_changed
    assert {"multiset", "bird", "soft_f1"} <= set(check.failures)


def test_a_gold_that_reads_the_clock_is_found_by_its_text(source: Any) -> None:
    check = check_gold(source, "shop", "SELECT strftime('%Y', 'now') > '2000'")
    assert check.passed and check.reads_clock and not check.has_changed


CUT = {
    "keys not in the output": ("SELECT id FROM item ORDER BY name = 'pen' DESC LIMIT 1", True),
    "keys in the output": ("SELECT item_id, day FROM sale ORDER BY day DESC LIMIT 1", True),
    "key by its number": ("SELECT item_id, day FROM sale ORDER BY 2 DESC LIMIT 1", True),
    "key by its alias": ("SELECT item_id, day AS d FROM sale ORDER BY d DESC LIMIT 1", True),
    "aggregate": ("SELECT day FROM sale GROUP BY day ORDER BY count(*) DESC LIMIT 1", False),
    "aggregates level": ("SELECT name FROM item WHERE id < 3 GROUP BY name ORDER BY count(*) LIMIT 1", True),
    "another key breaks the tie": ("SELECT id FROM item ORDER BY name = 'pen' DESC, id LIMIT 1;", False),
    "level, but the same output": ("SELECT name FROM item ORDER BY name = 'pen' DESC LIMIT 1", False),
    "the whole tie is kept": ("SELECT id FROM item ORDER BY name = 'pen' DESC LIMIT 2", False),
    "an offset in a tie": ("SELECT id FROM item ORDER BY name = 'pen' DESC LIMIT 1 OFFSET 1", True),
    "an offset by comma": ("SELECT id FROM item ORDER BY name = 'pen' DESC LIMIT 1, 1", True),
    "no ORDER BY": ("SELECT id FROM item LIMIT 2", True),
    "no ORDER BY, all kept": ("SELECT id FROM item LIMIT 4", False),
    "a negative LIMIT": ("SELECT id FROM item LIMIT -1", False),
    "no LIMIT": ("SELECT id FROM item ORDER BY name", False),
    "LIMIT in a sub-query": ("SELECT (SELECT id FROM item ORDER BY name LIMIT 1)", False),
    "a set operation": ("SELECT 1 AS a, 2 AS b UNION SELECT 1, 3 ORDER BY a LIMIT 1", True),
    "DISTINCT": ("SELECT DISTINCT day FROM sale ORDER BY day LIMIT 1", False),
    "DISTINCT with another key cannot be told": (
        "SELECT DISTINCT item_id FROM sale ORDER BY day LIMIT 1",
        False,
    ),
    "behind WITH": (
        "WITH t AS (SELECT * FROM item) SELECT id FROM t ORDER BY name = 'pen' DESC LIMIT 1",
        True,
    ),
}


@pytest.mark.parametrize(("sql", "cut"), CUT.values(), ids=CUT.keys())
def test_limits_that_cut_a_tie(source: Any, sql: str, cut: bool) -> None:
    check = check_gold(source, "shop", sql)
    assert check.passed
    assert bool(check.tie) is cut, check.tie
    assert "\n" not in check.tie
