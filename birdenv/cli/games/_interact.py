"""`birdenv c-interact` and `birdenv a-interact`: the games of BIRD-Interact.

Their options are made from the games' settings, so that this module imports the games.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, cast

import typer

from birdenv.cli.options._game_options import GameOptions, option_names, options_of
from birdenv.cli.options._models import PairOptions
from birdenv.cli.options._option_groups import RunOptions, takes_groups
from birdenv.errors import InputError
from birdenv.tasks.a_interact._game import AInteractSettings
from birdenv.tasks.c_interact._game import CInteractSettings

if TYPE_CHECKING:
    from birdenv.dialogue import Arena
    from birdenv.tasks.c_interact import InteractTasks

_RUN, _MODELS = RunOptions(), PairOptions()
_C_INTERACT, _A_INTERACT = options_of(CInteractSettings), options_of(AInteractSettings)

_User = Annotated[
    str, typer.Option("--user", help="Who answers: rule, llm:MODEL, rule+llm:MODEL, or module:factory.")
]


def load(name: str, options: GameOptions, agent: str) -> Arena:
    """Load a game of BIRD-Interact for a run; warns of what is missing.

    Raises:
        InputError: options, files or databases cannot be used.
    """
    from birdenv.benchmarks import WHERE_TO_ASK, missing_ground_truth
    from birdenv.cli.games._running import load_game

    arena = load_game(name, options.settings(), agent, option_names(options.model))
    tasks = cast("InteractTasks", arena._tasks)
    missing = missing_ground_truth(list(tasks.tasks.values()))
    if not missing and tasks.notes:
        missing = missing_ground_truth(tasks.everything)
    if missing:
        where = f"ground truth is missing in {tasks.data_file}: {missing}"
        print(f"Warning: {where}. Without sol_sql nothing is graded. {WHERE_TO_ASK}", file=sys.stderr)
    return arena


@takes_groups
def a_interact(
    settings: GameOptions = _A_INTERACT,
    run: RunOptions = _RUN,
    user: _User = "rule",
    models: PairOptions = _MODELS,
) -> None:
    """Play a-Interact: the same with tools on a budget.

    Nine tools, each with its price: ask the user (2), run SQL (1), submit (3), read schema, column meanings
    and knowledge (0.5 or 1). Budget: 6 + 2 for each ambiguity + 2 for each unit of patience, for the question
    and its follow-up (BIRD-Interact).

    Rewards: 0.7 for the question and 0.3 for the follow-up, at any attempt. execute_sql is one of the tools;
    there are no official files of this game.

    Agents: random, never-asks, asks-first, oracle, human, predictions:FILE, llm:MODEL, module:factory, and
    any that you install.

    Example: birdenv a-interact mini_interact --data merged.jsonl --agent oracle
    """
    from birdenv.cli.games._running import run_game

    arena = load("a-interact", settings, run.agent)
    run_game(arena, run, {"user": user}, models=models.settings())


@takes_groups
def c_interact(
    settings: GameOptions = _C_INTERACT,
    run: RunOptions = _RUN,
    user: _User = "rule",
    official_files: Annotated[
        bool,
        typer.Option(
            "--official-files",
            help="Also write the original pipeline's files, to private_official in the run folder. Private: "
            "they hold the gold. Large: each line repeats the prompts.",
        ),
    ] = False,
    models: PairOptions = _MODELS,
) -> None:
    """Play c-Interact: ambiguous question -> dialogue -> SQL.

    Clarification, SQL, one debug attempt, a follow-up, one debug attempt (BIRD-Interact).

    Rewards: 0.7 for the question (0.5 after debug) and 0.3 for the follow-up (0.2 after debug).

    Agents: random, never-asks, asks-first, oracle, human, predictions:FILE, llm:MODEL, llm-markup:MODEL,
    module:factory, and any that you install.

    Example: birdenv c-interact mini_interact --data merged.jsonl --agent oracle
    """
    from birdenv.cli.games._running import run_game
    from birdenv.runs.official.write import write_official_files

    if official_files and settings.settings()["execute_sql"]:
        raise InputError("--official-files has no place for SQL that is only tried: leave out --execute-sql")
    arena = load("c-interact", settings, run.agent)
    directory = run_game(arena, run, {"user": user}, models=models.settings())
    if official_files:
        place = write_official_files(directory, arena, run.repeats)
        print(f"Official files, private (they hold the gold): {place}")
        print(f"Their score: birdenv score-official {directory.path}")
