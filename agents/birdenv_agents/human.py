"""A person at the terminal in the system seat."""

from __future__ import annotations

from random import Random
from typing import Any

from birdenv.dialogue import Move, Session
from birdenv.errors import InputError
from birdenv.runs import Setting
from birdenv.tasks import SystemView

__all__ = ["HumanAgent"]

_WORDS = {"ask": "clarify", "run": "execute_sql", "submit": "submit_sql"}
_HELP = "Type `ask QUESTION`, `run SQL`, `submit SQL`, or `quit` to leave this task. One line each."


class HumanAgent:
    """Reads moves from standard input; the end of input leaves the task."""

    sees_private = False

    def __init__(self, argument: str, setting: Setting) -> None:
        del setting
        if argument:
            raise InputError("the agent `human` takes no argument")

    def new_session(self, task: Any, rng: Random, private: Any = None) -> Session:
        return _TerminalSession()


class _TerminalSession:
    def __init__(self) -> None:
        self._introduced = False

    def move(self, view: SystemView) -> Move:
        if not self._introduced:
            print(f"\n{view.instruction}\n\n{_HELP}")
            self._introduced = True
        print(f"\n[{view.sender}] {view.message}\n({view.turns_left} left)")
        while True:
            try:
                word, _, rest = input("> ").strip().partition(" ")
            except EOFError:
                return Move("quit")
            if word == "quit":
                return Move("quit")
            if word in _WORDS and rest.strip():
                return Move(_WORDS[word], rest.strip())
            print(_HELP)
