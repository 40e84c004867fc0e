"""Read the schema and contents of a PostgreSQL database (`DatabaseState`).

The schema is read from the system catalogs. Names in the schema `public` are not qualified. Owners,
privileges, comments, and objects that belong to extensions are omitted. Object ids affect only the order of
tables in `schema_text`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from birdenv.databases._results import (
    Allowance,
    DatabaseState,
    QueryError,
    QueryResult,
    Result,
    SchemaObject,
    bytes_of,
)
from birdenv.databases.postgres._session import Session

_OURS: Final = """
  n.nspname <> 'information_schema' AND NOT starts_with(n.nspname, 'pg_') AND NOT EXISTS (
    SELECT 1 FROM pg_depend AS x
    WHERE x.classid = '{catalog}'::regclass AND x.objid = {object} AND x.deptype = 'e')
"""
_NAME: Final = "CASE WHEN n.nspname = 'public' THEN {name} ELSE n.nspname || '.' || {name} END"
_IDENTIFIER: Final = "c.oid::regclass::text"
_RELATIONS: Final = f"""
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE {_OURS.format(catalog="pg_class", object="c.oid")}
"""
_ROUTINES: Final = f"""
  FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
  WHERE {_OURS.format(catalog="pg_proc", object="p.oid")}
"""
_TYPES: Final = f"""
  FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace
  WHERE {_OURS.format(catalog="pg_type", object="t.oid")}
"""
_TRIGGERS: Final = """
  FROM pg_trigger AS g JOIN pg_class AS c ON c.oid = g.tgrelid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE NOT g.tgisinternal AND n.nspname <> 'information_schema' AND NOT starts_with(n.nspname, 'pg_')
"""
_FREE_SEQUENCE: Final = """
  c.relkind = 'S' AND NOT EXISTS (SELECT 1 FROM pg_depend AS x WHERE x.classid = 'pg_class'::regclass
    AND x.objid = c.oid AND x.deptype IN ('a', 'i'))
