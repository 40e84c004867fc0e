"""The c-Interact player whose model writes the published tags (BIRD-Interact §2.2)."""

from __future__ import annotations

import re
from typing import Final

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.dialogue.games import find_game
from birdenv.errors import InputError
from birdenv.llm import ContextOverflowError
from birdenv.tasks.sql.markup_reading import NO_SQL, TURN, before_next_turn, read_output
from birdenv_agents.llm._model_seat import LEFT_OUT, ModelSeat

_GAME: Final = "c-interact"
_EXPRESSIBLE: Final = {"clarify", "submit_sql"}


class MarkupPlayer:
    """A player that sends its model a prompt, which grows with every turn, and reads the tags in the output.

    Args:
        model: the name of the model; empty for the model in the run's settings.
        context: the game, the task and the seat.
    """

    def __init__(self, model: str, context: PlayerContext) -> None:
        game = find_game(context.game)
        if game.name != _GAME or game.read_text is None:
            raise InputError(f"llm-markup has no tags for the actions of {game.name}: use llm:MODEL")
        beyond = set(context.legal) - _EXPRESSIBLE
        if beyond:
            raise InputError(f"llm-markup has no tags for {', '.join(sorted(beyond))}: use llm:MODEL")
        self._model = ModelSeat(model, context)
        self._read = game.read_text
        self._help = game.markup_help
        self._template = self._model.prompt("markup")
        self._question = getattr(context.scenario, "question", "")
        self._game = game.name
        self._head("")  # so that a faulty prompt is reported before anything is played
        self._turns: list[str] = []
        self._count = 0
        self._first = 0
        self.usage = self._model.usage
        self.faults = self._model.faults

    def move(self, view: View) -> Move:
        """Request one output from the model, and return the move in it."""
        may_ask = self._begin_turn(view)
        while True:
            try:
                output = self._model.chat.complete([{"role": "user", "content": self._prompt(view)}])
                break
            except ContextOverflowError:
                if len(self._turns) - self._first < 2:
                    self._model.fault("context overflow")
                    raise
                self._first += (len(self._turns) - self._first) // 2
                self._model.fault("history shortened")
        text = output.content or output.refusal
        said = read_output(text)
        self._turns[-1] += said.utterance if may_ask else before_next_turn(text).strip()
        move = self._read(text, view)
        if output.refusal and not output.content:
            self._model.fault("refusal")
        elif output.finish_reason == "length":
            self._model.fault("cut off")
        elif not text.strip():
            self._model.fault("empty answer")
        elif move == Move("submit_sql", NO_SQL):
            self._model.fault("no fenced SQL")
        elif may_ask and said.kind == "untagged":
            self._model.fault("no tags")
        return move

    def remember(self, view: View, move: Move) -> None:
        """Add a move to the prompt as if the model had made it, without sending a request to the model."""
        may_ask = self._begin_turn(view)
        sql = f"```sql\n{move.data}\n```</t>"
        text = f"<s>{move.data}</s>" if move.action == "clarify" else f"<t>{sql}"
        self._turns[-1] += read_output(text).utterance if may_ask else sql

    def _begin_turn(self, view: View) -> bool:
        """Add the last reply and the header of the next turn; return True if a question is possible."""
        if self._turns:
            self._turns[-1] += f"\n{(view.sender or 'judge').capitalize()}: {view.message}\n\n"
        may_ask = "clarify" in view.legal
        left = int(view.gauges.get("turns_left", 0)) if may_ask else 0
        self._count += 1
        header = f"{TURN}{self._count} ({left} question{'' if left == 1 else 's'} left):\nYou: "
        self._turns.append(header if may_ask else f"{header}<t>")
        return may_ask

    def _prompt(self, view: View) -> str:
        note = f"{LEFT_OUT}\n\n" if self._first else ""
        return f"{self._head(view.instruction)}\n\n{note}{''.join(self._turns[self._first :])}"

    def _head(self, instruction: str) -> str:
        return self._template.render(
            game=self._game,
            instruction=instruction,
            tables=_tables(instruction),
            markup=self._help,
            question=self._question,
        )


def _tables(instruction: str) -> str:
    """Return the tables of the schema in an instruction, one `name(column, column)` per line."""
    return "\n".join(
        f"{table}({', '.join(_COLUMN.findall(columns))})" for table, columns in _TABLE.findall(instruction)
    )


_TABLE: Final = re.compile(r"(?ms)^CREATE TABLE (\S+) \(\n(.*?)^\);")
_COLUMN: Final = re.compile(r"(?m)^[^\S\n]++(?!(?:PRIMARY|FOREIGN|UNIQUE|CHECK|CONSTRAINT)\b)(\w+)")
