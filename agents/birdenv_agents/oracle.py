"""The oracle submits the gold SQL: the proof that a benchmark can be solved."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from birdenv.dialogue import Move, Session
from birdenv.runs import Setting
from birdenv.tasks import SystemView, as_script
from birdenv.tasks.bird import PrivateBirdTask

__all__ = ["OracleAgent"]


class OracleAgent:
    """Sees the private half of each task; needs no questions."""

    sees_private = True

    def __init__(self, argument: str, setting: Setting) -> None:
        del argument, setting

    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        if isinstance(private, PrivateBirdTask):
            return _OracleSession([private.gold[0]])  # several golds are alternatives
        follow_up = private.follow_up.gold if private.follow_up else ()
        return _OracleSession([as_script(private.gold), as_script(follow_up)])


class _OracleSession:
    """`answers` holds one script a phase."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = answers

    def move(self, view: SystemView) -> Move:
        return Move("submit_sql", self._answers[view.phase - 1])
