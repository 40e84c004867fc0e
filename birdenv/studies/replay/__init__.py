"""Replay recorded dialogues from studies, runs and CoCoA's files.

`Records` reads the dialogues in folders or files, and shows each dialogue as its seats saw it.
"""

from birdenv.studies.replay._recorded_dialogues import Records, ReplayedDialogue, SeatView

__all__ = ["Records", "ReplayedDialogue", "SeatView"]
