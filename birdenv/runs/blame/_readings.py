"""Determine which snippets of the gold SQL a submission gets right, by comparing text or running SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, product
from typing import Any, Final, NamedTuple, TypeAlias

from birdenv.errors import BirdenvError
from birdenv.grading import InteractGrader
from birdenv.grading.interact import GradingJob
from birdenv.sql import quiet_parser, unquoted
from birdenv.sql import tokens as sql_tokens

_MOST_RUNS: Final = 40
_KEPT: Final = 12  # runs reserved for `has_right`
_MOST_TOGETHER: Final = 2

Readings: TypeAlias = dict[str, str]
"""For each snippet of the gold SQL, the expression that the submission has in its place."""


class Execution:
    """A failed submission, with methods that run variants of the gold SQL to locate its mistakes.

    The number of runs is limited. A variant counts as incorrect if it fails with an error, or if the limit
    has been reached.

    Args:
        grader: the grader that runs the SQL.
        job: the task and the profile to grade by.
        submission: the failed submission.
        dialect: sqlglot's name for the SQL dialect.
    """

    def __init__(self, grader: InteractGrader, job: GradingJob, submission: str, dialect: str) -> None:
        self._grader, self._job, self._submission, self._dialect = grader, job, submission, dialect
        self._left = _MOST_RUNS

    def has_right(self, snippet: str) -> bool:
        """Return whether the submission gets a snippet of the gold SQL right.

        The submission gets the snippet right if the gold SQL stays correct after the snippet is replaced by
        some expression from the submission.
        """
        for other in self._readings(snippet):
            variant = self._variant({snippet: other.sql}) if other.is_alike else None
            if variant and self._passes(self._job, variant[-1]):
                return True
        return False

    def explained(self, snippets: Sequence[str]) -> Readings | None:
        """Find the smallest set of snippets that explains why the submission fails.

        A set of snippets explains the failure if the submission is graded as correct once these snippets are
        replaced in the gold SQL by expressions from the submission.

        Returns:
            The replacement for each snippet in the set; None if no explanation was found.
        """
        if self._job.category != "Query":
            return None  # its test cases accept only one reading
        choices = {snippet: self._readings(snippet) for snippet in dict.fromkeys(snippets)}
        for count in range(1, _MOST_TOGETHER + 1):
            for several in combinations(choices, count):
                for others in product(*(choices[each] for each in several)):
                    chosen = {each: other.sql for each, other in zip(several, others, strict=True)}
                    variant = self._variant(chosen) if self._left > _KEPT else None
                    if variant and self._passes(replace(self._job, gold=variant), self._submission, rows=1):
                        return chosen
        return None

    def _readings(self, snippet: str) -> Sequence[RenamedExpression]:
        return readings_of(self._submission, snippet, self._job.gold[-1], self._dialect)

    def _variant(self, readings: Readings) -> tuple[str, ...] | None:
        last: str | None = self._job.gold[-1]
        for snippet, other in readings.items():
            last = None if last is None else replaced(last, snippet, other)
        return None if last is None else (*self._job.gold[:-1], last)

    def _passes(self, job: GradingJob, sql: str, *, rows: int = 0) -> bool:
        """Return whether SQL passes with at least `rows` rows. Two empty results would prove little."""
        if self._left <= 0:
            return False
        self._left -= 1
        try:
            grade = self._grader.grade(job, sql)
        except BirdenvError:
            return False
        return grade.passed and (grade.rows_pred or 0) >= rows


_ALIAS: Final = re.compile(r"(?i)(?<!\s)\s++AS\s++\w++\s*+$")
_CLAUSE: Final = re.compile(r"(?i)^\s*(WHERE|HAVING|ORDER\s+BY|GROUP\s+BY)\s+")
_NAMES: Final = ("word", "quoted")


class ComparedToken(NamedTuple):
    """An SQL token, normalised for comparing text.

    Attributes:
        key: the text to compare: in lower case and without quotes, unless the token is a string.
        start, end: the position of the token in the SQL, including a qualifier such as `b.`.
    """

    key: str
    start: int
    end: int


def tokens(sql: str) -> list[ComparedToken]:
    """Split SQL into tokens. A qualified name, such as `b.seats`, becomes the token `seats`."""
    found: list[ComparedToken] = []
    kinds: list[str] = []
    for kind, text, end in sql_tokens(sql):
        start = end - len(text)
        if kinds[-2:] in (["word", "."], ["quoted", "."]) and kind in _NAMES:
            start = found[-2].start
            del found[-2:], kinds[-2:]
        key = text if kind == "string" else (unquoted(text) if kind == "quoted" else text).casefold()
        found.append(ComparedToken(key, start, end))
        kinds.append("." if text == "." else kind)
    return found


def bare_snippet(snippet: str) -> str:
    """Return an SQL snippet without a leading keyword, such as `WHERE`, and without an alias at the end."""
    return _CLAUSE.sub("", _ALIAS.sub("", snippet))


def uses(sql: str, snippet: str) -> bool:
    """Return whether SQL contains a snippet, ignoring aliases, case and spacing.

    >>> uses("SELECT name FROM branches AS x WHERE x.Seats>=40", "b.seats >= 40")
    True
    """
    looked_for, held = ([t.key for t in tokens(text)] for text in (bare_snippet(snippet), sql))
    count = len(looked_for)
    return bool(looked_for) and any(
        held[at : at + count] == looked_for for at in range(len(held) - count + 1)
    )


_MOST_NODES: Final = 24


def replaced(sql: str, snippet: str, other: str) -> str | None:
    """Replace a snippet in SQL with the expression `other`. Return None if the SQL lacks the snippet.

    >>> replaced("SELECT b.name FROM branches b WHERE b.seats>=40", "seats >= 40", "b.seats > 9")
    'SELECT b.name FROM branches b WHERE (b.seats > 9)'
    """
    looked_for, held = [t.key for t in tokens(bare_snippet(snippet))], tokens(sql)
    count, at, end, parts = len(looked_for), 0, 0, list[str]()
    while looked_for and at + count <= len(held):
        if [t.key for t in held[at : at + count]] != looked_for:
            at += 1
            continue
        parts += [sql[end : held[at].start], f"({other})"]
        end = held[at + count - 1].end
        at += count
    return "".join([*parts, sql[end:]]) if parts else None


class RenamedExpression(NamedTuple):
    """An expression from a submission, rewritten with the table aliases from the gold SQL.

    Attributes:
        sql: the rewritten expression.
        is_alike: True if the expression and the gold snippet have a column in common.
    """

    sql: str
    is_alike: bool


@lru_cache(maxsize=256)
def _parsed(sql: str, dialect: str) -> Any:
    """Return the syntax tree, which callers must not change, or None if the SQL cannot be parsed."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        with quiet_parser():
            return sqlglot.parse_one(sql, read=dialect)
    except (SqlglotError, RecursionError):
        return None


