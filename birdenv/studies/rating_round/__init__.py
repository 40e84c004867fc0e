"""Let third parties rate or compare recorded dialogues, without seeing who talked.

* `RatingConfig` is the configuration of a round of ratings, and `read_rating_config` reads it from a file.
* `Ratings` leads raters from consent to completion code, and keeps their ratings in a `RatingStore`. It needs
  no network.
* `rating_rows` returns ratings or comparisons as rows, and `people_rows` returns participants as rows.
  `write_ratings`, `write_pairs` and `write_people` write these rows to files.
"""

from birdenv.studies.rating_round._config import RatingConfig, read_rating_config
from birdenv.studies.rating_round._export import (
    ROW_FORMATS,
    people_rows,
    rating_rows,
    write_pairs,
    write_people,
    write_ratings,
)
from birdenv.studies.rating_round._raters import Item, Ratings, items_of
from birdenv.studies.rating_round._store import RatingStore

__all__ = [
    "ROW_FORMATS",
    "Item",
    "RatingConfig",
    "RatingStore",
    "Ratings",
    "items_of",
    "people_rows",
    "rating_rows",
    "read_rating_config",
    "write_pairs",
    "write_people",
    "write_ratings",
]
