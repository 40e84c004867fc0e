"""Management test cases as the published evaluators run them, faults and all (BIRD-Interact §4.3, §4.4).

Their ways are acted out inside our sandbox, by a test of our own that loads the task's sources as they do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

from birdenv.grading.sandbox._sources import compile_source

TestWay: TypeAlias = Literal["every_callable", "test_case"]
"""`every_callable`: what the batch evaluator does. Whatever a source defines or imports is called, if it can
be; `execute_queries` goes through what it is given piece by piece, text letter by letter; helpers of the
source and of the evaluator are out of reach of the tests. `test_case`: what the later service does. Only a
function of that name is called; a source without one passes."""

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
    """Return the source of one test that does with `sources` what the published evaluator does."""
    imports = "".join(f"    import {name}\n" for name in sorted(_imported(sources)))
    # The sandbox opens no file once a test runs: it loads beforehand what it finds imported.
    never = f"if False:\n{imports}" if imports else ""
    return f"SOURCES = {list(sources)!r}\n{_HEAD}{_BODIES[way]}{never}"


def defines_callable(source: str) -> bool:
    """Return whether the batch evaluator finds anything to call in a source; not if it does not compile."""
    return any(True for _ in _callables(_statements(source)))


def defines_test_case(source: str) -> bool:
    """Return whether the later service finds its function in a source."""
    return "test_case" in _callables(_statements(source))


def _callables(statements: Iterable[ast.AST]) -> Iterator[str]:
    """Yield names at a source's own level, also under a condition, that can be called, as far as the text
    tells.
    """
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
