"""What a query asks of the rows that it reads: the values its columns are compared with, and its joins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from sqlglot import exp, parse_one
from sqlglot.optimizer.scope import Scope, traverse_scope

from birdenv_baselines.bench._schemas import Field, Schema

__all__ = ["Demands", "Value", "demands"]

Value: TypeAlias = str | int | float
_Node: TypeAlias = exp.Condition | exp.Expression

_COMPARISONS: Final = (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.Between, exp.In)
_TRANSPARENT: Final = (
    exp.Cast,
    exp.Paren,
    exp.Lower,
    exp.Upper,
    exp.Trim,
    exp.Abs,
    exp.Round,
    exp.TsOrDsToTimestamp,
    exp.TsOrDsToDate,
)
"""Functions whose result is about the value that they are given."""

_YEAR: Final = re.compile(r"^\d{4}(?=\D|$|\d\d$)")


@dataclass(frozen=True, slots=True)
class Demands:
    """`values`: what each field should hold in some row for the query to find one.
    `joins`: pairs of fields that it equates."""

    values: dict[Field, list[Value]]
    joins: list[tuple[Field, Field]]


def demands(sql: str, schema: Schema) -> Demands:
    """What `sql`, written for SQLite, asks of the rows of `schema`. What is not understood is left out."""
    found = Demands({}, [])
    for scope in traverse_scope(parse_one(sql, dialect="sqlite")):
        for node in scope.find_all(*_COMPARISONS):
            _add(found, node, scope, schema)
    return found


def _add(found: Demands, node: _Node, scope: Scope, schema: Schema) -> None:
    left, right = node.this, node.expression
    if isinstance(node, exp.EQ):
        here, there = (_field(side, scope, schema) for side in (left, right))
        if here is not None and there is not None:
            found.joins.append((here, there))
            return
    operands = [left, right]
    if _literal(left, scope, schema) is not None:
        operands.reverse()
    field, wrapper = _unwrapped(operands[0], scope, schema)
    if field is None:
        return
    for literal in _literals(node, operands[1], scope, schema):
        value = _satisfying(node, literal, wrapper)
        if value is not None and value not in found.values.setdefault(field, []):
            found.values[field].append(value)


def _literals(node: _Node, operand: _Node, scope: Scope, schema: Schema) -> Iterator[Value]:
    """The values compared with, the bounds of a BETWEEN and the members of a list one by one."""
    if isinstance(node, exp.Between):
        operands = [node.args["low"], node.args["high"]]
    elif isinstance(node, exp.In):
        operands = node.expressions
    else:
        operands = [operand]
    for each in operands:
        value = _literal(each, scope, schema)
        if value is not None:
            yield value


def _literal(node: _Node | None, scope: Scope, schema: Schema) -> Value | None:
    if isinstance(node, exp.Neg):
        value = _literal(node.this, scope, schema)
        return None if value is None or isinstance(value, str) else -value
    if isinstance(node, exp.Literal):
        if node.is_string:
            return str(node.this)
        return float(node.this) if "." in node.this else int(node.this)
    # To SQLite, a name in double quotes that names no column is a string.
    if isinstance(node, exp.Column) and node.this.quoted and _field(node, scope, schema) is None:
        return str(node.name)
    return None


def _field(node: _Node | None, scope: Scope, schema: Schema) -> Field | None:
    if not isinstance(node, exp.Column):
        return None
    sources = {alias: source for alias, source in scope.sources.items() if isinstance(source, exp.Table)}
    named = sources.get(node.table)
    for source in [named] if named is not None else [] if node.table else sources.values():
        field = schema.find(source.name, node.name)
        if field is not None:
            return field
    return None


def _unwrapped(node: _Node | None, scope: Scope, schema: Schema) -> tuple[Field | None, _Node | None]:
    """The field below functions whose result can be aimed at, and the one of them that changes the value."""
    wrapper = None
    while node is not None and not isinstance(node, exp.Column):
        if isinstance(node, exp.TimeToStr | exp.Substring | exp.StrPosition):
            wrapper = node
        elif not isinstance(node, _TRANSPARENT):
            return None, None
        node = node.this
    return _field(node, scope, schema), wrapper


def _satisfying(node: _Node, literal: Value, wrapper: _Node | None) -> Value | None:
    """A value of the column that makes the comparison true, if one is easily found."""
    if isinstance(node, exp.GT | exp.GTE):
        literal = _shifted(literal, 1)
    elif isinstance(node, exp.LT | exp.LTE):
        literal = _shifted(literal, -1)
    elif isinstance(node, exp.Like):
        literal = str(literal).replace("%", "").replace("_", "a")
    if isinstance(wrapper, exp.StrPosition):
        return str(wrapper.args["substr"].name)
    if isinstance(wrapper, exp.TimeToStr):
        return _moment(str(literal), wrapper.args["format"].name)
    if isinstance(wrapper, exp.Substring):
        start = wrapper.args["start"].name
        if start == "1" and re.fullmatch(r"\d{4}", str(literal)):
            return f"{literal}-06-15"  # the year of a day
        return "x" * (int(start) - 1 if start.isdigit() else 0) + str(literal)
    return literal


def _shifted(value: Value, by: int) -> Value:
    """A larger or smaller value: the next number, or a year later or earlier."""
    if not isinstance(value, str):
        return value + by
    return _YEAR.sub(lambda found: f"{int(found[0]) + by:04d}", value)


def _moment(text: str, form: str) -> str | None:
    """A day of which `strftime` in this form gives `text`."""
    with suppress(ValueError):
        if "%Y" not in form:
            text, form = f"{text} 2012", f"{form} %Y"
        day = datetime.strptime(text, form)
        return day.strftime("%Y-%m-%d") if day.hour == 0 else day.strftime("%Y-%m-%d %H:%M:%S")
    return None
