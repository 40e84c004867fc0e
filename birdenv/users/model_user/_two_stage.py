"""The user `llm`: encoder and decoder, each a call of a model (BIRD-Interact §3.1).

The decoder is given the granted SQL and the dialogue, never the gold or the clear request: it cannot tell
what it was not told.
"""

from __future__ import annotations

from birdenv.dialogue import Move, Player, PlayerContext, View
from birdenv.dialogue.players import AGENTS, PlayerSpec
from birdenv.llm import models_of
from birdenv.users._brief import Brief
from birdenv.users.decoder import ASKING_BACK, OUT_OF_SCOPE
from birdenv.users.leak_guard._leak_guard import CANNED
from birdenv.users.model_user._encoder import (
    UNANSWERABLE,
    ModelReading,
    annotated_points,
    first_line,
    makes_the_choice,
    other_points,
    read_choice,
    shares_a_word,
)
from birdenv.users.model_user._published import PublishedUser
from birdenv.users.model_user._seat import UserSeat, knows_a_request

_AGAIN = "That is none of the choices. Reply with exactly one of them, with an id from the lists."


class TwoStageUser:
    """Decides what a question is about, then words the answer."""

    def __init__(self, model: str, context: PlayerContext) -> None:
        self._seat = UserSeat(model, context)
        self.usage = self._seat.usage
        self.faults = self._seat.faults

    def move(self, view: View) -> Move:
        """Answer the last question."""
        seat = self._seat
        brief, question = seat.brief(view), seat.question(view)
        reading = self._read(brief, question)
        text = OUT_OF_SCOPE
        if reading.point is not None:
            text = seat.guarded(
                "decoder",
                brief,
                reading.granted,
                CANNED,
                ASKING_BACK if brief.first_line else CANNED,
                question=question,
                dialogue=seat.dialogue(view),
                term=reading.point.term,
            )
        return seat.answer(text, call=reading.call, target=reading.target, granted=list(reading.granted))

    def remember(self, view: View, move: Move) -> None:
        """Keep nothing: the view tells all."""

    def _read(self, brief: Brief, question: str) -> ModelReading:
        if not question.strip():
            return UNANSWERABLE
        annotated, others = annotated_points(brief), other_points(brief)
        if makes_the_choice(question, brief.request, annotated + others):
            self._seat.fault("told what to choose")
            if brief.converses:
                return UNANSWERABLE
        values = {"question": question, "annotated": annotated, "others": others}
        line = first_line if brief.first_line else str
        said = self._seat.ask("encoder", **values)
        reading = read_choice(line(said), annotated, others)
        if reading is None:
            self._seat.fault("no such choice")
            before = {"role": "assistant", "content": said}
            said = self._seat.ask("encoder", before, {"role": "user", "content": _AGAIN}, **values)
            reading = read_choice(line(said), annotated, others)
        if reading is None:
            self._seat.fault("no choice after two tries")
            return UNANSWERABLE
        if reading.call == "labelled" and reading.point and not shares_a_word(question, reading.point, brief):
            self._seat.fault("granted without a shared word")
        return reading


def llm_user(argument: str, context: PlayerContext) -> Player:
    """Make the user `llm:MODEL`; in a game without ambiguous requests it plays by tool calls, as agents do.

    Raises:
        InputError: the model or the prompts cannot be used.
    """
    models = models_of(context.models)
    if models.settings.user_prompts is not None:
        return PublishedUser(argument, context, models.settings.user_prompts)
    if knows_a_request(context):
        return TwoStageUser(argument, context)
    factory, _ = PlayerSpec("llm", AGENTS).load()
    return factory(argument, context)
