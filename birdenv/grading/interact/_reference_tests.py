"""Run Management test cases exactly as the published evaluators do (BIRD-Interact §4.3, §4.4).

A single test of birdenv's own runs in the sandbox, and loads the task's sources as the evaluators do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

from birdenv.grading.sandbox._sources import compile_source

TestWay: TypeAlias = Literal["every_callable", "test_case"]
"""How an evaluator runs test cases.

`every_callable`, as the batch evaluator does: every callable that a source defines or imports is called;
`execute_queries` runs each item of its argument, so that a text runs letter by letter; and tests cannot call
helpers of the source or of the evaluator.

`test_case`, as the later service does: only a function of that name is called, and a source without one
passes."""

_HEAD: Final = "def test_case(pred_sqls, sol_sqls, db_name, conn):\n"
_BODIES: Final[dict[TestWay, str]] = {
    "every_callable": """
    def piece_by_piece(queries, db_name, conn, *more, **named):
        return execute_queries(list(queries), db_name, conn)

    found = []
    for source in SOURCES:
        scope = {"execute_queries": piece_by_piece, "json": json, "pred_query_result": pred_query_result}
        own = {}
        try:
            exec(source, scope, own)
        except Exception:
            continue
        found += [value for value in own.values() if callable(value)]
    assert found, "nothing was defined that can be called"
    for test in found:
        test(pred_sqls, sol_sqls, db_name, conn)
""",
    "test_case": """
    def set_or_list(pred_sqls, sol_sqls, db_name, conn, conditions=None):
        if not pred_sqls or not sol_sqls:
            return 0
        sides = [execute_queries(sqls, db_name, conn) for sqls in (pred_sqls, sol_sqls)]
        if any(error or timeout for _, error, timeout in sides):
            return 0
        pred, sol = (preprocess_results(rows) for rows, _, _ in sides)
        if not pred or not sol:
            return 0
        return int(pred == sol if (conditions or {}).get("order", False) else set(pred) == set(sol))

    scope = {
        "execute_queries": execute_queries,
        "ex_base": set_or_list,
        "preprocess_results": preprocess_results,
        "remove_comments": remove_comments,
        "remove_distinct": remove_distinct,
        "remove_round": remove_round,
        "pred_query_result": pred_query_result,
    }
    for source in SOURCES:
        own = {}
        exec(source, scope, own)
        if callable(own.get("test_case")):
            own["test_case"](pred_sqls, sol_sqls, db_name, conn)
""",
}


def reference_test(sources: Sequence[str], way: TestWay) -> str:
    """Return the source of a test that runs `sources` as the published evaluator does."""
    imports = "".join(f"    import {name}\n" for name in sorted(_imported(sources)))
    # The sandbox cannot open files while a test runs, so it preloads the modules that sources import.
    never = f"if False:\n{imports}" if imports else ""
    return f"SOURCES = {list(sources)!r}\n{_HEAD}{_BODIES[way]}{never}"


def defines_callable(source: str) -> bool:
    """Return whether the batch evaluator finds a callable in a source; False if it does not compile."""
    return any(True for _ in _callables(_statements(source)))


def defines_test_case(source: str) -> bool:
    """Return whether the later service finds a function `test_case` in a source."""
    return "test_case" in _callables(_statements(source))


def _callables(statements: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names of callables at the top level of a source, including those under conditions."""
    for statement in statements:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name for alias in names)
            case ast.Assign(targets=targets, value=ast.Lambda()):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While() | ast.ExceptHandler():
                yield from _callables(ast.iter_child_nodes(statement))


def _statements(source: str) -> list[ast.stmt]:
    try:
        return compile_source(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _imported(sources: Sequence[str]) -> set[str]:
    nodes = [node for source in sources for statement in _statements(source) for node in ast.walk(statement)]
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    from_modules = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    return plain | {module for module in from_modules if module}
