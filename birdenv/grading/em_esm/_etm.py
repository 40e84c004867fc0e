"""ETM, structural match: do two queries become the same SQL when they are optimised and put in order?

In the spirit of ETM (Ascoli et al., arXiv 2407.07313): sqlglot's optimiser and the cheap ones of its rules,
none of those about keys and constraints. It says yes very rarely, and then nearly always rightly: a diagnosis
beside EM, never a gate. Unlike in EX the order of the SELECT list does not count, as in ETM.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

Schema: TypeAlias = Mapping[str, Mapping[str, str]]
"""Table -> column -> declared type."""

SCHEMA_QUERIES: Final = {
    "sqlite": "SELECT m.name, p.name, coalesce(nullif(p.type, ''), 'text') FROM sqlite_master AS m, "
    "pragma_table_info(m.name) AS p WHERE m.type IN ('table', 'view')",
    "postgres": "SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns "
    "WHERE table_schema = ANY (current_schemas(false))",
}
"""What a database answers with rows of table, column and type."""

_LONGEST_SQL: Final = 20_000  # characters; the optimiser's time grows faster than the text


def structural_match(gold: str, pred: str, schema: Schema, dialect: str) -> bool | None:
    """Whether the queries are the same SQL in normal form; None if the gold cannot be optimised.

    `dialect`: `sqlite` or `postgres`. A prediction that cannot be optimised does not match.
    """
    expected = _normal_form(gold, schema, dialect)
    return None if expected is None else _normal_form(pred, schema, dialect) == expected


def _normal_form(sql: str, schema: Schema, dialect: str) -> str | None:
    if len(sql) > _LONGEST_SQL:
        return None
    from sqlglot import exp, parse_one
    from sqlglot.optimizer import optimize

    from birdenv.grading.em_esm._etm_rules import in_normal_form, without_shorthand

    try:
        tree = parse_one(sql, dialect=dialect)
        if not isinstance(tree, (exp.Query, exp.Subquery)):
            return None
        known: dict[str, object] = {table: dict(columns) for table, columns in schema.items()}
        optimised = optimize(without_shorthand(tree), schema=known, dialect=dialect)
        text: str = in_normal_form(optimised).sql(dialect=dialect)
        return text
    except Exception:  # a parser and forty rewrite rules on text of any content: every fault means "cannot"
        return None
