"""Measure a simulated user: what it answers to questions of which the right answer is known.

* `UserQuestion`, `read_questions`: one question, and a file of them
* `ask`: put a question to the user of a game
* `judge`, `Heard`: what came of it
* `evaluation_text`: the figures in words, with intervals
* `fish`, `Leaks`, `leaks_text`: what is told to questions that name nothing
"""

from birdenv.runs.user_evaluation._asking import Heard, ask
from birdenv.runs.user_evaluation._fishing import Leaks, fish, leaks_text
from birdenv.runs.user_evaluation._judging import OUTCOMES, Judged, judge
from birdenv.runs.user_evaluation._questions import DEMO_QUESTIONS, UserQuestion, read_questions
from birdenv.runs.user_evaluation._report import evaluation_text

__all__ = [
    "DEMO_QUESTIONS",
    "OUTCOMES",
    "Heard",
    "Judged",
    "Leaks",
    "UserQuestion",
    "ask",
    "evaluation_text",
    "fish",
    "judge",
    "leaks_text",
    "read_questions",
]
