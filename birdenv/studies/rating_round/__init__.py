"""Third parties rate recorded dialogues, or say which of two is better. They do not see who talked.

* `RatingConfig`, `read_rating_config`: questions, how many raters, what is compared.
* `Ratings`: raters from consent to code, over a `RatingStore`, under any clock; no network.
* `rating_rows`, `people_rows`, `write_ratings`, `write_pairs`, `write_people`: what they said and who
  took part, as rows and as files of rows.
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
