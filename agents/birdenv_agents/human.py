"""A person at the terminal, in any seat of any game."""

from __future__ import annotations

import json
from typing import Any

from birdenv.dialogue import Action, Move, PlayerContext, Seat, View, find_game
from birdenv.errors import InputError

__all__ = ["human"]

_SHORT = {
    "clarify": "ask",
    "execute_sql": "run",
    "submit_sql": "submit",
    "get_schema": "schema",
    "get_all_column_meanings": "columns",
    "get_column_meaning": "column",
    "get_all_external_knowledge_names": "names",
    "get_knowledge_definition": "define",
    "get_all_knowledge_definitions": "knowledge",
}


def human(argument: str, context: PlayerContext) -> Terminal:
    """Make the player that reads moves from standard input; the end of input leaves the dialogue.

    Raises:
        InputError: there is an argument.
    """
    if argument:
        raise InputError("the agent `human` takes no argument")
    return Terminal(find_game(context.game).seats[context.seat])


class Terminal:
    """Shows the dialogue on standard output and reads one move a line."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._introduced = False
        self._actions = {_SHORT.get(action.name, action.name): action for action in seat.actions}

    def move(self, view: View) -> Move | None:
        """Show what was said since, and read a move."""
        if not self._introduced:
            print(f"\n{view.instruction}")
            self._introduced = True
        if view.message:
            print(f"\n[{view.sender}] {view.message}")
        possible = {word: action for word, action in self._actions.items() if action.name in view.legal}
        print(f"({_left(view)}type {self._help(possible, view)})")
        while True:
            try:
                line = input("> ").strip()
            except EOFError:
                return Move("quit")
            word, _, rest = line.partition(" ")
            action = possible.get(word)
            if word == "quit":
                return Move("quit")
            if word == "wait" and view.waits:
                return None
            if word == "show":
                print(view.instruction)
            elif action is None:
                print(f"Type {self._help(possible, view)}")
            else:
                data = _data(action, rest.strip(), view)
                if action.fault(data, view.choices) is None:
                    return Move(action.name, data)
                print(f"{word} needs more after it: {_use(word, action)}")

    def _help(self, possible: dict[str, Action], view: View) -> str:
        uses = [_use(word, action) for word, action in possible.items()]
        waiting = ["wait"] if view.waits else []
        return ", ".join([*uses, *waiting, "show (the instruction again)", "or quit"])


def _data(action: Action, text: str, view: View) -> Any:
    """The data of a move from the words after its name: texts as they are, several fields by `|`."""
    if not action.fields:
        return None
    parts = text.split("|", len(action.fields) - 1)
    values = {
        field.name: _value(field.kind, part.strip(), view)
        for field, part in zip(action.fields, parts, strict=False)
    }
    return action.data_of(values) if set(values) == {field.name for field in action.fields} else None


def _value(kind: str, text: str, view: View) -> Any:
    if kind in ("text", "code"):
        return text
    if kind == "item":
        place = int(text) - 1 if text.isdecimal() else -1
        return view.choices[place] if 0 <= place < len(view.choices) else text
    try:
        return json.loads(text)
    except ValueError:
        return None


def _left(view: View) -> str:
    gauges = [f"{value:g} {name.replace('_', ' ')}" for name, value in view.gauges.items()]
    return f"{', '.join(gauges)}; " if gauges else ""


def _use(word: str, action: Action) -> str:
    """`submit SQL`, `column TABLE|COLUMN`, `schema`."""
    return f"{word} {'|'.join(field.name.upper() for field in action.fields)}".rstrip()
