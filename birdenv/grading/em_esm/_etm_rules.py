"""Rewrites that sqlglot's optimiser leaves out, so that queries that mean the same become the same SQL.

They are rules 18, 24, 102 and 104 of ETM (Ascoli et al., arXiv 2407.07313). The optimiser itself has rules 22
(BETWEEN), 23 (NOT pushed inwards), 105 (sides of =, AND and OR) and 107 (parentheses).
"""

from __future__ import annotations

import re
from typing import Any

from sqlglot import exp

_AUTOMATIC_NAME = re.compile(r"_col_\d+")
_LONGEST_LIST = 100  # the optimiser's time grows faster than a chain of ORs
_FROM = ("from_", "from")  # the name of that argument in newer and in older versions of sqlglot


def without_shorthand(tree: Any) -> Any:
    """`a IN (1, 2)` written out with OR (rule 18), `IIF(a, b, c)` as a CASE (rule 24). For parsed trees."""
    return tree.transform(_written_out)


def in_normal_form(tree: Any) -> Any:
    """Tables of inner joins and the outermost SELECT list in a fixed order. For optimised trees."""
    tree = tree.copy()
    for select in list(tree.find_all(exp.Select)):
        _order_joins(select)
    if isinstance(tree, exp.Select):
        _order_outputs(tree)
    return tree


def _written_out(node: Any) -> Any:
    if isinstance(node, exp.In) and 0 < len(node.expressions) <= _LONGEST_LIST:
        equal = [exp.EQ(this=node.this.copy(), expression=item.copy()) for item in node.expressions]
        return exp.paren(exp.or_(*equal)) if len(equal) > 1 else exp.paren(equal[0])
    if isinstance(node, exp.If) and not isinstance(node.parent, exp.Case) and node.args.get("true"):
        branch = exp.If(this=node.this.copy(), true=node.args["true"].copy())
        otherwise = node.args.get("false")
        return exp.Case(ifs=[branch], default=otherwise.copy() if otherwise is not None else None)
    return node


def _order_joins(select: exp.Select) -> None:
    """Rule 104. An inner join is the same from either side, and its condition is the same in WHERE."""
    joins = select.args.get("joins") or []
    source = next((select.args[name] for name in _FROM if select.args.get(name) is not None), None)
    if not joins or source is None or not all(map(_is_inner, joins)):
        return
    tables = sorted([source.this, *(join.this for join in joins)], key=_text)
    where = select.args.get("where")
    conditions = [join.args["on"] for join in joins if join.args.get("on") is not None]
    conditions += [where.this] if where is not None else []
    parts = {_text(part): part.copy() for of in conditions for part in _conjuncts(of)}
    source.set("this", tables[0].copy())
    select.set("joins", [exp.Join(this=table.copy(), kind="CROSS") for table in tables[1:]])
    if parts:
        select.set("where", exp.Where(this=exp.and_(*(parts[text] for text in sorted(parts)))))


def _is_inner(join: exp.Join) -> bool:
    plain = not any(join.args.get(name) for name in ("side", "method", "using"))
    return plain and join.kind in ("", "INNER", "CROSS") and isinstance(join.this, (exp.Table, exp.Subquery))


def _conjuncts(condition: Any) -> list[Any]:
    condition = condition.unnest()
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def _order_outputs(select: exp.Select) -> None:
    """Rule 102. Names that the optimiser gave by position are taken away first."""
    unnamed: dict[str, Any] = {}
    for output in select.expressions:
        if isinstance(output, exp.Alias) and _AUTOMATIC_NAME.fullmatch(output.alias):
            unnamed[output.alias] = output.this
    order = select.args.get("order")
    for name in list(order.find_all(exp.Column)) if order is not None else ():
        if not name.table and name.name in unnamed and name.parent_select is select:
            name.replace(unnamed[name.name].copy())
    outputs = [unnamed.get(output.alias, output) for output in select.expressions]
    select.set("expressions", sorted((output.copy() for output in outputs), key=_text))


def _text(tree: Any) -> str:
    text: str = tree.sql()
    return text
