"""Measure a simulated user by its answers to questions with known answers.

* `UserQuestion`, `read_questions`: a question, and a file of questions
* `ask`: ask the user of a game a question
* `judge`, `HeardAnswer`, `noted`: judge the answer
* `evaluation_text`: the figures as text, with intervals
* `readability`, `readability_text`: how readable the answers are
* `class_figures`, `leak_figures`, `keep_figures`: save the figures of a user for the summaries of its runs
* `user_line`: the known figures of a user
* `fish`, `Leaks`, `leaks_text`: what the user reveals to vague questions
"""

from birdenv.runs.user_evaluation._leak_measurement import Leaks, fish, leaks_text
from birdenv.runs.user_evaluation._questions import (
    DEMO_QUESTIONS,
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
