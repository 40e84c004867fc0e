"""Are a Management task's test cases usable? Python sources, parsed here and never run.

The contract (BIRD-Interact §4.3): a source defines functions named `test_case*`, or just one function, each
called as `test_case(pred_sqls, sol_sqls, db_name, conn)`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

__all__ = ["parse_test_cases"]

_PARAMETERS = "pred_sqls, sol_sqls, db_name, conn"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def parse_test_cases(sources: Sequence[str]) -> list[str]:
    """What is wrong with the sources, one line each, by their number; empty if they keep the contract."""
    return [
        f"test case {number}: {problem}"
        for number, source in enumerate(sources, 1)
        for problem in _problems(source)
    ]


def _problems(source: object) -> list[str]:
    if not isinstance(source, str):
        return [f"is not text but {type(source).__name__}"]
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        return [f"does not compile: {error.msg} (line {error.lineno})"]
    except (ValueError, RecursionError, MemoryError) as error:
        return [f"does not compile: {error or type(error).__name__}"]
    functions = [node for node in tree.body if isinstance(node, _FUNCTIONS)]
    tests = [function for function in functions if function.name.startswith("test_case")]
    if not tests and len(functions) == 1:
        tests = functions
    if not tests:
        found = f"{len(functions)} functions of other names" if functions else "no function"
        return [f"defines {found}, so there is no test_case({_PARAMETERS})"]
    return [problem for test in tests if (problem := _signature_problem(test))]


def _signature_problem(test: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    if isinstance(test, ast.AsyncFunctionDef):
        return f"{test.name} is async, so calling it would test nothing"
    arguments = test.args
    most = len(arguments.posonlyargs) + len(arguments.args)
    least = most - len(arguments.defaults)
    keyword_only = any(default is None for default in arguments.kw_defaults)
    if keyword_only or least > 4 or (most < 4 and arguments.vararg is None):
        return f"{test.name}({ast.unparse(arguments)}) does not take 4 parameters ({_PARAMETERS})"
    return ""
