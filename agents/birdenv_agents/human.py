"""A person at the terminal, in any seat of any game."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from birdenv.dialogue import Action, Move, PlayerContext, Seat, View
from birdenv.dialogue.games import find_game
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
_LEAVING = ("quit", "exit")
_ABOUT = {"show": "show (the instruction again)", "help": "help (this line)"}
_HARD_WRAPPED = 70  # the length from which a line may continue on the next line
_SQL = re.compile(
    r"\s*(select|insert|update|delete|create|drop|with\s+(recursive\s+)?\w+\s+as)\b", re.IGNORECASE
)


def human(argument: str, context: PlayerContext) -> Terminal:
    """Return a player that reads moves from standard input, and quits at the end of the input.

    Raises:
        InputError: an argument was given.
    """
    if argument:
        raise InputError("the agent `human` takes no argument")
    return Terminal(find_game(context.game).seats[context.seat])


class Terminal:
    """A person at the terminal, who sees the dialogue and types moves.

    A move is a command and its argument. SQL can have several lines; it ends with an empty line, or with `;`
    at the end of a line. A line without a command is a question if questions are possible.
    """

    def __init__(self, seat: Seat) -> None:
        # Where people write SQL, the guide repeats the instruction, and describes the web page.
        self._guide = "" if any(map(_is_code, seat.actions)) else seat.guide
        self._introduced = False
        self._actions = {_SHORT.get(action.name, action.name): action for action in seat.actions}
        spoken = (word for word, a in self._actions.items() if [f.kind for f in a.fields] == ["text"])
        self._spoken = next(spoken, "")

    def move(self, view: View) -> Move | None:
        """Show what has been said since the last move, and return the move that the person types next."""
        if not self._introduced:
            told = [] if self._guide in view.instruction else [self._guide]
            print("\n" + readable("\n\n".join([*told, view.instruction])))
            self._introduced = True
        self._show_message(view)
        possible = {word: action for word, action in self._actions.items() if action.name in view.legal}
        print(f"({_left(view)}{', '.join([*possible, *self._further(view, possible)])})")
        while True:
            try:
                line = _read(lambda text: _is_whole(text, possible)).strip()
            except EOFError:
                return Move("quit")
            word, _, rest = line.partition(" ")
            if word in _LEAVING and word not in self._actions:
                return Move("quit")
            if word == "help" and word not in self._actions:
                print(readable(f"Type {self._help(possible, view)}"))
                continue
            if word == "wait" and view.waits:
                return None
            if word == "show":
                print(readable(view.instruction))
                continue
            if word not in possible and self._is_question(line, word, possible):
                word, rest = self._spoken, line
            action = possible.get(word)
            if action is None:
                sql = "That reads like SQL: type a word before it. " if _SQL.match(line) else ""
                print(readable(f"{sql}Type {self._help(possible, view)}"))
                continue
            data = _data(action, rest.strip(), view)
            if action.fault(data, view.choices) is None:
                return Move(action.name, data)
            print(f"{word} needs an argument: {_use(word, action)}")

    def see_end(self, view: View, outcome: Mapping[str, Any]) -> None:
        """Show the last reply and the outcome of the episode."""
        self._show_message(view)
        facts = {name: value for name, value in outcome.items() if isinstance(value, str | int | float)}
        shown = ", ".join(f"{name} {value}" for name, value in facts.items())
        print(readable(f"The episode is over: {shown}"))

    def _show_message(self, view: View) -> None:
        if view.message:
            print(f"\n{readable(f'[{view.sender}] {view.message}')}")

    def _is_question(self, line: str, word: str, possible: Mapping[str, Action]) -> bool:
        """Return True if a line is neither a command of the seat nor SQL, and questions are possible."""
        return bool(line) and self._spoken in possible and word not in self._actions and not _SQL.match(line)

    def _further(self, view: View, possible: Mapping[str, Action]) -> list[str]:
        waiting = ["wait"] if view.waits else []
        return [*waiting, "show", "help", *([] if "quit" in possible else ["quit"])]

    def _help(self, possible: Mapping[str, Action], view: View) -> str:
        uses = [_use(word, action) for word, action in possible.items()]
        plain = [f"or a plain line for {self._spoken}"] if self._spoken in possible else []
        further = self._further(view, possible)
        told = [_ABOUT.get(word, word) for word in further]
        ends = " SQL ends with ; or an empty line." if any(map(_is_code, possible.values())) else ""
        return ", ".join([*uses, *told, *plain]) + f".{ends}"


def readable(text: str) -> str:
    """Return a text wrapped to the width of the terminal, with JSON knowledge entries rewritten as text.

    Sentences that are broken across lines are joined first. Tables and code (lines that contain `|` or
    several spaces in a row) are not changed.
    """
    width = shutil.get_terminal_size((100, 24)).columns
    lines = []
    for line in _whole_lines(text.split("\n")):
        entry = _entry(line)
        if entry is None and (len(line) <= width or "|" in line or "  " in line or line.startswith("\t")):
            lines.append(line)
        else:
            hanging = "  " if entry is not None else ""
            lines += textwrap.wrap(entry or line, width, subsequent_indent=hanging, break_long_words=False)
    return "\n".join(lines)


def _whole_lines(lines: Sequence[str]) -> list[str]:
    """Join lines that belong to one sentence: a long line, and a next line that continues the sentence."""
    made: list[str] = []
    last = ""
    for line in lines:
        goes_on = (
            len(last) >= _HARD_WRAPPED
            and line[:1].islower()
            and not any(mark in each for mark in ("  ", "|", "{") for each in (last, line))
        )
        if goes_on:
            made[-1] += f" {line}"
        else:
            made.append(line)
        last = line
    return made


def _entry(line: str) -> str | None:
    """Return a knowledge entry in JSON as readable text, or None if the line is not JSON."""
    if not line.startswith("{"):
        return None
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    known = {name: value for name, value in entry.items() if name != "id" and value not in (None, "", [], -1)}
    title = known.pop("knowledge", "")
    parts = [str(known.pop(name)).strip() for name in ("description", "definition") if name in known]
    parts += [f"{name}: {value}" for name, value in known.items()]
    return f"- {title}: {' = '.join(parts)}" if title else f"- {'; '.join(parts)}"


def _read(is_whole: Callable[[str], bool]) -> str:
    """Return lines of input that form a complete move. A terminal offers editing and a history."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return _session()(is_whole)
    text = input("> ")
    while not is_whole(text):
        try:
            text += "\n" + input("  ")
        except EOFError:
            break
    return text


