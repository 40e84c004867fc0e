"""Register study folders as dialogue folders, so that the commands for runs can read them."""

from __future__ import annotations

from typing import Final

from birdenv.runs.export import DialogueFolder
from birdenv.studies.study._export import study_game, study_rows

FOLDER: Final = DialogueFolder(study_rows, study_game)
