"""Verdicts between a process that grades and the one that asked, without the results themselves."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Final

from birdenv.databases import QueryError
from birdenv.grading._verdict import ExVerdict

__all__ = ["plain_verdict", "verdict_of", "without_results"]

_NAMES: Final = tuple(f.name for f in fields(ExVerdict) if f.name not in ("gold_result", "pred_result"))


def without_results(verdict: ExVerdict) -> ExVerdict:
    """The verdict alone: rows of a thousand results would fill the memory."""
    return replace(verdict, gold_result=None, pred_result=None)


def plain_verdict(verdict: ExVerdict) -> dict[str, Any]:
    """The verdict as plain values, without the results."""
    plain = {name: getattr(verdict, name) for name in _NAMES}
    error = verdict.error
    plain["error"] = None if error is None else (error.kind, error.message, error.elapsed)
    plain["metrics"] = dict(verdict.metrics)
    return plain


def verdict_of(plain: Any) -> ExVerdict:
    """What `plain_verdict` was given. Raises `ValueError` for anything else."""
    if not isinstance(plain, dict) or tuple(plain) != _NAMES:
        raise ValueError("not a verdict")
    match plain["error"]:
        case None:
            error = None
        case (str() as kind, str() as message, float() as elapsed):
            error = QueryError(kind, message, elapsed)  # type: ignore[arg-type]
        case _:
            raise ValueError("not a verdict")
    return ExVerdict(**{**plain, "error": error})
