"""Grade as the published c-Interact evaluators do, on a disposable copy (BIRD-Interact §4.2 to §4.4).

The grader reproduces the verdicts of these evaluators, including known faults, so that scores are comparable.
A submission that passes gets the flag `integrity` if it would fail against the gold on a pristine copy, or by
birdenv's rules for test cases.

The test cases of a Management task run in the sandbox. A single test that birdenv provides loads the task's
sources as the evaluators do.

Rows are compared by the published rule (§4.2), after `compare._sql_cuts` has shortened the SQL. A grade's
reason quotes the gold, and must not be shown to agents.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final, TypeAlias

from birdenv.databases import (
    Checkpoint,
    DatabaseSource,
    EpisodeDatabase,
    Limits,
    QueryError,
    QueryResult,
    Result,
    Row,
)
from birdenv.databases.cache import Key, result_cache
from birdenv.grading._reads import reads_clock
from birdenv.grading.compare._differences import emptiness, show
from birdenv.grading.compare._rows import RowsComparison
from birdenv.grading.compare._sql_cuts import reference_text
from birdenv.grading.interact._job import Grade, GradingJob, TestWay, broken, compared, failed
from birdenv.grading.sandbox._runner import run_test_cases
from birdenv.grading.sandbox._sources import compile_source

_PLACES: Final = 2  # whatever the task's `conditions.decimal` is
_HUNDREDTH: Final = Decimal("0.01")
_CONTEXT: Final = Context(prec=28)  # Python's default: a number with more digits is an error
_MOST_ROWS: Final = 10_000  # of queries that begin with SELECT or WITH; further rows are silently dropped

_Rows: TypeAlias = list[tuple[Any, ...]]


def compare_reference(
    gold: QueryResult, pred: QueryResult, *, order: bool, gold_sql: str, pred_sql: str
) -> RowsComparison:
    """Compare rows by the published rule: as lists if `order` is true, and otherwise as sets.

    Empty results never agree. Only the first 10,000 rows count if the SQL (`gold_sql`, `pred_sql`) begins
    with SELECT or WITH. Numbers are rounded to 2 decimals: Decimals half up, and floats by Python's `round`,
    so that a Decimal and an equal float may disagree. Dates and timestamps become days, except inside arrays
    and JSON, which are compared as JSON text. Otherwise, values are compared as in Python: true equals 1, 1
    equals 1.0, and NaN equals nothing. Values that make the published code fail (an array of numerics or
    dates, a numeric with 27 digits) never agree, and get the flag `breaks`.
    """
    flags = emptiness(gold, pred)
    if not gold.rows or not pred.rows:
        sides = [side for side, result in (("gold", gold), ("prediction", pred)) if not result.rows]
        return RowsComparison(False, f"no rows from the {' and the '.join(sides)}", flags)
    try:
        expected, returned = _normalised(gold.rows, gold_sql), _normalised(pred.rows, pred_sql)
        equal = expected == returned if order else set(expected) == set(returned)
    except (ArithmeticError, TypeError, ValueError) as error:
        what = f"{type(error).__name__}: {error}"
        return RowsComparison(False, f"the published comparison breaks ({what})", (*flags, "breaks"))
    return RowsComparison(equal, "" if equal else _difference(expected, returned), flags)


def _normalised(rows: Sequence[Row], sql: str) -> _Rows:
    fetched = rows[:_MOST_ROWS] if sql.strip().lower().startswith(("select", "with")) else rows
    return [tuple(map(_normalised_cell, row)) for row in fetched]


def _normalised_cell(cell: Any) -> Any:
    if isinstance(cell, date):  # a datetime is one
        return cell.strftime("%Y-%m-%d")
    rounded = _rounded(cell)
    return json.dumps(rounded, sort_keys=True) if isinstance(rounded, (list, dict)) else rounded


def _rounded(value: Any) -> Any:
    if isinstance(value, Decimal):
        return value.quantize(_HUNDREDTH, rounding=ROUND_HALF_UP, context=_CONTEXT)
    if isinstance(value, float):
        return round(value, _PLACES)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_rounded, value))
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return value


def _difference(gold: _Rows, pred: _Rows) -> str:
    expected, returned = set(gold), set(pred)
    if expected == returned:
        return "the rows are the same, but in a different order"
    missing = next((row for row in gold if row not in returned), None)
    extra = next((row for row in pred if row not in expected), None)
    parts = [f"{what} {show(row)}" for what, row in (("expected", missing), ("returned", extra)) if row]
    return "rows differ: " + ", ".join(parts)


class ReferenceGrader:
    """A thread-safe grader that applies the published rules."""

    def __init__(self, source: DatabaseSource, limits: Limits) -> None:
        self._source = source
        self._limits = limits

    def grade(self, job: GradingJob, prediction: str) -> Grade:
        """Run the prediction. Then run the test cases (Management task), or compare the rows (Query task).

        Errors in the set-up are ignored. If the gold fails to run, the prediction fails.
        """
        with self._source.open(job.database, self._limits) as database:
            fault = _prepare(database, job)
            if fault is not None:
                return broken("the starting state", fault)
            result = _run(database, (prediction,))
            if isinstance(result, QueryError):
                return failed(result)
            left = database.checkpoint() if job.keeps_state else None
            if job.category == "Management" and _are_run(job):
                grade = self._grade_by_tests(database, job, prediction, result)
            else:
                grade = self._grade_by_rows(database, job, prediction)
        if grade.passed and isinstance(left, Checkpoint):
            return replace(grade, left=left)
        return grade

    def _grade_by_rows(self, database: EpisodeDatabase, job: GradingJob, prediction: str) -> Grade:
        pred_sql, gold_sqls = reference_text(prediction), tuple(map(reference_text, job.gold))
        pred = _run(database, (pred_sql,))
        if isinstance(pred, QueryError):
            reason = f"the SQL, without comments, DISTINCT and ROUND, failed: {pred.line}"
            return Grade(False, "wrong_result", reason)
        changed = database.is_private
        gold = _run(database, gold_sqls)
        if isinstance(gold, QueryError):
            reason = f"the gold, without comments, DISTINCT and ROUND, failed: {gold.line}"
            return Grade(False, "wrong_result", reason, flags=("gold_failed",), rows_pred=len(pred.rows))
        order, texts = job.conditions.order, {"gold_sql": gold_sqls[-1], "pred_sql": pred_sql}
        comparison = compare_reference(gold, pred, order=order, **texts)
        flags = comparison.flags
        if comparison.equal:
            if job.category == "Management":
                flags = (*flags, "integrity", "no_usable_test")
            elif changed:
                pristine = self._pristine_gold(job, gold_sqls)
                if isinstance(pristine, QueryError) or not (
                    compare_reference(pristine, pred, order=order, **texts).equal
                ):
                    flags = (*flags, "integrity")
        return compared(comparison, gold, pred, flags)

    def _pristine_gold(self, job: GradingJob, gold_sqls: tuple[str, ...]) -> Result:
        """Return the gold's result on a copy where the prediction has not run."""

        def run() -> Result:
            with self._source.open(job.database, self._limits) as database:
                return _prepare(database, job) or _run(database, gold_sqls)

        if job.start is not None:
            return run()
        scripts = (job.setup, _base(job), gold_sqls)
        key = Key(self._source.scope(job.database, self._limits), "script", None, scripts)
        return result_cache.get(
            key, run, lasts=lambda: not any(reads_clock(sql) for part in scripts for sql in part)
        )

    def _grade_by_tests(
        self, database: EpisodeDatabase, job: GradingJob, prediction: str, result: QueryResult
    ) -> Grade:
        way = job.rules.tests
        assert way != "contract"
        report = run_test_cases(
            [reference_test(job.tests, way)],
            [prediction],
            job.gold,
            database,
            pred_result=result,
            db_name=job.database,
            dialect=self._source.dialect,
        )
        if report.status != "passed":
            return Grade(False, "wrong_result", report.reason)
        proves_nothing = way == "test_case" and not any(map(defines_test_case, job.tests))
        return Grade(True, "passed", flags=("integrity", "no_usable_test") if proves_nothing else ())


