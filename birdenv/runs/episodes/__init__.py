"""Prepare single episodes of recorded runs for `birdenv show` and the pages of `birdenv.report`."""

from birdenv.runs.episodes._result_difference import DifferentRow, ResultDifference
from birdenv.runs.episodes._run_episodes import RunEpisodes
from birdenv.runs.episodes._shown_episode import OpenTerm, ResultTable, ShownEpisode, ShownEvent

__all__ = [
    "DifferentRow",
    "OpenTerm",
    "ResultDifference",
    "ResultTable",
    "RunEpisodes",
    "ShownEpisode",
    "ShownEvent",
]
