"""`birdenv play`: play any registered game. `birdenv selfplay`: record dialogues between two players.

Modules that are needed only for a run are imported where they are used, so that `--help` is fast.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from birdenv.cli.options._run_options import AgentOptions, RunFolder
from birdenv.cli.options.settings_command import SettingsCommand, choices
from birdenv.errors import InputError
from birdenv.llm import ModelSettings
from birdenv.run_settings import RunSettings
from birdenv.statistics import counted

app = typer.Typer(rich_markup_mode=None)


class _PlayCommand(SettingsCommand):
    groups = (RunSettings, AgentOptions(agent="human"), ModelSettings)
    seats = "others"


class _SelfplayCommand(SettingsCommand):
    groups = (RunSettings, RunFolder(), ModelSettings)
    seats = "none"
    without = ("repeats",)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        players = self._first_look(ctx, args).get("players", ())
        if any(player.startswith("-") for player in players):
            raise InputError(f"--players needs two players, but only one is given: {players[0]}")
        return super().parse_args(ctx, args)


@app.command(cls=_PlayCommand)
def play(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="A registered game, such as c-interact, or module:GAME.")],
) -> None:
    """Play any game, including your own as module:GAME.

    There is an option for each setting of the game, and for the player of each other seat, named after the
    seat. `birdenv play c-interact --help` lists these options. To pass a list, write a,b,c or repeat the
    option. `bird`, `c-interact` and `a-interact` are shorthands.

    Example: birdenv play c-interact --agent oracle --limit 2
    """
    from birdenv.cli.games._running import load_game, run_game

    chosen = choices(context)
    run_game(load_game(game, chosen), chosen, chosen.players)


@app.command(cls=_SelfplayCommand)
def selfplay(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="A registered game of two seats, such as c-interact.")],
    players: Annotated[
        tuple[str, str],
        typer.Option(
            "--players", help="The two players in seat order, each a name, name:argument, or module:factory."
        ),
    ] = ("asks-first", "rule"),
    episodes: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--episodes",
            min=1,
            help="Number of dialogues; after the last task, the tasks start over. Default: each task once.",
        ),
    ] = None,
) -> None:
    """Let two players talk to each other, and record the run.

    The first player takes the game's first seat. There is an option for each setting of the game, such as
    --reward-scheme user_cost. `birdenv selfplay c-interact --help` lists these options.

    Example: birdenv selfplay c-interact --players asks-first rule:vague -n 100 --seed 1
    """
    from birdenv.cli.games._running import load_game, run_game
    from birdenv.dialogue.games import find_game

    found, chosen = find_game(game), choices(context)
    if len(found.seats) != len(players):
        raise InputError(
            f"{found.name} has {counted(len(found.seats), 'seat')}, but --players names two players"
        )
    by_seat = dict(zip(found.seat_names, players, strict=True))
    agent = by_seat.pop(found.seat_names[found.evaluated])
    arena = load_game(found.name, chosen, agent)
    tasks = len(arena.ids)
    most = tasks if episodes is None else episodes
    run_game(arena, chosen, by_seat, agent=agent, changes={"episodes": most, "repeats": -(-most // tasks)})
