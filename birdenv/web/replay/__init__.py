"""Recorded dialogues from either seat's eyes: those of studies, of runs, and of CoCoA's files.

* `Records`: the dialogues of some folders or files, each as its seats saw it.
* `make_replay_app`: pages to look at them, step by step.
"""

from birdenv.web.replay._pages import add_replay, make_replay_app
from birdenv.web.replay._recorded_dialogues import EVERYTHING, Record, Records, View

__all__ = ["EVERYTHING", "Record", "Records", "View", "add_replay", "make_replay_app"]
