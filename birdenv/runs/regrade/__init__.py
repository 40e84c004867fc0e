"""Regrade the submissions in recorded runs, under the same profile or under other profiles."""

from birdenv.runs.regrade._bird import bird_regrade_record, bird_regrade_text, regrade_bird
from birdenv.runs.regrade._interact import regrade_interact
from birdenv.runs.regrade._interact_text import regrade_record, regrade_text

__all__ = [
    "bird_regrade_record",
    "bird_regrade_text",
    "regrade_bird",
    "regrade_interact",
    "regrade_record",
    "regrade_text",
]
