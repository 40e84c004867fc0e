"""The two seats and the system's three kinds of action."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict

__all__ = ["KINDS", "MAX_TEXT", "SYSTEM", "USER", "Action", "Kind", "clarify", "execute_sql", "submit_sql"]

SYSTEM, USER = 0, 1
"""Seat indices: the evaluated agent and the simulated (or human) user."""

Kind: TypeAlias = Literal["clarify", "execute_sql", "submit_sql"]

KINDS: tuple[Kind, ...] = ("clarify", "execute_sql", "submit_sql")
"""Index in this tuple = the `kind` of a Gymnasium action."""


MAX_TEXT = 2**16
"""Characters of one action; a longer one is malformed."""


class Action(TypedDict):
    """A member of the environments' action space."""

    kind: int
    text: str


def clarify(question: str) -> Action:
    """Ask the user a question.

    >>> clarify("Which year?")
    {'kind': 0, 'text': 'Which year?'}
    """
    return {"kind": 0, "text": question}


def execute_sql(sql: str) -> Action:
    """Run a statement on the episode's own database and read the result."""
    return {"kind": 1, "text": sql}


def submit_sql(sql: str) -> Action:
    """Hand in the answer; it is graded on pristine data."""
    return {"kind": 2, "text": sql}
