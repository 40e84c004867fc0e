"""What a task says on another engine than the one that it was written for; several statements as one text.

A record's `by_dialect` holds fields by dialect: `{"postgres": {"sol_sql": [...], "follow_up": {...}}}`. They
take the place of the record's own, objects field by field. This is birdenv's own addition, for the demo; the
public benchmarks have a file for each engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from birdenv.errors import InputError

_FIELD: Final = "by_dialect"


def in_dialect(record: Mapping[str, Any], dialect: str, where: str) -> dict[str, Any]:
    """The record as it is on that engine. Raises `InputError` naming `where` if `by_dialect` is no object.

    >>> in_dialect({"SQL": "SELECT 1", "by_dialect": {"postgres": {"SQL": "SELECT 2"}}}, "postgres", "here")
    {'SQL': 'SELECT 2'}
    """
    plain = {key: value for key, value in record.items() if key != _FIELD}
    variants = record.get(_FIELD) or {}
    if not isinstance(variants, dict) or not all(isinstance(each, dict) for each in variants.values()):
        raise InputError(f"{where}: the field `{_FIELD}` must be an object that holds one for each dialect")
    return _merged(plain, variants.get(dialect, {}))


def _merged(record: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(record)
    for key, value in changes.items():
        before = merged.get(key)
        both = isinstance(before, dict) and isinstance(value, dict)
        merged[key] = _merged(before, value) if both and before is not None else value
    return merged


def as_script(statements: Iterable[str]) -> str:
    """The statements in one submission. The separator stands on a line of its own, behind any comment.

    >>> as_script(["DELETE FROM a; ", "SELECT 1 -- one"])
    'DELETE FROM a\\n;\\nSELECT 1 -- one'
    """
    return "\n;\n".join(statement.strip().rstrip(";") for statement in statements)
