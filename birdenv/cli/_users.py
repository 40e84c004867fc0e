"""`birdenv users`: measure how well a simulated user answers, and how much it reveals."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from birdenv.cli.command import visible
from birdenv.cli.options._run_options import check_models
from birdenv.cli.options.settings_command import SettingsCommand, choices
from birdenv.dialogue import make_game
from birdenv.errors import InputError
from birdenv.llm import Models, ModelSettings
from birdenv.runs import player_name
from birdenv.runs.user_evaluation import (
    DEMO_QUESTIONS,
    Judged,
    UserQuestion,
    ask,
    class_figures,
    evaluation_text,
    fish,
    judge,
    keep_figures,
    leak_figures,
    leaks_text,
    noted,
    read_questions,
    readability,
    readability_text,
    schema_names,
)

app = typer.Typer(no_args_is_help=True, help="Measure a simulated user.")


class _UserCommand(SettingsCommand):
    groups = (ModelSettings,)


_User = Annotated[
    str, typer.Option("--user", help="The user: rule, llm:MODEL, name:argument, or module:factory.")
]
_Data = Annotated[
    Path | None, typer.Argument(help="Folder with the task file and the <db>/ folders; default: the demo.")
]
_Parallel = Annotated[
    int, typer.Option("--parallel", "-p", min=1, help="Number of questions to ask at the same time.")
]


@app.command("eval", cls=_UserCommand)
def evaluate(
    context: typer.Context,
    data_dir: _Data = None,
    user: _User = "rule",
    questions: Annotated[
        Path | None, typer.Option("--questions", help="File of questions; default: the demo's.")
    ] = None,
    worst: Annotated[int, typer.Option("--worst", min=0, help="Number of incorrect answers to print.")] = 12,
    times: Annotated[
        int,
        typer.Option(
            "--times", min=1, max=3, help="How many times to ask each question; the last answer counts."
        ),
    ] = 1,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the results by class to this file.")
    ] = None,
    parallel: _Parallel = 1,
) -> None:
    """Ask a user questions with known answers, each in a separate episode.

    Questions about tasks that are not in the folder are left out. If the user is a language model, its
    endpoint and key are read from the environment or from .env, as in runs.
    """
    models = choices(context).models
    check_models(models, None, [user])
    file = DEMO_QUESTIONS if questions is None else questions
    asked = read_questions(file)
    folder = None if data_dir is None else str(data_dir)
    with make_game("c-interact", data_dir=folder, user=user) as arena:
        there = [question for question in asked if question.instance_id in arena.ids]
        if not there:
            raise InputError(f"{file} contains no questions about tasks in this game")
        if len(there) < len(asked):
            print(f"{len(asked) - len(there)} questions are about other tasks and are left out")

        def judged_one(question: UserQuestion) -> Judged:
            return judge(question, ask(arena, question.instance_id, question.question, times, llm))

        with closing(Models(models)) as llm, ThreadPoolExecutor(parallel) as pool:
            judged = list(pool.map(judged_one, there))
        told = [
            (one.heard.text, schema_names(arena, one.question.instance_id))
            for one in judged
            if one.heard.call in ("labelled", "unlabelled") and one.outcome not in ("refused", "asked back")
        ]
    print(visible(f"user {user}, {len(there)} questions\n\n{evaluation_text(judged, worst)}\n"))
    print(visible(readability_text(readability(told))))
    if line := noted(one.heard for one in judged):
        print(line)
    if json_file is not None:
        json_file.write_text(json.dumps(class_figures(judged), indent=1) + "\n", encoding="utf-8")
    asked_of = f"{len(there)} questions to {'the demo' if data_dir is None else data_dir.name}"
    _keep(user, models, {"questions": asked_of, "classes": class_figures(judged)})
    if line := llm.ledger.line():
        print(f"Models: {line}")


@app.command(cls=_UserCommand)
def leak(
    context: typer.Context,
    data_dir: _Data = None,
    user: _User = "rule",
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Seed for drawing the questions (default: random).")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Use at most this many tasks, starting with the first."),
    ] = None,
    parallel: _Parallel = 1,
) -> None:
    """Ask a user vague questions and questions about columns, and measure what it reveals.

    The questions are drawn from a grammar, with a new seed each time unless --seed is given. The exit code is
    1 if the user reveals too much: an annotated point of a task with several points, more than 10% of the
    parts of the gold SQL, or which columns the gold SQL uses.
    """
    folder = None if data_dir is None else str(data_dir)
    models = choices(context).models
    check_models(models, None, [user])
    drawn = secrets.randbelow(2**31) if seed is None else seed
    with (
        make_game("c-interact", data_dir=folder, user=user) as arena,
        closing(Models(models)) as llm,
    ):
        leaks = fish(arena, drawn, limit, llm, parallel=parallel)
    print(visible(leaks_text(leaks)))
    _keep(user, models, {"leaks": leak_figures(leaks)})
    if line := llm.ledger.line():
        print(f"Models: {line}")
    if not leaks.passed:
        raise typer.Exit(1)


def _keep(user: str, models: ModelSettings, figures: Mapping[str, Any]) -> None:
    """Save the metrics of a user that is not part of birdenv, so that run summaries can show them."""
    file = keep_figures(player_name(user, models.user_model), figures)
    if file is not None:
        print(f"Metrics: {file} (summaries of runs with this user show them)")
