"""Episodes of a run as data for training, and in other tools' formats."""

from birdenv.runs.export._episodes import ExportedEpisode, arena_of, exported_episodes, played_settings
from birdenv.runs.export._other_tools import DIALOGUE_FORMATS, dialogue_rows
from birdenv.runs.export._training_rows import EXPORT_FORMATS, ExportFormat, export_rows

__all__ = [
    "DIALOGUE_FORMATS",
    "EXPORT_FORMATS",
    "ExportFormat",
    "ExportedEpisode",
    "arena_of",
    "dialogue_rows",
    "export_rows",
    "exported_episodes",
    "played_settings",
]
