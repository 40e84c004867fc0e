"""Language models in the evaluated seat.

* `llm:MODEL` plays every game with tool calls.
* `llm-markup:MODEL` plays c-Interact with the published tags, in one growing prompt.

If `MODEL` is missing, the players use the model in the run's settings (`--model`).
"""

from __future__ import annotations

from birdenv.dialogue import PlayerContext
from birdenv.dialogue.players import plays
from birdenv_agents.llm._markup_player import MarkupPlayer
from birdenv_agents.llm._tool_player import ToolPlayer

__all__ = ["llm", "llm_markup"]


def llm(argument: str, context: PlayerContext) -> ToolPlayer:
    """Return a player whose language model calls tools.

    Raises:
        InputError: the model, the API key, the URL or the prompt cannot be used.
    """
    return ToolPlayer(argument, context)


@plays("c-interact")
def llm_markup(argument: str, context: PlayerContext) -> MarkupPlayer:
    """Return a player whose language model writes tags.

    Raises:
        InputError: the model, the API key, the URL or the prompt cannot be used, or the game has actions
            without a tag.
    """
    return MarkupPlayer(argument, context)
