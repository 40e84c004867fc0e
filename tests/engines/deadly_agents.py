"""Agents that end the worker that plays them: their own process is a child of it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from birdenv.dialogue import Move, PlayerContext, View


class First:
    """Submits the first candidate."""

    def __init__(self, argument: str, context: PlayerContext) -> None:
        self.argument = argument
        self.task = context.instance_id

    def move(self, view: View) -> Move:
        self.strike()
        return Move("submit_sql", view.candidates[0])

    def strike(self) -> None:
        """Do nothing."""


class Poison(First):
    """Kills the worker in one task, every time."""

    def strike(self) -> None:
        if self.task == self.argument:
            os.kill(os.getppid(), signal.SIGKILL)


class Once(First):
    """Kills the worker in the first move of the run; the argument is a file that remembers it."""

    def strike(self) -> None:
        mark = Path(self.argument)
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return
        os.kill(os.getppid(), signal.SIGKILL)


class Slow(First):
    """Takes its time, so that a run can be ended in the middle; the argument is a folder for process ids."""

    def strike(self) -> None:
        if self.argument:
            for process in (os.getpid(), os.getppid()):  # the player's, and the worker's
                (Path(self.argument) / f"pid-{process}").touch()
        time.sleep(0.5)
