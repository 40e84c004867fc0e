"""Episodes of a run as data for training, and in other tools' formats."""

from birdenv.runs.export._dialogues import (
    DIALOGUE_FORMATS,
    DialogueFolder,
    DialogueFormat,
    dialogue_folder,
    dialogue_rows,
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
    played_settings,
)
from birdenv.runs.export._viewer_logs import VIEWER_FORMATS, write_viewer_log

__all__ = [
    "DIALOGUE_FORMATS",
    "EXPORT_FORMATS",
    "VIEWER_FORMATS",
    "DialogueFolder",
    "DialogueFormat",
    "ExportFormat",
    "ExportedEpisode",
    "arena_of",
    "dialogue_folder",
    "dialogue_rows",
    "export_rows",
    "exported_episodes",
    "played_game",
    "played_settings",
    "whole_dialogues",
    "write_viewer_log",
]