"""
"""Sequences that belong to no column. (A column's own sequence also counts rows that were rolled back.)"""

_COLUMNS: Final = """
  SELECT jsonb_agg(jsonb_build_object(
    'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'not_null', a.attnotnull,
    'default', pg_get_expr(d.adbin, d.adrelid), 'identity', a.attidentity, 'generated', a.attgenerated,
    'collation', CASE WHEN a.attcollation <> y.typcollation THEN a.attcollation::regcollation::text END
  ) ORDER BY a.attnum)
  FROM pg_attribute AS a JOIN pg_type AS y ON y.oid = a.atttypid
  LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
"""
_VIEW_COLUMNS: Final = """
  SELECT jsonb_agg(jsonb_build_array(a.attname, format_type(a.atttypid, a.atttypmod)) ORDER BY a.attnum)
  FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
"""
_CONSTRAINTS: Final = """
  SELECT jsonb_agg(k.text ORDER BY k.text COLLATE "C") FROM (
    SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint
    WHERE conrelid = c.oid AND contype IN ('c', 'f', 'p', 'u', 'x')) AS k
"""
_INDEXES: Final = """
  SELECT jsonb_agg(i.text ORDER BY i.text COLLATE "C") FROM (
    SELECT pg_get_indexdef(indexrelid) AS text FROM pg_index WHERE indrelid = c.oid
    AND NOT EXISTS (
      SELECT 1 FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))) AS i
"""
_SCHEMA: Final = f"""
SELECT 'table ' || {_NAME.format(name="c.relname")}, jsonb_build_object(
    'columns', ({_COLUMNS}), 'constraints', ({_CONSTRAINTS}), 'indexes', ({_INDEXES}),
    'partitioned_by', pg_get_partkeydef(c.oid), 'partition', pg_get_expr(c.relpartbound, c.oid),
    'row_security', c.relrowsecurity)
  {_RELATIONS} AND c.relkind IN ('r', 'p', 'f')
UNION ALL
SELECT 'view ' || {_NAME.format(name="c.relname")},
    jsonb_build_object('columns', ({_VIEW_COLUMNS}), 'materialized', c.relkind = 'm')
  {_RELATIONS} AND c.relkind IN ('v', 'm')
UNION ALL
SELECT 'sequence ' || {_NAME.format(name="c.relname")}, (
    SELECT jsonb_build_array(seqtypid::regtype, seqstart, seqincrement, seqmin, seqmax, seqcycle)
    FROM pg_sequence WHERE seqrelid = c.oid)
  {_RELATIONS} AND {_FREE_SEQUENCE}
UNION ALL
SELECT 'trigger ' || {_NAME.format(name="c.relname")} || '.' || g.tgname,
    jsonb_build_object('table', c.relname, 'text', pg_get_triggerdef(g.oid), 'enabled', g.tgenabled)
  {_TRIGGERS}
UNION ALL
SELECT 'routine ' || {_NAME.format(name="p.proname")}
    || '(' || pg_get_function_identity_arguments(p.oid) || ')',
    jsonb_build_object('kind', p.prokind, 'result', pg_get_function_result(p.oid),
      'text', CASE WHEN p.prokind <> 'a' THEN regexp_replace(pg_get_functiondef(p.oid), '\\s+', ' ', 'g') END)
  {_ROUTINES}
UNION ALL
SELECT 'type ' || {_NAME.format(name="t.typname")}, jsonb_build_object(
    'kind', t.typtype, 'base', CASE WHEN t.typbasetype <> 0 THEN format_type(t.typbasetype, t.typtypmod) END,
    'not_null', t.typnotnull, 'default', t.typdefault,
    'labels', (SELECT jsonb_agg(enumlabel ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid),
    'checks', (SELECT jsonb_agg(k.text ORDER BY k.text COLLATE "C") FROM (
      SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE contypid = t.oid) AS k),
    'columns', (SELECT jsonb_agg(jsonb_build_array(attname, format_type(atttypid, atttypmod)) ORDER BY attnum)
      FROM pg_attribute WHERE attrelid = t.typrelid AND attnum > 0 AND NOT attisdropped))
  {_TYPES} AND (t.typtype IN ('d', 'e', 'r')
    OR t.typtype = 'c' AND EXISTS (SELECT 1 FROM pg_class WHERE oid = t.typrelid AND relkind = 'c'))
ORDER BY 1
"""
_DEFINITIONS: Final = f"""
SELECT pg_get_viewdef(c.oid) {_RELATIONS} AND c.relkind IN ('v', 'm')
UNION SELECT pg_get_functiondef(p.oid) {_ROUTINES} AND p.prokind <> 'a'
UNION SELECT pg_get_triggerdef(g.oid) {_TRIGGERS}
UNION SELECT pg_get_expr(d.adbin, d.adrelid)
  FROM pg_attrdef AS d JOIN pg_class AS c ON c.oid = d.adrelid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE {_OURS.format(catalog="pg_class", object="c.oid")}
UNION SELECT pg_get_constraintdef(k.oid)
  FROM pg_constraint AS k JOIN pg_namespace AS n ON n.oid = k.connamespace
  WHERE k.contype = 'c' AND {_OURS.format(catalog="pg_constraint", object="k.oid")}
"""
_CONTENTS: Final = f"""
SELECT {_NAME.format(name="c.relname")}, 'SELECT * FROM ' || c.oid::regclass
  {_RELATIONS} AND c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition
UNION ALL
SELECT {_NAME.format(name="c.relname")}, 'SELECT last_value, is_called FROM ' || c.oid::regclass
  {_RELATIONS} AND {_FREE_SEQUENCE}
ORDER BY 1
"""
_TABLES: Final = f"""
SELECT {_IDENTIFIER}, (
    SELECT jsonb_agg(quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
      || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
      || CASE WHEN a.attgenerated <> ''
                THEN format(' GENERATED ALWAYS AS (%s) STORED', pg_get_expr(d.adbin, d.adrelid))
              WHEN a.attidentity <> '' THEN ' GENERATED BY DEFAULT AS IDENTITY'
              ELSE coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') END
      ORDER BY a.attnum)
    FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), (
    SELECT jsonb_agg(k.text ORDER BY k.place, k.text COLLATE "C") FROM (
      SELECT pg_get_constraintdef(oid) AS text, strpos('pufc', contype::text) AS place FROM pg_constraint
      WHERE conrelid = c.oid AND contype IN ('p', 'u', 'f', 'c')) AS k)
  {_RELATIONS} AND c.relkind IN ('r', 'p', 'f') AND NOT c.relispartition
ORDER BY c.oid
"""


class _UnreadableError(Exception):
    def __init__(self, error: QueryError) -> None:
        super().__init__(error.message)
        self.error = error


def read_state(
    session: Session, like: DatabaseState | None, allowance: Callable[[], Allowance]
) -> DatabaseState | QueryError:
    """Return the committed schema and contents of a database.

    In the schema, the key of a trigger includes the name of its table, and the key of a routine includes its
    argument types. Catalog queries look up names in `pg_catalog` only, because a graded script may have
    created objects with the same names.

    Args:
        session: the session to read in, which no other code may use at the same time.
        like: a state to compare with, or None. If the schemas differ, the contents are not read.
        allowance: a function that returns the limits on the next statement. Its limit on bytes also applies
            to the contents as a whole.
    """
    session.command("SET search_path = pg_catalog, pg_temp")
    try:
        schema: dict[str, SchemaObject] = dict(sorted(_rows(session, _SCHEMA, allowance())))
        texts = tuple(sorted(text for (text,) in _rows(session, _DEFINITIONS, allowance()) if text))
        if like is not None and like.schema != schema:
            return DatabaseState(schema, {}, texts)
        queries: dict[str, str] = dict(sorted(_rows(session, _CONTENTS, allowance())))
    except _UnreadableError as unreadable:
        return unreadable.error
    session.command("SET search_path = public")  # functions of views need it
    contents: dict[str, Result] = {}
    left = allowance().bytes
    for key, sql in queries.items():
        content = contents[key] = _content(session, sql, replace(allowance(), bytes=left))
        left -= bytes_of(content.rows) if isinstance(content, QueryResult) else 0
        if session.is_lost:
            return content if isinstance(content, QueryError) else QueryError("engine", "no state")
    return DatabaseState(schema, contents, texts)


def read_schema_text(session: Session, allowance: Allowance) -> str | QueryError:
    """Return the CREATE TABLE statements in creation order, or an error."""
    found = session.run(_TABLES, allowance)
    if isinstance(found, QueryError):
        return found
    texts = []
    for name, columns, constraints in found.rows:
        lines = ",\n".join(f"    {line}" for line in [*(columns or []), *(constraints or [])])
        texts.append(f"CREATE TABLE {name} (\n{lines}\n);")
    return "\n\n".join(texts)


def _content(session: Session, sql: str, allowance: Allowance) -> Result:
    """Return the rows of a table or view. The transaction is read-only, as a view may call any function."""
    failure = session.command("BEGIN TRANSACTION READ ONLY")
    result = failure or session.run(sql, allowance)
    session.command("ROLLBACK")
    return result


def _rows(session: Session, sql: str, allowance: Allowance) -> list[tuple[Any, ...]]:
    result = session.run(sql, allowance)
    if isinstance(result, QueryError):
        raise _UnreadableError(result)
    return list(result.rows)
