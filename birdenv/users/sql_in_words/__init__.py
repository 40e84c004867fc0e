"""SQL in the words of a lay user (BIRD-Interact §3, stage 2: the words of the decoder).

The words say everything that a snippet settles: literals exactly as written, operators and functions in
words, and columns by the words of their meanings or of their names. They say nothing else: no names of
tables, aliases or CTEs, no types, no names as the schema spells them, and no SQL.
"""

from birdenv.users.sql_in_words._names import Names, respelt
from birdenv.users.sql_in_words._paraphrase import Paraphrase, in_words, read_aloud, verbalise
from birdenv.users.sql_in_words._parse import (
    LexicalUnit,
    Node,
    fragment_dialect,
    parse_fragment,
    part_of,
    split_words,
    tokenize,
)
from birdenv.users.sql_in_words._phrases import PRESENT, quoted
from birdenv.users.sql_in_words._tables import singular

__all__ = [
    "PRESENT",
    "LexicalUnit",
    "Names",
    "Node",
    "Paraphrase",
    "fragment_dialect",
    "in_words",
    "parse_fragment",
    "part_of",
    "quoted",
    "read_aloud",
    "respelt",
    "singular",
    "split_words",
    "tokenize",
    "verbalise",
]
