"""Dialogue acts: moves in which slots replace the names, values and prices of an episode.

    transcripts = Transcripts(game, read_examples(path))
    for turns in transcripts:
        for view, move in turns:
            ...

A `Lexicon` replaces the values that a seat knows with slots, and fills slots with values from the current
episode. A `Listener` tracks a dialogue from one seat's point of view, and returns the act for each move and
features of the situation. `DialogueTokens` converts a dialogue to tokens for sequence models.
"""

from birdenv.cocoa.acts._lexicon import Lexicon
from birdenv.cocoa.acts._listener import Act, Listener
from birdenv.cocoa.acts._turns import Transcripts

__all__ = ["Act", "Lexicon", "Listener", "Transcripts"]
