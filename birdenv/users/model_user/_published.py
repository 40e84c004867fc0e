"""The user `llm` with prompts of others: the two calls of the published implementations, word for word.

Nothing is checked between the stages, and nothing is asked again: what the encoder says goes to the decoder,
and what the decoder says is the answer, which the game's leak guard still looks at.
"""

from __future__ import annotations

from pathlib import Path

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.errors import InputError
from birdenv.users._brief import Brief
from birdenv.users.decoder import ASKING_BACK
from birdenv.users.model_user._encoder import (
    UNANSWERABLE,
    ModelReading,
    annotated_points,
    first_line,
    makes_the_choice,
    other_points,
    read_published_choice,
    shares_a_word,
    tagged,
)
from birdenv.users.model_user._seat import UserSeat
from birdenv.users.model_user._user_prompts import filled, published_values, read_user_prompts


class PublishedUser:
    """Sends the two texts of a folder for every question, with their variables filled in."""

    def __init__(self, model: str, context: PlayerContext, prompts: Path) -> None:
        """Take the user's seat.

        Raises:
            InputError: the prompts or the model cannot be used, or the game's profile has no such user.
        """
        self._prompts = read_user_prompts(prompts)
        self._seat = UserSeat(model, context)
        self._first_brief = context.brief[0]
        if self._first_brief.converses:
            raise InputError(
                "--user-prompts needs --profile shell or adk, under which the user plays as published; "
                "under strict its choices are ids that our own prompts ask for"
            )
        self.usage = self._seat.usage
        self.faults = self._seat.faults

    def move(self, view: View) -> Move:
        """Answer the last question."""
        seat, brief = self._seat, self._seat.brief(view)
        is_service = brief.first_line
        question = seat.asked(view)
        if makes_the_choice(question, brief.request, ()):
            seat.fault("told what to choose")
        values = published_values(brief, self._first_brief, question)
        said = seat.send("encoder", filled(self._prompts.encoder, values))
        action = first_line(said) if is_service else tagged(said)
        reading = self._read(action, question, brief)
        said = seat.send("decoder", filled(self._prompts.decoder, {**values, "Action": action}))
        is_understood = not is_service or "<s>" in said or "</s>" in said
        text = seat.cut(tagged(said)) if is_understood else ASKING_BACK
        if not text:
            seat.fault("nothing said")
        return seat.answer(text, call=reading.call, target=reading.target, granted=list(reading.granted))

    def remember(self, view: View, move: Move) -> None:
        """Keep nothing: the view tells all."""

    def _read(self, action: str, question: str, brief: Brief) -> ModelReading:
        """What the records say of the encoder's choice, and which SQL the leak guard lets through."""
        reading = read_published_choice(action, annotated_points(brief), other_points(brief))
        if reading is None:
            self._seat.fault("no such choice")
            return UNANSWERABLE
        if reading.call == "labelled" and reading.point and not shares_a_word(question, reading.point, brief):
            self._seat.fault("granted without a shared word")
        return reading
