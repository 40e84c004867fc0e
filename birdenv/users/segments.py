"""Cut gold SQL into labelled parts that a question may be about (BIRD-Interact §3.2).

`segments` cuts along the syntax tree. Query blocks are numbered as they occur in the source (S1, S2 and so
on), and their parts have ids such as `S1.where.2` and `S1.order`. sqlglot is imported on first use.

`token_segments` cuts at keywords, as the published simulators do: a segment extends from one keyword to the
next, at any depth. Text before the first keyword is lost, and so is the end of a nested query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from birdenv.sql import quiet_parser
from birdenv.users.sql_in_words import Node, fragment_dialect, part_of


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a statement.

    Attributes:
        id: the id, such as `S1.where.2`.
        clause: the kind of clause, such as `where`.
        sql: the SQL, with the clause's keyword.
        is_inner: True if the part belongs to a CTE or a subquery, and so restricts or sorts rows that are not
            the rows of the result.
    """

    id: str
    clause: str
    sql: str
    is_inner: bool = False


@lru_cache(maxsize=64)
def segments(gold: tuple[str, ...]) -> tuple[Segment, ...]:
    """Return the parts of the statements. A statement that cannot be parsed becomes one part, "statement".

    >>> [s.id for s in segments(("SELECT a FROM t WHERE b > 1 AND c = 2 LIMIT 5",))]
    ['S1', 'S1.select', 'S1.select.1', 'S1.from', 'S1.where.1', 'S1.where.2', 'S1.limit']
    """
    from sqlglot import exp

    cutter = _Cutter(exp)
    with quiet_parser():
        for text in gold:
            cutter.cut(text)
    return tuple(cutter.found)


