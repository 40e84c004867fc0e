"""`birdenv selfplay`: a number of dialogues between two players, in any game of two seats."""

from __future__ import annotations

from typing import Annotated

import typer

from birdenv.cli.options._models import PairOptions
from birdenv.cli.options._option_groups import RunFolder, RunOptions, takes_groups
from birdenv.cli.options._run_options import further_given
from birdenv.errors import InputError

_FOLDER, _MODELS = RunFolder(), PairOptions()


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
    models: PairOptions = _MODELS,
) -> None:
    """Let two players talk to each other, and keep the run.

    The first player has the game's first seat. Settings of the game follow as --name value, such as
    --reward-scheme user_cost --disclosure-price 0.05.

    Example: birdenv selfplay c-interact --players asks-first rule:vague -n 100 --seed 1
    """
    from birdenv.cli.games._running import load_game, run_game
    from birdenv.cli.games.play import read_extra
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
