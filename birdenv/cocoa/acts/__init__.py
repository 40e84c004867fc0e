"""Dialogue acts: moves stripped of their episode's names, values and prices.

    transcripts = Transcripts(game, read_examples(path))
    for turns in transcripts:
        for view, move in turns:
            ...

A `Lexicon` replaces the values that a seat knows with slots, and fills slots with the values of the current
episode. A `Listener` follows a dialogue as one seat sees it, and returns the act of each move and features of
the situation. `DialogueTokens` converts everything that a seat hears and says to tokens for sequence models.
"""

from birdenv.cocoa.acts._lexicon import Lexicon
from birdenv.cocoa.acts._listener import Act, Listener
from birdenv.cocoa.acts._turns import Transcripts

__all__ = ["Act", "Lexicon", "Listener", "Transcripts"]
