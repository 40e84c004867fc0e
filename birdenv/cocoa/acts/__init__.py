"""Dialogue acts: moves without the names, values and prices of their episode.

    transcripts = Transcripts(game, read_examples(path))
    for turns in transcripts:
        for view, move in turns:
            ...

A `Lexicon` takes out of texts what a seat knows, and puts the present episode's in. A `Listener` follows a
dialogue from one seat and says which act a move is, and in which state it was made. `DialogueTokens` writes
all that a seat hears and says as tokens, for models of sequences.
"""

from birdenv.cocoa.acts._lexicon import Lexicon, PriceWords
from birdenv.cocoa.acts._listener import Act, Listener, intent_of
from birdenv.cocoa.acts._tokens import DialogueTokens, is_word
from birdenv.cocoa.acts._turns import SeenMove, Transcripts

__all__ = [
    "Act",
    "DialogueTokens",
    "Lexicon",
    "Listener",
    "PriceWords",
    "SeenMove",
    "Transcripts",
    "intent_of",
    "is_word",
]
