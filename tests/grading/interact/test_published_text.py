"""What the published evaluators cut out of SQL (BIRD-Interact §4.2), edge cases and all."""

import time

import pytest

from birdenv.grading.compare._sql_cuts import (
    reference_text,
    without_comments,
    without_distinct,
    without_round,
)

COMMENTS = {
    "block": ("SELECT /* a */ 1", "SELECT  1"),
    "block across lines": ("SELECT /* a\nb */ 1", "SELECT  1"),
    "not greedy": ("/* a */ SELECT 1 /* b */", "SELECT 1"),
    "block that never closes": ("SELECT 1 /* a", "SELECT 1 /* a"),
    "/*/ does not close": ("SELECT 1 /*/ 2 */ + 3", "SELECT 1  + 3"),
    "line": ("SELECT 1 -- a\nFROM t", "SELECT 1 \nFROM t"),
    "line at the end stays": ("SELECT 1 -- a", "SELECT 1 -- a"),
    "line before a carriage return": ("SELECT 1 -- a\r\nFROM t", "SELECT 1 \r\nFROM t"),
    "blank lines": ("SELECT 1\n\n  \nFROM t", "SELECT 1\nFROM t"),
    "in a string, block": ("SELECT '/*x*/'", "SELECT ''"),
    "in a string, line": ("SELECT '--x\n'", "SELECT '\n'"),
    "ends": ("  SELECT 1\n", "SELECT 1"),
}


@pytest.mark.parametrize(("sql", "left"), COMMENTS.values(), ids=COMMENTS.keys())
def test_comments(sql: str, left: str) -> None:
    assert without_comments(sql) == left


DISTINCT = {
    "plain": ("SELECT DISTINCT a", "SELECT a"),
    "any case": ("SELECT dIsTiNcT a", "SELECT a"),
    "before a line end": ("SELECT DISTINCT\na", "SELECT DISTINCT\na"),
    "after a line end": ("SELECT\nDISTINCT a", "SELECT\nDISTINCT a"),
    "in an aggregate": ("SELECT COUNT(DISTINCT a)", "SELECT COUNT(DISTINCT a)"),
    "in an aggregate with a space": ("SELECT COUNT( DISTINCT a)", "SELECT COUNT( a)"),
    "DISTINCT ON": ("SELECT DISTINCT ON (a) b", "SELECT ON (a) b"),
    "IS DISTINCT FROM": ("a IS DISTINCT FROM b", "a IS FROM b"),
    "two spaces stay two": ("SELECT  DISTINCT  a", "SELECT   a"),
}


@pytest.mark.parametrize(("sql", "left"), DISTINCT.values(), ids=DISTINCT.keys())
def test_distinct(sql: str, left: str) -> None:
    assert without_distinct(sql) == left


ROUND = {
    "two arguments": ("ROUND(a, 2)", "a"),
    "one argument": ("ROUND(a)", "a"),
    "any case, spaces": ("round  ( a + b , 2)", "a + b"),
    "nested": ("ROUND(ROUND(a, 2), 1)", "a"),
    "inner function": ("ROUND(COALESCE(a, b), 2)", "COALESCE(a, b)"),
    "precedence": ("ROUND(a+b,2)*100", "a+b*100"),
    "no word boundary": ("background(a,b)", "backga"),
    "in a string": ("'ROUND(x, 1)'", "'x'"),
    "quotes are not understood": ("ROUND('a,b', 1)", "'a"),
    "unbalanced ends it": ("ROUND(a, 1) + ROUND(b", "a + ROUND(b"),
    "unbalanced first": ("ROUND(a + ROUND(b, 1)", "ROUND(a + ROUND(b, 1)"),
    "made by taking one out": ("ROUROUND(ND, 1)(x)", "x"),
}


@pytest.mark.parametrize(("sql", "left"), ROUND.values(), ids=ROUND.keys())
def test_round(sql: str, left: str) -> None:
    assert without_round(sql) == left


def test_all_three_in_their_order() -> None:
    assert reference_text("SELECT /* */DISTINCT ROUND(a, 1) -- x\nFROM t") == "SELECT a \nFROM t"


@pytest.mark.parametrize(
    "hostile",
    ["/*" * 30_000, "--" * 30_000, "ROUND(" * 9_000 + ")" * 9_000, "ROUND(a)" * 8_000, "\n " * 30_000],
    ids=["blocks", "lines", "nested", "many", "blank lines"],
)
def test_hostile_text_takes_no_time(hostile: str) -> None:
    began = time.perf_counter()
    reference_text(f"SELECT '{hostile}'")
    assert time.perf_counter() - began < 10
