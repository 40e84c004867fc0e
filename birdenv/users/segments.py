"""Cut gold SQL into labelled parts that a question may be about (BIRD-Interact §3.2, from the syntax tree).

Query blocks are numbered in the order of the source (S1, S2 and so on), and the ids of their parts are
`S1.where.2`, `S1.order` and so on. sqlglot is imported when it is first needed.

`token_segments` cuts at keywords instead, as the published simulators do: a segment runs from one keyword to
the next, at any depth. Text before the first keyword and the end of a nested query are lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from birdenv.sql import quiet_parser
from birdenv.users.sql_in_words import fragment_dialect

_Node: TypeAlias = Any
"""A syntax tree's node: sqlglot renamed the base class, and several versions will do."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a statement: its id, the kind of clause, and its SQL with the clause's keyword.

    `is_inner` is True for parts of a CTE or a subquery, because the rows that these parts restrict or sort
    are not the rows of the result.
    """

    id: str
    clause: str
    sql: str
    is_inner: bool = False


def segments(gold: Sequence[str], dialect: str = "sqlite") -> tuple[Segment, ...]:
    """Return the parts of the statements; a statement that cannot be parsed is a single part, "statement".

    >>> [s.id for s in segments(["SELECT a FROM t WHERE b > 1 AND c = 2 LIMIT 5"])]
    ['S1', 'S1.select', 'S1.select.1', 'S1.from', 'S1.where.1', 'S1.where.2', 'S1.limit']
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    cutter = _Cutter()
    with quiet_parser():
        for text in gold:
            before, blocks = len(cutter.found), cutter.blocks
            for cutter.dialect in (fragment_dialect(), dialect):
                try:
                    statements = sqlglot.parse(text, read=cutter.dialect)
                    if any(isinstance(one, exp.Command) for one in statements) and cutter.dialect != dialect:
                        continue
                    for statement in filter(None, statements):
                        cutter.statement(statement)
                except (SqlglotError, RecursionError):
                    del cutter.found[before:]
                    cutter.inside, cutter.blocks = 0, blocks
                else:
                    break
            else:
                cutter.add(cutter.number(), "statement", text)
    return tuple(cutter.found)


@dataclass
class _Cutter:
    dialect: Any = None
    found: list[Segment] = field(default_factory=list)
    blocks: int = 0
    inside: int = 0

    def number(self) -> str:
        self.blocks += 1
        return f"S{self.blocks}"

    def add(self, name: str, clause: str, sql: str) -> None:
        self.found.append(Segment(name, clause, sql, self.inside > 0))

    def sql(self, node: _Node) -> str:
        return str(node.sql(dialect=self.dialect, comments=False, normalize_functions=False))

    def listed(self, name: str, clause: str, prefix: str, nodes: Iterable[_Node]) -> None:
        for i, node in enumerate(nodes, 1):
            self.add(f"{name}.{clause}.{i}", clause, prefix + self.sql(node))

    def statement(self, node: _Node) -> None:
        from sqlglot import exp

        if isinstance(node, exp.Subquery):
            self.statement(node.this)
            return
        name = self.number()
        self.add(name, "statement", self.sql(node))
        if (ctes := _part(node, "with")) is not None:
            for i, cte in enumerate(ctes.expressions, 1):
                self.add(f"{name}.cte.{i}", "cte", self.sql(cte))
                self._within(cte.this)
        if isinstance(node, exp.Select):
            self._select(name, node)
        elif isinstance(node, exp.SetOperation):
            self._set_operation(name, node)
        else:
            self._change(name, node)

    def _within(self, query: _Node) -> None:
        self.inside += 1
        self.statement(query)
        self.inside -= 1

    def _change(self, name: str, node: _Node) -> None:
        """INSERT, UPDATE, DELETE, CREATE."""
        from sqlglot import exp

        if isinstance(node, exp.Update):
            self.listed(name, "assign", "", node.expressions)
        elif isinstance(node, exp.Insert) and isinstance(node.this, exp.Schema):
            self.add(f"{name}.columns", "columns", ", ".join(map(self.sql, node.this.expressions)))
        elif isinstance(node, exp.Create):
            self._create(name, node)
        elif isinstance(node, exp.Delete):
            self.add(f"{name}.delete", "delete", f"DELETE FROM {self.sql(node.this)}")
        elif node.key in ("alter", "altertable"):
            self.add(f"{name}.alter", "alter", self.sql(node))
        elif match := _TRIGGER.match(self.sql(node)):
            self.add(f"{name}.trigger", "trigger", match[0])
        self._filters(name, node)
        inner = node.args.get("expression")
        if (
            isinstance(node, exp.Insert)
            and isinstance(node.this, exp.Schema)
            and isinstance(inner, exp.Select)
        ):
            pairs = zip(node.this.expressions, inner.expressions, strict=False)
            made = [(self.sql(to), self.sql(what)) for to, what in pairs if what.name != to.name]
            for i, (to, what) in enumerate(made, 1):
                self.add(f"{name}.assign.{i}", "assign", f"{to} = {what}")
        if isinstance(inner, exp.Query):
            self.statement(inner)
        elif isinstance(inner, exp.Values):
            self.add(f"{name}.values", "values", self.sql(inner))

    def _select(self, name: str, node: _Node) -> None:

        if node.args.get("distinct") is not None:
            self.add(f"{name}.distinct", "distinct", "DISTINCT")
        outputs = ", ".join(map(self._output, node.expressions))
        if outputs:
            self.add(f"{name}.select", "output", outputs)
        self.listed(name, "select", "", node.expressions)
        if (source := _part(node, "from")) is not None:
            self.add(f"{name}.from", "from", self.sql(source).strip())
        self.listed(name, "join", "", node.args.get("joins") or ())
        self._filters(name, node)
        for query in self._nested(node):
            self._within(query)

    def _output(self, item: _Node) -> str:
        """Return what a column of the result is called, or else how it is made."""
        from sqlglot import exp

        if item.alias:
            return self.sql(exp.to_identifier(item.alias))
        return self.sql(item.this if isinstance(item, exp.Column) else item)

    def _nested(self, node: _Node) -> list[_Node]:
        """Return the subqueries directly inside this block, not those of its CTEs or of other subqueries."""
        from sqlglot import exp

        with_ = _part(node, "with")
        found: list[_Node] = []
        for child in node.walk(prune=lambda n: n is with_ or (n is not node and isinstance(n, exp.Query))):
            if child is not node and isinstance(child, exp.Query):
                found.append(child)
        return found

    def _filters(self, name: str, node: _Node) -> None:
        from sqlglot import exp

        if (where := node.args.get("where")) is not None:
            self.listed(name, "where", "WHERE ", _conjuncts(where.this, exp.And))
        if (group := node.args.get("group")) is not None:
            self.add(f"{name}.group", "group", self.sql(_without_places(group, node)).strip())
        if (having := node.args.get("having")) is not None:
            self.listed(name, "having", "HAVING ", _conjuncts(having.this, exp.And))
        if (order := node.args.get("order")) is not None:
            self.add(f"{name}.order", "order", self.sql(_without_places(order, node)).strip())
        limits = [self.sql(n).strip() for key in ("limit", "offset") if (n := node.args.get(key)) is not None]
        if limits:
            self.add(f"{name}.limit", "limit", " ".join(limits))

    def _set_operation(self, name: str, node: _Node) -> None:
        word = node.key.upper() + ("" if node.args.get("distinct") else " ALL")
        self.add(f"{name}.set", "set", word)
        self.statement(node.left)
        self.statement(node.right)
        self._filters(name, node)

    def _create(self, name: str, node: _Node) -> None:
        from sqlglot import exp

        target = node.this
        made = f"CREATE {node.kind} {'IF NOT EXISTS ' if node.args.get('exists') else ''}"
        made += self.sql(target.find(exp.Identifier) or target)
        if isinstance(target, exp.Index) and (table := target.args.get("table")) is not None:
            made += f" ON {self.sql(table)}"
        self.add(f"{name}.create", "create", made)
        if isinstance(target, exp.Schema):
            self.listed(name, "column", "", target.expressions)


