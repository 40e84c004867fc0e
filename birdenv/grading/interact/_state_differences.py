"""Do two databases hold the same? Schema and contents, object by object."""

from __future__ import annotations

from collections.abc import Iterator

from birdenv.databases import (
    DatabaseState,
    QueryError,
    QueryResult,
    Result,
)
from birdenv.grading.compare._multiset import compare_multiset


def first_difference(gold: DatabaseState, pred: DatabaseState) -> str:
    """One line on the first difference in schema, then in contents; empty if there is none.

    Rows of tables and results of views are compared as multisets (`compare_multiset`); views that fail are
    equal if they fail with the same message. Private to graders.
    """
    return next(_differences(gold, pred), ("", ""))[1]


def changed_objects(before: DatabaseState, after: DatabaseState) -> frozenset[str]:
    """Names of what differs: schema keys (`table orders`) and, for contents, `rows of orders`."""
    return frozenset(name for name, _ in _differences(before, after))


def unreadable(state: DatabaseState) -> str:
    """One line on the first object whose contents could not be read whole; empty if all could.

    A view that fails for what it says (a missing table) is a readable fact, not counted here.
    """
    for name, content in sorted(state.contents.items()):
        if isinstance(content, QueryError) and content.kind in ("timeout", "too_large"):
            return f"{name} could not be read: {content.message}"
        if isinstance(content, QueryResult) and content.truncated:
            return f"{name} has more than {len(content.rows)} rows"
    return ""


def _differences(gold: DatabaseState, pred: DatabaseState) -> Iterator[tuple[str, str]]:
    for key in sorted(gold.schema.keys() | pred.schema.keys()):
        if key not in pred.schema:
            yield key, f"{key} is expected and not there"
        elif key not in gold.schema:
            yield key, f"{key} is there and not expected"
        elif gold.schema[key] != pred.schema[key]:
            yield key, f"the definition of {key} differs"
    for name in sorted(gold.contents.keys() | pred.contents.keys()):
        difference = _content_difference(gold.contents.get(name), pred.contents.get(name))
        if difference:
            yield f"rows of {name}", f"{name}: {difference}"


def _content_difference(gold: Result | None, pred: Result | None) -> str:
    if isinstance(gold, QueryResult) and isinstance(pred, QueryResult):
        return compare_multiset(gold, pred).reason
    if isinstance(gold, QueryError) and isinstance(pred, QueryError):
        return "" if gold == pred else f"fails otherwise than expected: {pred.message}"
    if isinstance(pred, QueryError):
        return f"cannot be read: {pred.message}"
    return "can be read and should not be" if pred is not None else "is not there"
