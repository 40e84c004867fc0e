"""`birdenv users`: measure the simulated user."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from birdenv.dialogue import make_game
from birdenv.errors import InputError
from birdenv.runs.user_evaluation import DEMO_QUESTIONS, ask, evaluation_text, judge, read_questions

app = typer.Typer(no_args_is_help=True, help="Measure a simulated user.")

_User = Annotated[str, typer.Option("--user", help="Who answers: rule, name:argument, or module:factory.")]
_Data = Annotated[
    Path | None, typer.Argument(help="Folder with the task file and <db>/ folders; default: demo.")
]


@app.command("eval")
def evaluate(
    data_dir: _Data = None,
    user: _User = "rule",
    questions: Annotated[
        Path | None, typer.Option("--questions", help="File of questions; default: those of the demo.")
    ] = None,
    worst: Annotated[int, typer.Option("--worst", min=0, help="Wrong answers that are printed.")] = 12,
) -> None:
    """Ask a user questions of which the right answer is known, each in an episode of its own.

    Questions to tasks that are not in the folder are left out, and said so.
    """
    file = DEMO_QUESTIONS if questions is None else questions
    asked = read_questions(file)
    folder = None if data_dir is None else str(data_dir)
    with make_game("c-interact", data_dir=folder, user=user) as arena:
        there = [question for question in asked if question.instance_id in arena.ids]
        if not there:
            raise InputError(f"{file} has no question to a task of this game")
        if len(there) < len(asked):
            print(f"{len(asked) - len(there)} questions are to other tasks and left out")
        judged = [judge(question, ask(arena, question.instance_id, question.question)) for question in there]
    print(evaluation_text(judged, worst))
