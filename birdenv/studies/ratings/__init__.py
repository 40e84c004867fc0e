"""Read ratings and comparisons, measure how well raters agree, and rank players.

If a statistic is undefined for the data, the result states the reason instead of a value.
"""

from birdenv.studies.ratings._sources import rated_sources

__all__ = ["rated_sources"]
