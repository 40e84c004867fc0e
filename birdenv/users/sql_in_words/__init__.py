"""SQL in the words of a lay user (the decoder's source of words, BIRD-Interact §3, stage 2).

The words carry all that a snippet settles: literals exactly as written, operators and functions in words,
column names split into words or as their meanings have them. They carry nothing else: no table, alias or CTE
name, no type, no name of the schema as it is spelt there, and no SQL.
"""

from birdenv.users.sql_in_words._names import Names, respelt
from birdenv.users.sql_in_words._paraphrase import Paraphrase, in_words, read_aloud, verbalise
from birdenv.users.sql_in_words._parse import (
    LexicalUnit,
    Node,
    fragment_dialect,
    parse_fragment,
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
    "quoted",
    "read_aloud",
    "respelt",
    "singular",
    "split_words",
    "tokenize",
    "verbalise",
]
