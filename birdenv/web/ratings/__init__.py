"""Third parties rate recorded dialogues, or say which of two is better. They do not see who talked.

* `RatingConfig`, `read_rating_config`: questions, how many raters, what is compared.
* `Ratings`: raters from consent to code, over a `RatingStore`, under any clock; no network.
* `rating_rows`, `write_ratings`: what they said, as rows.
"""

from birdenv.web.ratings._config import RatingConfig, read_rating_config
from birdenv.web.ratings._export import ROW_FORMATS, rating_rows, write_ratings
from birdenv.web.ratings._items import Item, items_of
from birdenv.web.ratings._ratings import Ratings
from birdenv.web.ratings._store import RatingStore

__all__ = [
    "ROW_FORMATS",
    "Item",
    "RatingConfig",
    "RatingStore",
    "Ratings",
    "items_of",
    "rating_rows",
    "read_rating_config",
    "write_ratings",
]
