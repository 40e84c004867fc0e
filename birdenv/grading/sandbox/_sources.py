"""Check the sources of a Management task's test cases, without running them.

Under the contract (BIRD-Interact §4.3), a source defines functions named `test_case*`, or just one function.
Each function is called as `test_case(pred_sqls, sol_sqls, db_name, conn)`.

Only one thread at a time builds a syntax tree here. CPython keeps one depth counter per interpreter, so two
threads that parse at once can make `ast.parse` raise SystemError for valid source (observed in 3.11.7).
"""

from __future__ import annotations

import ast
import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import TypeAlias

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_PARAMETERS = "pred_sqls, sol_sqls, db_name, conn"
_ONE_TREE_AT_A_TIME = threading.RLock()  # reentrant, because a finalizer may parse in the same thread
_TRIES = 100  # because threads of other code may parse, too
_CLOCKS = frozenset({"now", "utcnow", "today", "time", "time_ns", "localtime", "gmtime", "ctime"})


def compile_source(source: str) -> ast.Module:
    """Parse and compile a test case's source code without running it. Any thread may call this.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source code does not compile.
    """
    compile(source, "<test case>", "exec", dont_inherit=True)
    with _ONE_TREE_AT_A_TIME:
        for _ in range(_TRIES):
            with contextlib.suppress(SystemError):
                return ast.parse(source)
    return ast.parse(source)


def parse_test_cases(sources: Sequence[str]) -> list[str]:
    """Return one line for each violation of the contract, with the number of the source."""
    return [
        f"test case {number}: {problem}"
        for number, source in enumerate(sources, 1)
        for problem in _problems(source)
    ]


def names_of_tests(source: str) -> list[str]:
    """Return the names of the tests in valid source code, in order and without duplicates."""
    return list(dict.fromkeys(test.name for test in _tests(_functions(compile_source(source)))))


def imports_of(source: str) -> Iterator[str]:
    """Yield all names that source code imports, at any depth: modules, and names imported from modules."""
    for node in ast.walk(compile_source(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def reads_clock(source: str) -> bool:
    """Return whether source code could read the current time or date; True if in doubt.

    >>> reads_clock("year = date.today().year"), reads_clock("day = datetime(2025, 2, 19)")
    (True, False)
    """
    try:
        nodes = list(ast.walk(compile_source(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    return any(getattr(each, "attr", getattr(each, "id", "")) in _CLOCKS for each in called)


def _problems(source: object) -> list[str]:
    if not isinstance(source, str):
        return [f"must be text, but is {type(source).__name__}"]
    try:
        tree = compile_source(source)
    except SyntaxError as error:
        return [f"does not compile: {error.msg} (line {error.lineno})"]
    except (ValueError, RecursionError, MemoryError) as error:
        return [f"does not compile: {error or type(error).__name__}"]
    functions = _functions(tree)
    tests = _tests(functions)
    if not tests:
        found = f"{len(functions)} functions with other names" if functions else "no function"
        return [f"defines {found}, so there is no test_case({_PARAMETERS})"]
    return [problem for test in tests if (problem := _signature_problem(test))]


def _functions(tree: ast.Module) -> list[_Function]:
    return [node for node in tree.body if isinstance(node, _Function)]


def _tests(functions: list[_Function]) -> list[_Function]:
    named = [function for function in functions if function.name.startswith("test_case")]
    return functions if not named and len(functions) == 1 else named


def _signature_problem(test: _Function) -> str:
    if isinstance(test, ast.AsyncFunctionDef):
        return f"{test.name} is async, so calling it would test nothing"
    arguments = test.args
    most = len(arguments.posonlyargs) + len(arguments.args)
    least = most - len(arguments.defaults)
    keyword_only = any(default is None for default in arguments.kw_defaults)
    if keyword_only or least > 4 or (most < 4 and arguments.vararg is None):
        return f"{test.name}({ast.unparse(arguments)}) does not take 4 parameters ({_PARAMETERS})"
    return ""