@dataclass
class _Cutter:
    exp: Any
    """The module `sqlglot.exp`."""

    found: list[Segment] = field(default_factory=list)
    blocks: int = 0
    inside: int = 0

    def cut(self, text: str) -> None:
        """Add the parts of a text, or the whole text if it cannot be parsed."""
        import sqlglot
        from sqlglot.errors import SqlglotError

        before, blocks = len(self.found), self.blocks
        try:
            for statement in filter(None, sqlglot.parse(text, read=fragment_dialect())):
                self.statement(statement)
        except (SqlglotError, RecursionError):
            del self.found[before:]
            self.inside, self.blocks = 0, blocks
            self.add(self.number(), "statement", text)

    def number(self) -> str:
        self.blocks += 1
        return f"S{self.blocks}"

    def add(self, name: str, clause: str, sql: str) -> None:
        self.found.append(Segment(name, clause, sql, self.inside > 0))

    def listed(self, name: str, clause: str, parts: Iterable[str]) -> None:
        for i, sql in enumerate(parts, 1):
            self.add(f"{name}.{clause}.{i}", clause, sql)

    def sql(self, node: Node) -> str:
        return str(node.sql(dialect=fragment_dialect(), comments=False, normalize_functions=False)).strip()

    def statement(self, node: Node) -> None:
        if isinstance(node, self.exp.Subquery):
            self.statement(node.this)
            return
        name = self.number()
        self.add(name, "statement", self.sql(node))
        ctes = part_of(node, "with")
        for i, cte in enumerate(ctes.expressions if ctes is not None else (), 1):
            self.add(f"{name}.cte.{i}", "cte", self.sql(cte))
            self._within(cte.this)
        if isinstance(node, self.exp.Select):
            self._select(name, node)
        elif isinstance(node, self.exp.SetOperation):
            self.add(f"{name}.set", "set", node.key.upper() + " ALL" * (not node.args.get("distinct")))
            self.statement(node.left)
            self.statement(node.right)
            self._filters(name, node)
        else:
            self._change(name, node)

    def _within(self, query: Node) -> None:
        self.inside += 1
        self.statement(query)
        self.inside -= 1

    def _select(self, name: str, node: Node) -> None:
        if node.args.get("distinct") is not None:
            self.add(f"{name}.distinct", "distinct", "DISTINCT")
        if node.expressions:
            self.add(f"{name}.select", "output", ", ".join(map(self._output, node.expressions)))
        self.listed(name, "select", map(self.sql, node.expressions))
        if (source := part_of(node, "from")) is not None:
            self.add(f"{name}.from", "from", self.sql(source))
        self.listed(name, "join", map(self.sql, node.args.get("joins") or ()))
        self._filters(name, node)
        with_ = part_of(node, "with")
        for query in list(node.walk(prune=lambda n: n is with_ or self._is_nested(n, node))):
            if self._is_nested(query, node):
                self._within(query)

    def _is_nested(self, child: Node, node: Node) -> bool:
        return child is not node and isinstance(child, self.exp.Query)

    def _output(self, item: Node) -> str:
        """Return the name of an output column, or its expression if it has no name.

        A letter is no name of a plain figure: `COUNT(*) AS n` is the number, not "the n".
        """
        exp, bare = self.exp, item.unalias()
        is_plain = len(list(bare.find_all(exp.Column))) < 2 and not bare.find(exp.Literal, exp.Query)
        if item.alias and not (is_plain and len(item.alias) == 1):
            return self.sql(exp.to_identifier(item.alias))
        return self.sql(bare.this if isinstance(bare, exp.Column) else bare)

    def _filters(self, name: str, node: Node) -> None:
        for key in ("where", "group", "having", "order"):
            if (part := node.args.get(key)) is None:
                continue
            if key in ("where", "having"):
                bare = part.this.unnest()
                conditions = bare.flatten() if isinstance(bare, self.exp.And) else [part.this]
                self.listed(name, key, (f"{key.upper()} {self.sql(one)}" for one in conditions))
            else:
                self.add(f"{name}.{key}", key, self.sql(self._without_places(part, node)))
        limits = [self.sql(n) for key in ("limit", "offset") if (n := node.args.get(key)) is not None]
        if limits:
            self.add(f"{name}.limit", "limit", " ".join(limits))

    def _without_places(self, clause: Node, query: Node) -> Node:
        """Return a GROUP BY or ORDER BY in which column numbers are replaced by the columns."""
        clause = clause.copy()
        shown = query.selects if isinstance(query, self.exp.Query) else []
        for key in clause.expressions:
            place = key.this if isinstance(key, self.exp.Ordered) else key
            if (
                isinstance(place, self.exp.Literal)
                and place.name.isdigit()
                and 0 < int(place.name) <= len(shown)
            ):
                item = shown[int(place.name) - 1]
                place.replace(self.exp.column(item.alias) if item.alias else item.copy())
        return clause

    def _change(self, name: str, node: Node) -> None:
        """Add the parts of INSERT, UPDATE, DELETE, CREATE and so on."""
        exp, target, inner = self.exp, node.this, node.args.get("expression")
        columns = target.expressions if isinstance(target, exp.Schema) else []
        if isinstance(node, exp.Update):
            self.listed(name, "assign", map(self.sql, node.expressions))
        elif isinstance(node, exp.Insert) and columns:
            self.add(f"{name}.columns", "columns", ", ".join(map(self.sql, columns)))
        elif isinstance(node, exp.Create):
            self._create(name, node)
        elif isinstance(node, exp.Delete):
            self.add(f"{name}.delete", "delete", f"DELETE FROM {self.sql(target)}")
        elif node.key in ("alter", "altertable"):
            self.add(f"{name}.alter", "alter", self.sql(node))
        elif match := _TRIGGER.match(self.sql(node)):
            self.add(f"{name}.trigger", "trigger", match[0])
        self._filters(name, node)
        if isinstance(node, exp.Insert) and isinstance(inner, exp.Select):
            pairs = list(zip(columns, inner.expressions, strict=False))
            copied = [to for to, what in pairs if isinstance(what, exp.Column) and what.name == to.name]
            made = (f"{self.sql(to)} = {self.sql(what)}" for to, what in pairs if to not in copied)
            self.listed(name, "assign", made)
            source, steps = part_of(inner, "from"), part_of(node, "with") or part_of(inner, "with")
            if copied and source is not None and isinstance(source.this, exp.Table) and not steps:
                self.add(f"{name}.copied", "copied", ", ".join(map(self.sql, copied)))
        if isinstance(inner, exp.Query):
            self.statement(inner)
        elif isinstance(inner, exp.Values):
            self.add(f"{name}.values", "values", self.sql(inner))

    def _create(self, name: str, node: Node) -> None:
        target = node.this
        made = f"CREATE {node.kind} {'IF NOT EXISTS ' if node.args.get('exists') else ''}"
        made += self.sql(target.find(self.exp.Identifier) or target)
        if isinstance(target, self.exp.Index) and (table := target.args.get("table")) is not None:
            made += f" ON {self.sql(table)}"
            params = target.args.get("params")
            key = [self.sql(entry) for entry in params.args.get("columns") or ()] if params else []
            if key and all(map(str.isidentifier, key)):
                self.add(f"{name}.key", "key", f"({', '.join(key)})")
        self.add(f"{name}.create", "create", made)
        if isinstance(target, self.exp.Schema):
            self.listed(name, "column", map(self.sql, target.expressions))


def is_key(sql: str, gold: tuple[str, ...]) -> bool:
    """Return True if a snippet is the list of the columns of an index that the gold statements create."""
    keys = (part.sql for part in segments(gold) if part.clause == "key")
    return "".join(sql.split()).lower() in ("".join(key.split()).lower() for key in keys)


_TRIGGER = re.compile(r"(?is)CREATE\s+(?:\w+\s+)*?TRIGGER\b.*?\bON\s+[\w.\"`]+")
"""A trigger up to its table: sqlglot reads no further."""


_KEYWORDS: Final = (
    "SELECT FROM WHERE GROUP_BY HAVING ORDER_BY LIMIT OFFSET JOIN STRAIGHT_JOIN".split()
)  # names of sqlglot's token types


def token_segments(gold: Sequence[str]) -> tuple[Segment, ...]:
    """Cut statements at keywords, and return the segments, with the ids T1, T2 and so on.

    A statement without keywords becomes one segment, with the clause "statement".

    >>> [(each.clause, each.sql) for each in token_segments(["UPDATE s SET c = 1 WHERE d < 0"])]
    [('where', 'WHERE d < 0')]
    """
    found = (piece for text in gold for piece in _slices(text))
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
