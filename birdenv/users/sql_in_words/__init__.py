"""Put SQL into the words of a user who does not know SQL (for the decoder in BIRD-Interact §3, stage 2).

The words express everything that a snippet settles: literals exactly as written, operators and functions in
words, and columns by words from their meanings or names. They contain nothing else: no aliases, no types, no
names as the schema spells them, no SQL, table names only if the request mentions them, and the name of a CTE,
in words, only where a snippet uses a CTE that it does not define.
"""

from birdenv.users.sql_in_words._names import Names, respelt
from birdenv.users.sql_in_words._paraphrase import Paraphrase, in_words, read_aloud, verbalise
from birdenv.users.sql_in_words._parse import (
    LexicalUnit,
    Node,
    fragment_dialect,
    kind_of,
    node_class,
    parse_fragment,
    part_of,
    split_words,
    tokenize,
)
from birdenv.users.sql_in_words._phrases import PRESENT, enumerate_words, quoted
from birdenv.users.sql_in_words._tables import singular
from birdenv.users.sql_in_words._words import is_negated

__all__ = [
    "PRESENT",
    "LexicalUnit",
    "Names",
    "Node",
    "Paraphrase",
    "enumerate_words",
    "fragment_dialect",
    "in_words",
    "is_negated",
    "kind_of",
    "node_class",
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
