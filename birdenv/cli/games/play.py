"""`birdenv play`: any registered game. `birdenv selfplay`: dialogues between two players.

Help comes at once: the rooms are imported where they are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from birdenv.cli.options._models import PairOptions
from birdenv.cli.options._option_groups import RunFolder, RunOptions, takes_groups
from birdenv.cli.options._run_options import further_given
from birdenv.errors import InputError

if TYPE_CHECKING:
    from birdenv.dialogue import Game


_FOLDER, _BOTH_MODELS = RunFolder(), PairOptions()


@takes_groups
def selfplay(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="A registered game of two seats, such as c-interact.")],
    players: Annotated[
        tuple[str, str],
        typer.Option(
            "--players", help="Who plays, seat by seat: names, name:argument, or module:factory, twice."
        ),
    ] = ("asks-first", "rule"),
    episodes: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--episodes",
            min=1,
            help="Dialogues; after the last task comes the first. Default: each task once.",
        ),
    ] = None,
    folder: RunFolder = _FOLDER,
    models: PairOptions = _BOTH_MODELS,
) -> None:
    """Let two players talk to each other, and keep the run.

    The first player has the game's first seat. Settings of the game follow as --name value, such as
    --reward-scheme user_cost --disclosure-price 0.05.

    Example: birdenv selfplay c-interact --players asks-first rule:vague -n 100 --seed 1
    """
    from birdenv.cli.games._running import load_game, run_game
    from birdenv.dialogue.games import find_game

    found = find_game(game)
    if players[1].startswith("-"):
        raise InputError(f"--players takes two players, and there is one: {players[0]}")
    if len(found.seats) != len(players):
        raise InputError(f"{found.name} has {len(found.seats)} seat(s), and --players names two players")
    given = read_extra(further_given(context), found)
    if named := [name for name in found.seat_names if name in given]:
        raise InputError(f"--{named[0]}: --players says who plays")
    by_seat = dict(zip(found.seat_names, players, strict=True))
    agent = by_seat.pop(found.seat_names[found.evaluated])
    arena = load_game(game, given, agent, names={})
    tasks = len(arena.ids)
    most = tasks if episodes is None else episodes
    run = RunOptions(**vars(folder), agent=agent, repeats=-(-most // tasks))
    run_game(arena, run, by_seat, models=models.settings(), episodes=most)


_BY_HAND, _MODELS = RunOptions(agent="human"), PairOptions()


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
