"""Measure a simulated user by its answers to questions with known answers.

* `UserQuestion`, `read_questions`: a question with the expected answer, and how to read a file of questions
* `ask`: ask the user of a game a question
* `HeardAnswer`, `judge`, `noted`: the user's answer, how to judge it, and the faults of the user's model
* `evaluation_text`: the figures as text, with intervals
* `readability`, `readability_text`: measure how readable the answers are, and show this as text
* `class_figures`, `leak_figures`, `keep_figures`: save the figures of a user for the summaries of its runs
* `user_line`: the known figures of a user in one line
* `fish`, `Leaks`, `leaks_text`: measure what the user reveals when asked vague questions, and show this as
  text
"""

from birdenv.runs.user_evaluation._leak_measurement import fish, leaks_text
from birdenv.runs.user_evaluation._questions import (
    DEMO_QUESTIONS,
    Judged,
    UserQuestion,
    ask,
    judge,
    noted,
    read_questions,
    schema_names,
)
from birdenv.runs.user_evaluation._user_figures import (
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
    "Judged",
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
