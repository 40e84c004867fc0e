"""Recorded dialogues from either seat's eyes: those of studies, of runs, and of CoCoA's files.

* `Records`: the dialogues of some folders or files, each as its seats saw it.
"""

from birdenv.studies.replay._recorded_dialogues import EVERYTHING, Records, ReplayedDialogue, SeatView

__all__ = ["EVERYTHING", "Records", "ReplayedDialogue", "SeatView"]
