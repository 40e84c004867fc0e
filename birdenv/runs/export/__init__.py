"""Export the episodes of a run as training data, or in the formats of third-party tools."""

from birdenv.runs.export._dialogues import (
    DIALOGUE_FORMATS,
    DialogueFolder,
    dialogue_folder,
    played_game,
    whole_dialogues,
)
from birdenv.runs.export._episodes import (
    EXPORT_FORMATS,
    ExportedEpisode,
    ExportFormat,
    arena_of,
    export_rows,
    exported_episodes,
)
from birdenv.runs.export._viewer_logs import VIEWER_FORMATS, write_viewer_log

__all__ = [
    "DIALOGUE_FORMATS",
    "EXPORT_FORMATS",
    "VIEWER_FORMATS",
    "DialogueFolder",
    "ExportFormat",
    "ExportedEpisode",
    "arena_of",
    "dialogue_folder",
    "export_rows",
    "exported_episodes",
    "played_game",
    "whole_dialogues",
    "write_viewer_log",
]
