"""Evaluate a simulated user by its answers to questions with known answers.

* `UserQuestion`, `read_questions`: a question with its expected answer, and a function that reads a file of
  questions
* `DEMO_QUESTIONS`: the path of birdenv's own file of questions
* `ask`: ask a game's user a question
* `judge`, `Judged`: compare the user's answer with the expected answer
* `noted`: describe the mistakes of the user's language model
* `evaluation_text`: show the percentages of correct answers, with confidence intervals
* `readability`, `readability_text`: measure and show how readable the answers are
* `fish`, `leaks_text`: measure and show what the user reveals in reply to vague questions
* `class_figures`, `leak_figures`, `keep_figures`: compute and save a user's metrics, which run summaries
  quote
* `user_line`: show a user's saved metrics in one line
* `schema_names`: list the names in a task's database
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