@cache
def _session() -> Callable[[Callable[[str], bool]], str]:
    """Return the line editor. All episodes share it, and therefore its history."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys = KeyBindings()
    session: PromptSession[str] = PromptSession("> ", multiline=True, key_bindings=keys)
    state: dict[str, Callable[[str], bool]] = {}

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if state["is_whole"](buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    def read(is_whole: Callable[[str], bool]) -> str:
        state["is_whole"] = is_whole
        return str(session.prompt())

    return read


def _is_whole(text: str, possible: Mapping[str, Action]) -> bool:
    """Return True if a text is a complete move. Only SQL may continue on the next line."""
    action = possible.get(text.strip().partition(" ")[0].partition("\n")[0])
    if action is None or not _is_code(action):
        return True
    return text.rstrip(" \t").endswith((";", "\n"))


def _is_code(action: Action) -> bool:
    return any(field.kind == "code" for field in action.fields)


def _data(action: Action, text: str, view: View) -> Any:
    """Return the data of a move, given the text after the command, in which `|` separates fields."""
    if not action.fields:
        return None
    parts = text.split("|", len(action.fields) - 1)
    values = {
        field.name: _value(field.kind, part.strip(), view)
        for field, part in zip(action.fields, parts, strict=False)
    }
    needed = {field.name for field in action.fields if not field.optional}
    return action.data_of(values) if needed <= set(values) else None


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
    """Return the usage of a command, such as `submit SQL` or `column TABLE|COLUMN`."""
    return f"{word} {'|'.join(field.name.upper() for field in action.fields)}".rstrip()
