"""Let third parties rate or compare recorded dialogues, without knowing who the players were.

* `RatingConfig` is the configuration of a rating round, and `read_rating_config` reads it from a file.
* `Ratings` leads raters from consent to completion code, and stores their ratings in a `RatingStore`. It
  needs no network.
* `rating_rows` returns ratings or comparisons as rows, and `people_rows` returns participants as rows.
  `write_ratings`, `write_pairs` and `write_people` write these rows to files.
"""

from birdenv.studies.rating_round._export import write_pairs, write_people, write_ratings

__all__ = ["write_pairs", "write_people", "write_ratings"]
