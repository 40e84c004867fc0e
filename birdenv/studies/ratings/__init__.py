"""Read ratings and comparisons, measure how well raters agree, and rank players.

If a statistic is undefined for the data, the result is a reason instead of a value.
"""

from birdenv.studies.ratings._agreement import LEVELS, fleiss_kappa, krippendorff_alpha, mean_answer
from birdenv.studies.ratings._bradley_terry import RankedPlayer, Ranking, rank_players
from birdenv.studies.ratings._judgements import (
    BlindChoice,
    Judgements,
    Rating,
    joined,
    listed_judgements,
    read_judgements,
)
from birdenv.studies.ratings._ratings_report import RatingReport, rating_plot, rating_report
from birdenv.studies.ratings._sources import (
    check_dialogues,
    import_judgements,
    judged_folder,
    rated,
    rated_sources,
    rating_folder,
    read_folder,
    read_source,
    survey_ratings,
)

__all__ = [
    "LEVELS",
    "BlindChoice",
    "Judgements",
    "RankedPlayer",
    "Ranking",
    "Rating",
    "RatingReport",
    "check_dialogues",
    "fleiss_kappa",
    "import_judgements",
    "joined",
    "judged_folder",
    "krippendorff_alpha",
    "listed_judgements",
    "mean_answer",
    "rank_players",
    "rated",
    "rated_sources",
    "rating_folder",
    "rating_plot",
    "rating_report",
    "read_folder",
    "read_judgements",
    "read_source",
    "survey_ratings",
]
