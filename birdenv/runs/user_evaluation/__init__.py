"""Measure a simulated user: what it answers to questions of which the right answer is known.

* `UserQuestion`, `read_questions`: one question, and a file of them
* `ask`: put a question to the user of a game
* `judge`, `Heard`, `noted`: what came of it
* `evaluation_text`: the figures in words, with intervals
* `readability`, `readability_text`: how the answers read
* `class_figures`, `leak_figures`, `keep_figures`: the figures of a user, kept for the summaries of its runs
* `user_line`: what is known of a user
* `fish`, `Leaks`, `leaks_text`: what is told to questions that name nothing
"""

from birdenv.runs.user_evaluation._leak_measurement import Leaks, fish, leaks_text
from birdenv.runs.user_evaluation._questions import (
    DEMO_QUESTIONS,
    OUTCOMES,
    HeardAnswer,
    Judged,
    UserQuestion,
    ask,
    judge,
    noted,
    read_questions,
    schema_names,
)
from birdenv.runs.user_evaluation._user_figures import (
    Readability,
    class_figures,
    evaluation_text,
    keep_figures,
    leak_figures,
    readability,
    readability_text,
    user_line,
)

__all__ = [
    "DEMO_QUESTIONS",
    "OUTCOMES",
    "HeardAnswer",
    "Judged",
    "Leaks",
    "Readability",
    "UserQuestion",
    "ask",
    "class_figures",
    "evaluation_text",
    "fish",
    "judge",
    "keep_figures",
    "leak_figures",
    "leaks_text",
    "noted",
    "read_questions",
    "readability",
    "readability_text",
    "schema_names",
    "user_line",
]