def _without_places(clause: _Node, query: _Node) -> _Node:
    """Return a GROUP BY or ORDER BY with the columns that it has the numbers of."""
    from sqlglot import exp

    clause = clause.copy()
    shown = query.selects if isinstance(query, exp.Query) else []
    for key in clause.expressions:
        place = key.this if isinstance(key, exp.Ordered) else key
        if isinstance(place, exp.Literal) and place.name.isdigit() and 0 < int(place.name) <= len(shown):
            item = shown[int(place.name) - 1]
            named = exp.column(item.alias) if item.alias else item.copy()
            place.replace(named)
    return clause


_TRIGGER = re.compile(r"(?is)CREATE\s+(?:\w+\s+)*?TRIGGER\b.*?\bON\s+[\w.\"`]+")
"""A trigger up to its table: sqlglot reads no further."""


def _part(node: _Node, key: str) -> _Node:
    """Return a child whose key is a Python keyword; sqlglot spells it with or without an underscore."""
    return node.args.get(f"{key}_") or node.args.get(key)


def _conjuncts(node: _Node, conjunction: type[Any]) -> list[_Node]:
    while node.key == "paren" and isinstance(node.this, conjunction):
        node = node.this
    return list(node.flatten()) if isinstance(node, conjunction) else [node]


_KEYWORDS: Final = (
    "SELECT FROM WHERE GROUP_BY HAVING ORDER_BY LIMIT OFFSET JOIN STRAIGHT_JOIN".split()
)  # names of sqlglot's token types


def token_segments(gold: Sequence[str]) -> tuple[Segment, ...]:
    """Return the segments of the statements between keywords, with the ids T1, T2 and so on.

    A statement without keywords is one segment of clause "statement".

    >>> [(each.clause, each.sql) for each in token_segments(["UPDATE s SET c = 1 WHERE d < 0"])]
    [('where', 'WHERE d < 0')]
    """
    found = [piece for text in gold for piece in _slices(text)]
    return tuple(Segment(f"T{number}", clause, sql) for number, (clause, sql) in enumerate(found, 1))


def _slices(text: str) -> list[tuple[str, str]]:
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        with quiet_parser():
            tokens = sqlglot.tokenize(text, read="postgres")
    except SqlglotError:
        return [("statement", part.strip()) for part in text.split(";") if part.strip()]
    starts = [(token.start, token.token_type.name) for token in tokens if token.token_type.name in _KEYWORDS]
    if not starts:
        return [("statement", text.strip())]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    return [
        (name.removesuffix("_BY").lower(), text[start:end].strip())
        for (start, name), end in zip(starts, ends, strict=True)
    ]
