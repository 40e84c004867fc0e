"""Episodes of a run as data for training."""

from birdenv.runs.export._episodes import ExportedEpisode, exported_episodes
from birdenv.runs.export._rows import EXPORT_FORMATS, export_rows

__all__ = [
    "EXPORT_FORMATS",
    "ExportedEpisode",
    "export_rows",
    "exported_episodes",
]
