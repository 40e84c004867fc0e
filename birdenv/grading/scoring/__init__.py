"""EX of many pairs at once, on several processes."""

from birdenv.grading.scoring._score_pairs import Pair, score_pairs

__all__ = ["Pair", "score_pairs"]
