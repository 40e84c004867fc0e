"""Prepare recorded episodes for display by `birdenv show`, `birdenv report` and `birdenv view`."""

from birdenv.runs.episodes._result_difference import ResultDifference
from birdenv.runs.episodes._run_episodes import RunEpisodes
from birdenv.runs.episodes._shown_episode import OpenTerm, ResultTable, ShownEpisode, ShownEvent

__all__ = ["OpenTerm", "ResultDifference", "ResultTable", "RunEpisodes", "ShownEpisode", "ShownEvent"]
