"""`birdenv play`: any registered game; `birdenv c-interact` and `birdenv a-interact`: two of them.

Help comes at once: the rooms are imported where they are used.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from birdenv.cli.options._game_options import GameOptions, option_names, options_of
from birdenv.cli.options._models import PairOptions
from birdenv.cli.options._option_groups import RunOptions, takes_groups
from birdenv.cli.options._run_options import further_given
from birdenv.errors import InputError
from birdenv.tasks.a_interact._game import AInteractSettings
from birdenv.tasks.c_interact._game import CInteractSettings

if TYPE_CHECKING:
    from birdenv.dialogue import Arena, Game
    from birdenv.tasks.c_interact import InteractTasks

_RUN, _MODELS = RunOptions(), PairOptions()
_C_INTERACT, _A_INTERACT = options_of(CInteractSettings), options_of(AInteractSettings)
_BY_HAND = RunOptions(agent="human")

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


@takes_groups
def play(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="A registered game, such as c-interact, or module:GAME.")],
    run: RunOptions = _BY_HAND,
    models: PairOptions = _MODELS,
) -> None:
    """Play any game, also one of your own as module:GAME.

    Its settings, and the players of its other seats by the seats' names, follow as --name value:
    birdenv play c-interact --user rule --patience 2. Without value, --name is true. A list is given as
    a,b,c. `bird`, `c-interact` and `a-interact` are shorthands with options of their own.

    Example: birdenv play c-interact --agent oracle --limit 2
    """
    from birdenv.cli.games._running import load_game, run_game
    from birdenv.dialogue.games import find_game

    found = find_game(game)
    given = read_extra(further_given(context), found)
    players = {name: str(given.pop(name)) for name in found.seat_names if name in given}
    evaluated = found.seat_names[found.evaluated]
    if evaluated in players:
        raise InputError(f"--{evaluated}: this seat is the agent's, so --agent says who plays it")
    arena = load_game(found.name, given, run.agent, names={})
    run_game(arena, run, players, models=models.settings())


def read_extra(words: Sequence[str], game: Game) -> dict[str, Any]:
    """Return settings from `--name value` words; `--name=value` and `-n` for `--limit` are taken, too.

    Raises:
        InputError: a word is no setting of the game; the message lists them.
    """
    fields = game.settings.model_fields
    known = [*fields, *game.seat_names]
    values: dict[str, Any] = {}
    left = list(words)
    while left:
        given = left.pop(0)
        word, equals, value = given.partition("=")
        if equals:
            left.insert(0, value)
        word = "--limit" if word == "-n" else word
        name = word.removeprefix("--").replace("-", "_")
        if not word.startswith("--") or name not in known:
            shown = ", ".join("--" + each.replace("_", "-") for each in known)
            raise InputError(f"{given!r} is no option of {game.name}; it takes {shown}")
        is_flag = name in fields and fields[name].annotation is bool
        if is_flag and not equals and (not left or left[0].startswith("--")):
            values[name] = True
            continue
        if not left:
            raise InputError(f"{word} needs a value")
        value = left.pop(0)
        is_list = name in fields and "tuple" in str(fields[name].annotation)
        is_number = name in fields and fields[name].annotation is int
        values[name] = value.split(",") if is_list else _number(word, value) if is_number else value
    return values


def _number(word: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise InputError(f"{word} needs a whole number, got {value!r}") from None