@lru_cache(maxsize=256)  # each snippet is tried alone and together with others
def readings_of(submission: str, snippet: str, gold: str, dialect: str) -> tuple[RenamedExpression, ...]:
    """Return the expressions in a submission that might correspond to a gold snippet, most likely first.

    Conditions correspond only to conditions, aggregates only to aggregates, and other values only to values
    that share a column with them. Several conditions on the snippet's columns, such as the bounds of a range
    joined by `AND`, count as one condition.

    Args:
        submission: the submitted SQL.
        snippet: the snippet of the gold SQL.
        gold: the gold SQL, whose table aliases are used in the result.
        dialect: sqlglot's name for the SQL dialect.
    """
    from sqlglot import exp

    tree, reference, point = (_parsed(sql, dialect) for sql in (submission, gold, bare_snippet(snippet)))
    if tree is None or reference is None or point is None:
        return ()
    sort = _sort(point)
    names = {column.name.lower() for column in point.find_all(exp.Column)}
    aliases = {table.name.lower(): table.alias_or_name for table in reference.find_all(exp.Table)}
    tables = {table.alias_or_name: table.name.lower() for table in tree.find_all(exp.Table)}
    found: dict[RenamedExpression, None] = {}
    for node in tree.walk():
        if not isinstance(node, exp.Condition) or isinstance(node, exp.Literal | exp.Column):
            continue
        if isinstance(node, exp.Connector):
            node = _on_columns(node, names)
            if node is None:
                continue
        is_alike = any(column.name.lower() in names for column in node.find_all(exp.Column))
        if _sort(node) == sort and (is_alike or sort != "value"):
            found[RenamedExpression(_renamed(node, tables, aliases).sql(dialect=dialect), is_alike)] = None
    return tuple(sorted(found, key=lambda each: not each.is_alike)[:_MOST_NODES])


def _on_columns(node: Any, names: set[str]) -> Any:
    """Return the joined conditions that use only the named columns, or None if there are fewer than two.

    For `OR`, all conditions must use only these columns.
    """
    from sqlglot import exp

    if isinstance(node.parent, type(node)):  # the parent is examined as a whole
        return None
    parts = list(node.flatten())
    kept = [p for p in parts if {c.name.lower() for c in p.find_all(exp.Column)} <= names]
    if len(kept) < 2:
        return None
    if not isinstance(node, exp.And):
        return node.copy() if len(kept) == len(parts) else None
    return exp.and_(*kept)


def _sort(node: Any) -> str:
    from sqlglot import exp

    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Predicate | exp.Connector | exp.Not):
        return "condition"
    return "aggregate" if node.find(exp.AggFunc) else "value"


def _renamed(node: Any, tables: dict[str, str], aliases: dict[str, str]) -> Any:
    """Return a copy of an expression with the gold's table aliases, except for tables inside it."""
    from sqlglot import exp

    copy = node.copy()
    own = {table.alias_or_name for table in copy.find_all(exp.Table)}
    for column in copy.find_all(exp.Column):
        alias = aliases.get(tables.get(column.table, ""))
        if column.table and column.table not in own and alias:
            column.set("table", exp.to_identifier(alias))
    return copy
