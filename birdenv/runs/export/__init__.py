"""Episodes of a run as data for training, and in other tools' formats."""

from birdenv.runs.export._dialogue_folders import (
    DialogueFolder,
    dialogue_folder,
    played_game,
    whole_dialogues,
)
from birdenv.runs.export._episodes import ExportedEpisode, arena_of, exported_episodes, played_settings
from birdenv.runs.export._other_tools import DIALOGUE_FORMATS, dialogue_rows
from birdenv.runs.export._training_rows import EXPORT_FORMATS, ExportFormat, export_rows
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
    "dialogue_rows",
    "export_rows",
    "exported_episodes",
    "played_game",
    "played_settings",
    "whole_dialogues",
    "write_viewer_log",
]
