"""Several statements as one text."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["as_script"]


def as_script(statements: Iterable[str]) -> str:
    """The statements in one submission. The separator stands on a line of its own, behind any comment.

    >>> as_script(["DELETE FROM a; ", "SELECT 1 -- one"])
    'DELETE FROM a\\n;\\nSELECT 1 -- one'
    """
    return "\n;\n".join(statement.strip().rstrip(";") for statement in statements)
