"""Which test-case sources keep the contract."""

import ast
import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from birdenv.grading.sandbox import parse_test_cases
from birdenv.grading.sandbox._sources import imports_of, names_of_tests

FINE = {
    "the usual": "def test_case(pred_sqls, sol_sqls, db_name, conn):\n    assert True",
    "several": "def test_case_1(a, b, c, d): ...\ndef test_case_2(a, b, c, d): ...",
    "with a helper": "def rows(x): ...\ndef test_case(a, b, c, d): rows(a)",
    "with an import": "from datetime import date\ndef test_case(a, b, c, d): ...",
    "one function of another name": "def check(a, b, c, d): ...",
    "defaults": "def test_case(a, b, c, d=None, e=1): ...",
    "any parameters": "def test_case(*args): ...",
}

PROBLEMS = {
    "no compile": ("def test_case(:", "does not compile"),
    "no compile, though it parses": ("return 1\ndef test_case(a, b, c, d): ...", "does not compile"),
    "NUL": ("x = '\0'", "does not compile"),
    "nothing": ("", "defines no function"),
    "only statements": ("assert 1 == 1", "defines no function"),
    "two others": ("def a(x): ...\ndef b(x): ...", "defines 2 functions with other names"),
    "too few": ("def test_case(pred_sqls, conn): ...", "does not take 4 parameters"),
    "too many": ("def test_case(a, b, c, d, e): ...", "does not take 4 parameters"),
    "keyword only": ("def test_case(a, b, c, d, *, e): ...", "does not take 4 parameters"),
    "async": ("async def test_case(a, b, c, d): ...", "is async"),
    "inside a class": ("class T:\n    def test_case(a, b, c, d): ...", "defines no function"),
}


@pytest.mark.parametrize("source", FINE.values(), ids=FINE.keys())
def test_fine(source: str) -> None:
    assert parse_test_cases([source]) == []


@pytest.mark.parametrize(("source", "problem"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problems(source: str, problem: str) -> None:
    (found,) = parse_test_cases([source])
    assert problem in found
    assert "\n" not in found


def test_problems_name_their_source() -> None:
    assert parse_test_cases([FINE["the usual"], "1"])[0].startswith("test case 2: ")


def test_sources_are_never_run(capsys: pytest.CaptureFixture[str]) -> None:
    parse_test_cases(["print('run')\nraise SystemExit"])
    assert capsys.readouterr().out == ""


def test_no_sources_no_problems() -> None:
    assert parse_test_cases([]) == []


def test_a_source_that_is_not_text() -> None:
    assert parse_test_cases([None]) == ["test case 1: must be text, but is NoneType"]  # type: ignore[list-item]


def test_names_of_tests() -> None:
    assert names_of_tests(FINE["several"]) == ["test_case_1", "test_case_2"]
    assert names_of_tests(FINE["with a helper"]) == ["test_case"]
    assert names_of_tests(FINE["one function of another name"]) == ["check"]
    assert names_of_tests(FINE["the usual"] + "\n" + FINE["the usual"]) == ["test_case"]


def test_imports_of() -> None:
    source = "import json, os.path\ndef f():\n    from collections import abc as a\n    from . import x"
    assert list(imports_of(source)) == ["json", "os.path", "collections", "collections.abc"]


def test_many_threads_may_parse_at_once() -> None:
    """CPython miscounts a tree's depth where a collection lets another thread parse meanwhile."""

    class Collected:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            ast.parse("f(1, (2, [3]))")

    def parse_often(_: int) -> list[str]:
        return [
            problem for _ in range(100) if Collected() for problem in parse_test_cases([FINE["the usual"]])
        ]

    usual, switch = gc.get_threshold(), sys.getswitchinterval()
    try:
        gc.set_threshold(1)
        sys.setswitchinterval(1e-6)
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(parse_often, range(4))) == [[]] * 4
    finally:
        gc.set_threshold(*usual)
        sys.setswitchinterval(switch)