def _are_run(job: GradingJob) -> bool:
    """Return whether the evaluator runs the test cases of a Management task; otherwise, it compares rows."""
    if job.rules.tests == "every_callable":
        return any(map(defines_callable, job.tests))
    return bool(job.tests)


def _prepare(database: EpisodeDatabase, job: GradingJob) -> QueryError | None:
    """Run the set-up, the SQL of the earlier phase and the clean-up, up to the first error.

    The published evaluators run all of this SQL as a single list, and ignore the error. An error is returned
    only if `job.start` cannot be restored.
    """
    if job.start is not None:
        return database.restore(job.start)
    _run(database, (*job.setup, *_base(job)))
    return None


def _base(job: GradingJob) -> tuple[str, ...]:
    return (*job.base_pred, *job.cleanup) if job.base_pred else ()


def _run(database: EpisodeDatabase, scripts: tuple[str, ...]) -> Result:
    """Run scripts up to the first error, each committed."""
    result: Result = QueryResult((), ())
    for script in scripts:
        result = database.run((script,))
        if isinstance(result, QueryError):
            if database.is_private:
                database.run(("ROLLBACK",))
            return result
        if database.is_private:
            database.run(("COMMIT",))  # an error if there is no transaction, which does not matter
    return result


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
    """Return the source of a single test that runs all `sources` as a published evaluator does."""
    imports = "".join(f"    import {name}\n" for name in sorted(_imported(sources)))
    # The sandbox cannot open files while a test runs, so it preloads the modules that sources import.
    never = f"if False:\n{imports}" if imports else ""
    return f"SOURCES = {list(sources)!r}\n{_HEAD}{_BODIES[way]}{never}"


def defines_callable(source: str) -> bool:
    """Return whether the published batch evaluator would find a callable in source code that compiles."""
    return any(True for _ in _callables(_statements(source)))


def defines_test_case(source: str) -> bool:
    """Return whether the tool-calling service (`adk`) would find a function `test_case` in the source."""
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
