"""A day in place of the clock: what is replaced, what stays to the letter, and what is refused."""

from __future__ import annotations

import re
from typing import Final

import pytest
from regex_attacks import attacks
from regex_steps import steps

from birdenv.sql import ClockError, at_date
from birdenv.sql._volatile import _LEFT, _RULES

DAY: Final = "2025-02-19"
TIMESTAMP: Final = f"CAST('{DAY}' AS timestamptz)"

REPLACED = {
    "sqlite": {
        "SELECT CURRENT_DATE, current_timestamp,Current_Time": f"SELECT '{DAY}', '{DAY} 00:00:00','00:00:00'",
        "SELECT date('now'), DATE ( 'NOW' , '-1 day' )": f"SELECT date('{DAY}'), DATE ( '{DAY}' , '-1 day' )",
        'SELECT date("now")': f"SELECT date('{DAY}')",
        "SELECT date(), datetime( )": f"SELECT date('{DAY}'), datetime( '{DAY}')",
        "SELECT julianday('now') - julianday(d)": f"SELECT julianday('{DAY}') - julianday(d)",
        "SELECT strftime('%Y')": f"SELECT strftime('%Y', '{DAY}')",
        "SELECT strftime('%Y','now')": f"SELECT strftime('%Y','{DAY}')",
        "SELECT strftime('%Y' || f(')', 1), 'now', 'x')": f"SELECT strftime('%Y' || f(')', 1), '{DAY}', 'x')",
        "SELECT date('now', '-' || strftime('%d', 'now') || ' days')": (
            f"SELECT date('{DAY}', '-' || strftime('%d', '{DAY}') || ' days')"
        ),
        "SELECT [date]('now'), `time`()": f"SELECT [date]('{DAY}'), `time`('{DAY}')",
        "SELECT date /* today */ ('now') -- 'now'": f"SELECT date /* today */ ('{DAY}') -- 'now'",
        "CREATE TABLE t (a DEFAULT CURRENT_TIMESTAMP)": f"CREATE TABLE t (a DEFAULT '{DAY} 00:00:00')",
        "SELECT 1; SELECT 'ä', unixepoch('now')": f"SELECT 1; SELECT 'ä', unixepoch('{DAY}')",
    },
    "postgres": {
        "SELECT CURRENT_DATE, now()": f"SELECT CAST('{DAY}' AS date), {TIMESTAMP}",
        "SELECT CURRENT_TIMESTAMP(3)::date": f"SELECT {TIMESTAMP}::date",
        "SELECT LOCALTIMESTAMP, LOCALTIME, CURRENT_TIME": (
            f"SELECT CAST('{DAY}' AS timestamp), CAST('00:00:00' AS time), CAST('00:00:00' AS timetz)"
        ),
        'SELECT clock_timestamp ( ), "now"()': f"SELECT {TIMESTAMP}, {TIMESTAMP}",
        "SELECT age(born), age(a, b), AGE(f(g(h(1), 2)))": (
            f"SELECT age('{DAY}', born), age(a, b), AGE('{DAY}', f(g(h(1), 2)))"
        ),
        "SELECT age(age(x))": f"SELECT age('{DAY}', age('{DAY}', x))",
        "SELECT 'now'::timestamp, date 'today', CAST('now' AS date)": (
            f"SELECT '{DAY}'::timestamp, date '{DAY}', CAST('{DAY}' AS date)"
        ),
        "SELECT timestamp with time zone 'now'": f"SELECT timestamp with time zone '{DAY}'",
        "INSERT INTO t VALUES ($$now$$, now())": f"INSERT INTO t VALUES ($$now$$, {TIMESTAMP})",
    },
}

KEPT = {
    "sqlite": [
        "SELECT date(d), datetime(d, 'start of month'), strftime('%Y', d) FROM t",
        "SELECT t.current_date, a AS current_time FROM t AS current_date",
        "SELECT 'date(''now'')', \"current_date\" -- date('now')",
        "SELECT random(), now FROM t WHERE date = '2024-01-01'",
        'SELECT d AS "now", time FROM t',
        "SELECT 1 /* CURRENT_DATE",
    ],
    "postgres": [
        "SELECT now, t.now, x AS current_date, random() FROM t",
        "SELECT 'today'::text, 'now' AS label, $$ it is now $$",
        "SELECT age(a, b), age(f(a, b), c), date_trunc('day', d), date(d)",
        "SELECT 1 -- now()\n/* CURRENT_DATE /* nested */ */",
    ],
}

REFUSED = {
    "sqlite": [
        "SELECT 'now'",
        "SELECT date(coalesce(d, 'now'))",
        "INSERT INTO t VALUES ('now')",
        "SELECT datetime('subsec')",
        "SELECT date('now",
    ],
    "postgres": [
        "SELECT * FROM t WHERE d < 'now'",
        "SELECT 'tomorrow'::date",
        "SELECT date 'yesterday'",
        "SELECT pg_catalog.now()",
        "SELECT timeofday()",
        "SELECT E'now'::date",
        "SELECT age(f(g(h(i(1)))))",
        "CREATE FUNCTION f() RETURNS date AS $$ SELECT now()::date $$ LANGUAGE sql",
        "CREATE FUNCTION f() RETURNS date AS 'SELECT now()::date' LANGUAGE sql",
        "SELECT now() /* never closed",
        "SELECT 'now' = $$",
    ],
}


def of_each(texts: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(dialect, sql) for dialect, some in texts.items() for sql in some]


@pytest.mark.parametrize(
    ("dialect", "sql", "dated"),
    [(dialect, sql, dated) for dialect, texts in REPLACED.items() for sql, dated in texts.items()],
)
def test_what_reads_the_clock_is_replaced(dialect: str, sql: str, dated: str) -> None:
    assert at_date(sql, DAY, dialect) == dated
    assert at_date(dated, DAY, dialect) == dated, "once is enough"


@pytest.mark.parametrize(("dialect", "sql"), of_each(KEPT))
def test_everything_else_stays_to_the_letter(dialect: str, sql: str) -> None:
    assert at_date(sql, DAY, dialect) == sql


@pytest.mark.parametrize(("dialect", "sql"), of_each(REFUSED))
def test_what_no_day_can_replace_is_refused(dialect: str, sql: str) -> None:
    with pytest.raises(ClockError):
        at_date(sql, DAY, dialect)


_LONG = {
    "sqlite": (" strftime ( ", " date ( ", "( ", ", "),
    "postgres": (" age ( ", "( ", ") ", " age ( f ( "),
}


@pytest.mark.slow
@pytest.mark.parametrize("dialect", _RULES)
def test_the_rules_take_time_in_proportion(dialect: str) -> None:
    """By counted work, on what they backtrack on."""
    for pattern in map(re.compile, (*_RULES[dialect], _LEFT[dialect])):
        hostile = [*attacks(pattern), *(("", piece, end) for piece in _LONG[dialect] for end in ("", ") x"))]
        for before, again, after in hostile:
            less, more = (steps(pattern, before + (again * n)[:n] + after) for n in (60, 120))
            assert more < 2.9 * less, (pattern.pattern, before, again, after, less, more)
