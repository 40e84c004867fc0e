"""The user `llm` with prompts written by others: the two calls of the published implementations.

Nothing is checked or retried between the stages: the encoder's reply goes to the decoder, and the decoder's
reply is the answer, which only the game's leak guard checks. The prompts use the published variables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.errors import InputError
from birdenv.files import exists, is_directory, read_text
from birdenv.llm import USER_PROMPTS
from birdenv.users._brief import Brief
from birdenv.users._rule_player import last_question
from birdenv.users.decoder import ASKING_BACK
from birdenv.users.model_user._encoder import (
    UNANSWERABLE,
    ModelReading,
    annotated_points,
    first_line,
    is_far_fetched,
    makes_the_choice,
    other_points,
    read_published_choice,
    tagged,
)
from birdenv.users.model_user._model_user import ModelUser
from birdenv.users.segments import token_segments

_FILES: Final = " and ".join(USER_PROMPTS)
_VARIABLE: Final = re.compile(r"\[\[(\w+)\]\]")
_ENCODER: Final = ("clarification_Q", "amb_json", "SQL_Glot", "DB_schema", "GT_SQL", "clear_query")
_DECODER: Final = (*_ENCODER, "Action")
_KNOWN: Final = dict(zip(USER_PROMPTS, (_ENCODER, _DECODER), strict=True))
_NEEDED: Final = dict(zip(USER_PROMPTS, (("clarification_Q",), ("clarification_Q", "Action")), strict=True))


def read_user_prompts(folder: Path) -> tuple[str, ...]:
    """Read `encoder.txt` and `decoder.txt` from a folder, with variables written as `[[name]]`.

    Raises:
        InputError: a file is missing or cannot be read, has an unknown variable, or lacks a variable that its
            stage needs.
    """
    if not is_directory(folder):
        raise InputError(f"{folder}: no such folder; --user-prompts needs a folder with {_FILES}")
    return tuple(_read(folder / name) for name in USER_PROMPTS)


def _read(path: Path) -> str:
    if not exists(path):
        raise InputError(f"{path}: no such file; --user-prompts needs {_FILES}")
    text = read_text(path)
    used, known = set(_VARIABLE.findall(text)), _KNOWN[path.name]
    for name in sorted(used.difference(known)):
        raise InputError(f"{path}: there is no variable [[{name}]]; choose from {', '.join(known)}")
    for name in _NEEDED[path.name]:
        if name not in used:
            raise InputError(
                f"{path} lacks the variable [[{name}]]: without it, the prompt would always be the same"
            )
    return text


def filled(text: str, values: Mapping[str, str]) -> str:
    """Replace the variables in a text. Variables inside the inserted values are not replaced.

    >>> filled("Q: [[clarification_Q]]", {"clarification_Q": "Give me [[GT_SQL]]", "GT_SQL": "SELECT 1"})
    'Q: Give me [[GT_SQL]]'
    """
    return _VARIABLE.sub(lambda found: values[found[1]], text)


def published_values(brief: Brief, first_brief: Brief, question: str) -> dict[str, str]:
    """Return the values of the variables for a question, as in the published implementations.

    Args:
        brief: what the user knows now. `brief.first_line` decides which of the two published implementations
            is followed.
        first_brief: what the user knew in the first phase. Its clear request stays in the prompts.
        question: the system's question.
    """
    is_service = brief.first_line
    ambiguities = "\n\n".join(
        f"{name}: \n{json.dumps(value, indent=4)}" for name, value in brief.annotated.items()
    )
    return {
        "clarification_Q": question.strip(),
        "amb_json": ambiguities or json.dumps({}),
        "SQL_Glot": _slices(brief.gold, "\n===\n" if is_service else "\n\n\n===\n"),
        "DB_schema": brief.notes.schema,
        "GT_SQL": ("\n" if is_service else "\n\n").join(brief.gold).strip(),
        "clear_query": first_brief.clear_query or (first_brief.request if is_service else ""),
    }


def _slices(gold: Sequence[str], between: str) -> str:
    """Return the gold SQL's slices as text, each under the name of its clause."""
    return between.join(
        "\n\n".join(f"{_clause(part.clause)}:\n{part.sql}" for part in token_segments([sql])) for sql in gold
    )


def _clause(name: str) -> str:
    return f"{name} by".upper() if name in ("group", "order") else name.replace("_", " ").upper()


class PublishedUser(ModelUser):
    """A user that sends a folder's two prompts for every question, with their variables replaced."""

    def __init__(self, model: str, context: PlayerContext, prompts: Path) -> None:
        """Create the user for one episode.

        Raises:
            InputError: the prompts or the model cannot be used, or the profile does not allow this user.
        """
        self._encoder, self._decoder = read_user_prompts(prompts)
        super().__init__(model, context)
        self._first_brief = context.brief[0]
        if self._first_brief.converses:
            raise InputError(
                "--user-prompts needs --profile shell or adk; the strict profile works only with birdenv's "
                "own prompts, because the user must answer with ids that only they ask for"
            )

    def move(self, view: View) -> Move:
        """Answer the last question."""
        brief = self.brief(view)
        is_service = brief.first_line
        question = last_question(view)
        if makes_the_choice(question, brief.request, ()):
            self.fault("told what to choose")
        values = published_values(brief, self._first_brief, question)
        said = self.send("encoder", filled(self._encoder, values))
        action = first_line(said) if is_service else tagged(said)
        reading = self._read(action, question, brief)
        said = self.send("decoder", filled(self._decoder, {**values, "Action": action}))
        is_understood = not is_service or "<s>" in said or "</s>" in said
        text = self.cut(tagged(said)) if is_understood else ASKING_BACK
        if not text:
            self.fault("nothing said")
        return self.answer(text, call=reading.call, target=reading.target, granted=list(reading.granted))

    def _read(self, action: str, question: str, brief: Brief) -> ModelReading:
        """Return the encoder's choice for the records, with the SQL that the leak guard lets pass."""
        reading = read_published_choice(action, annotated_points(brief), other_points(brief))
        if reading is None:
            self.fault("no such choice")
            return UNANSWERABLE
        if is_far_fetched(question, reading, brief):
            self.fault("granted without a shared word")
        return reading
