"""`birdenv scenarios`: the scenarios of any game as a file that CoCoA reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from birdenv.cli.games._play import read_extra
from birdenv.errors import InputError


def scenarios(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="A registered game, such as mutual-friends.")],
    schema: Annotated[
        Path | None, typer.Option("--schema", help="Schema to draw from, where the game draws from one.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Decides what is drawn.")] = None,
    number: Annotated[int | None, typer.Option("--number", "-n", min=1, help="How many.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The JSON file.")] = Path("scenarios.json"),
) -> None:
    """Write scenarios: drawn ones, or the tasks of a benchmark.

    MutualFriends draws from a schema, Bargain from our own advertisements, DealOrNoDeal from nothing. The SQL
    games write the public half of their tasks. Further settings of the game follow as --name value:

    birdenv scenarios mutual-friends --schema schema.json --seed 1 -n 100 --items 5,12
    birdenv scenarios bargain --discounts 0.9,0.7,0.5
    birdenv scenarios bird --data-file tasks.json --db-dir databases
    """
    from birdenv.dialogue import make_game
    from birdenv.dialogue.cocoa import as_scenario, write_scenarios
    from birdenv.dialogue.games import find_game

    found = find_game(game)
    given: dict[str, Any] = read_extra(context.args, found)
    options = {
        "schema_file": ("--schema", None if schema is None else str(schema)),
        "scenario_seed": ("--seed", seed),
        "limit": ("-n", number),
    }
    for name, (option, value) in options.items():
        if value is None:
            continue
        if name not in found.settings.model_fields:
            raise InputError(f"{game} has no scenarios to draw: leave out {option}")
        given[name] = value
    with make_game(found, **given) as arena:
        made = [as_scenario(arena._tasks.scenario(instance_id)) for instance_id in arena.ids]
    write_scenarios(output, made)
    print(f"{len(made)} scenarios of {game}: {output}")
