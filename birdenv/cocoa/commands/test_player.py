"""`birdenv test-player`: test players on recorded dialogues and in self-play."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from birdenv.cocoa.commands._recorded_dialogues import (
    Data,
    GameName,
    Scenarios,
    Seed,
    given_settings,
    progress_bar,
    read_dialogues,
)
from birdenv.errors import InputError
from birdenv.statistics import Figure

if TYPE_CHECKING:
    from birdenv.cocoa.acts import Transcripts
    from birdenv.dialogue import Game

_COMPARED: Final = (
    "word_perplexity",
    "own_word_perplexity",
    "selection_accuracy",
    "success",
    "reward",
    "reward of the other",
    "pareto",
    "events",
)
"""The columns of the table that compares several players."""

_SelfPlay = Annotated[
    int, typer.Option("--selfplay", min=0, help="Also play this many dialogues on the game's tasks.")
]


def test_player(
    context: typer.Context,
    game: GameName,
    player: Annotated[
        list[str],
        typer.Option(
            "--player",
            help="Player to test, such as learned:FILE or rulebased; several are compared in one table.",
        ),
    ],
    data: Data = None,
    scenarios: Scenarios = None,
    selfplay: _SelfPlay = 0,
    partner: Annotated[
        str | None, typer.Option("--partner", help="Player in the other seat (default: the player itself).")
    ] = None,
    seed: Seed = 0,
    output: Annotated[
        Path | None, typer.Option("--json", help="Also write the results to this JSON file.")
    ] = None,
) -> None:
    """Test players on recorded dialogues and in self-play.

    An act is an action with the intent of each sentence (ask, agree, ...) and the attributes that it mentions
    (Company, price, ...). All intervals are 95% intervals over the recorded dialogues or the tasks. The time
    per move is printed on standard error.

    \b
    birdenv test-player bargain --player learned:bargain.json --data test.json --selfplay 200
    birdenv test-player bargain --player rulebased --player learned:bargain.json --selfplay 200
    """
    from birdenv.cocoa.acts import Transcripts
    from birdenv.dialogue.games import find_game
    from birdenv.files import check_writable, write_text

    found, given = find_game(game), given_settings(context)
    if output is not None:
        check_writable(output)
    settings = given
    tested: list[dict[str, Any]] = [{"game": found.name, "player": each} for each in player]
    if data or not selfplay:
        examples, settings = read_dialogues(found, data, scenarios, given)
        with Transcripts(found, examples, settings) as transcripts:
            for figures in tested:
                figures["moves"] = predicted_moves(transcripts, figures["player"], seed)
                print_table(f"{figures['player']} on {len(examples)} dialogues", figures["moves"])
    for figures in tested if selfplay else ():
        sitting = _sitting(found, figures["player"], partner)
        figures["selfplay"] = _played(found, sitting, selfplay, seed, settings)
        others = ", ".join(dict.fromkeys(each for each in sitting if each != figures["player"]))
        print_table(f"{figures['player']} with {others or 'itself'}", figures["selfplay"])
    if len(tested) > 1:
        _print_comparison(tested)
    if output is not None:
        told = tested[0] if len(tested) == 1 else {"players": tested}
        write_text(output, json.dumps(_as_json(told), indent=1) + "\n")


def predicted_moves(transcripts: Transcripts, player: str, seed: int) -> dict[str, Any]:
    """Measure how well a player predicts recorded moves, and print the player's time per move."""
    from birdenv.cocoa.player_evaluation import predict_moves
    from birdenv.dialogue.arena import player_factory
    from birdenv.dialogue.players import AGENTS

    game = transcripts.game
    factory, argument = player_factory(player, AGENTS, game.name)
    seats = {seat for seat in range(len(game.seats)) if _can_sit(player, game, seat)}
    with progress_bar(f"testing on {len(transcripts)} dialogues") as progress:
        found = predict_moves(transcripts, factory, argument, seed, progress, seats)
    if found.seconds:
        print(f"{player} takes {found.time_of_a_move} per move", file=sys.stderr)
    return found.figures()


def _sitting(game: Game, player: str, partner: str | None) -> list[str]:
    """Return the players of all seats. The tested player takes the evaluated seat."""
    seats = range(len(game.seats))
    return [player if seat == game.evaluated else partner or _partner(player, game, seat) for seat in seats]


def _played(
    game: Game, players: Sequence[str], number: int, seed: int, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the results of self-play. The players swap seats if each of them can take every seat."""
    from birdenv.cocoa.player_evaluation import self_play

    turning = all(_can_sit(each, game, seat) for each in players for seat in range(len(players)))
    with progress_bar(f"{number} dialogues of {', '.join(players)}") as progress:
        return self_play(game, players, number, seed, progress, settings, turning).figures()


def _partner(player: str, game: Game, seat: int) -> str:
    """Return the player itself or, for a seat that it cannot take, the game's default player."""
    usual = game.players.get(seat)
    return player if usual is None or _can_sit(player, game, seat) else usual


def _can_sit(player: str, game: Game, seat: int) -> bool:
    """Return False for a player that is registered for other seats only."""
    from birdenv.dialogue.players import AGENTS, USERS, PlayerSpec

    try:
        PlayerSpec(player, AGENTS if seat == game.evaluated else USERS).check()
    except InputError:
        return False
    return True


def print_table(title: str, figures: Mapping[str, Any]) -> None:
    """Print a title and the defined results, one per line."""
    print(f"\n{title}")
    for name, value in figures.items():
        shown = _shown(value)
        if shown:
            print(f"  {name.replace('_', ' '):<20} {shown:>12}")


def _print_comparison(tested: Sequence[Mapping[str, Any]]) -> None:
    """Print a Markdown table with a row for each player, omitting empty columns."""
    rows = [{**each.get("moves", {}), **each.get("selfplay", {})} for each in tested]
    for row in rows:
        row.update(zip(("reward", "reward of the other"), row.pop("rewards", ()), strict=False))
    shown = [{name: _shown(row.get(name)) for name in _COMPARED} for row in rows]
    names = [name for name in _COMPARED if any(row[name] for row in shown)]
    lines = [["player", *(name.replace("_", " ") for name in names)], ["---"] * (len(names) + 1)]
    lines += [
        [each["player"], *(row[name] for name in names)] for each, row in zip(tested, shown, strict=True)
    ]
    print()
    for line in lines:
        print(f"| {' | '.join(line)} |")


def _as_json(value: Any) -> Any:
    if isinstance(value, Figure):
        return value.to_json()
    if isinstance(value, dict):
        return {name: _as_json(each) for name, each in value.items()}
    return [_as_json(each) for each in value] if isinstance(value, list) else value


def _shown(value: Any) -> str:
    """Return a result as text, or an empty string if it is not defined."""
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if isinstance(value, Figure):
        return "" if value.value is None else value._replace(why="").text()
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else str(value)
