"""A person at the terminal in the system seat."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from birdenv.dialogue import Move, Session
from birdenv.errors import InputError
from birdenv.runs import Setting
from birdenv.tasks import ARGUMENTS, SEPARATOR, Kind, SystemView

__all__ = ["HumanAgent"]

_WORDS: dict[str, Kind] = {
    "ask": "clarify",
    "run": "execute_sql",
    "submit": "submit_sql",
    "schema": "get_schema",
    "columns": "get_all_column_meanings",
    "column": "get_column_meaning",
    "names": "get_all_external_knowledge_names",
    "define": "get_knowledge_definition",
    "knowledge": "get_all_knowledge_definitions",
}


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
            print(f"\n{view.instruction}")
            self._introduced = True
        print(f"\n[{view.sender}] {view.message}")
        possible = [word for word, action in _WORDS.items() if action in view.legal]
        print(f"({_left(view, possible)}type {_help(possible)})")
        while True:
            try:
                word, _, rest = input("> ").strip().partition(" ")
            except EOFError:
                return Move("quit")
            if word == "quit":
                return Move("quit")
            if word in possible and (rest.strip() or not ARGUMENTS[_WORDS[word]]):
                return Move(_WORDS[word], rest.strip())
            if word == "show":
                print(view.instruction)
            elif word in possible:
                print(f"{word} needs text behind it: {_use(word)}")
            else:
                print(f"Type {_help(possible)}")


def _left(view: SystemView, possible: Sequence[str]) -> str:
    if view.budget is not None or set(possible) == {"submit"}:  # what is left of a budget is in the message
        return ""
    return f"{view.turns_left} {'questions' if 'ask' in possible else 'actions'} left; "


def _use(word: str) -> str:
    """`submit SQL`, `column TABLE|COLUMN`, `schema`."""
    return f"{word} {SEPARATOR.join(ARGUMENTS[_WORDS[word]]).upper()}".rstrip()


def _help(possible: Sequence[str]) -> str:
    uses = [_use(word) for word in possible]
    return ", ".join([*uses, "show (the request and schema again)", "or quit (this task)"])
