"""The user `llm-one-prompt`: one call that is told everything, as in the older protocol."""

from __future__ import annotations

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.dialogue.players import plays
from birdenv.users.model_user._encoder import annotated_points
from birdenv.users.model_user._seat import UserSeat


class OnePromptUser:
    """Tells a model the clear request, the annotations and the gold SQL, and passes its words on.

    Only the leak guard of the game's rules stands between them and the agent: it measures such a user.
    """

    def __init__(self, model: str, context: PlayerContext) -> None:
        self._seat = UserSeat(model, context)
        self.usage = self._seat.usage
        self.faults = self._seat.faults

    def move(self, view: View) -> Move:
        """Answer the last question."""
        seat = self._seat
        brief = seat.brief(view)
        text = seat.said(
            "one_prompt",
            question=seat.question(view),
            dialogue=seat.dialogue(view),
            clear=brief.clear_query,
            annotated=annotated_points(brief),
            gold=brief.gold,
        )
        if not text:
            seat.fault("nothing said")
        return seat.answer(text)

    def remember(self, view: View, move: Move) -> None:
        """Keep nothing: the view tells all."""


@plays("c-interact", "a-interact")
def one_prompt_user(argument: str, context: PlayerContext) -> OnePromptUser:
    """Make the user `llm-one-prompt:MODEL`.

    Raises:
        InputError: the model cannot be used, or the game has no such seat.
    """
    return OnePromptUser(argument, context)
