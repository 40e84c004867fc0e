"""`birdenv scenarios`: write any game's scenarios to a file that CoCoA can read."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Annotated, Any

import typer

from birdenv.cli.options.settings_command import choices
from birdenv.errors import InputError


def scenarios(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="A registered game, such as mutual-friends.")],
    schema: Annotated[
        Path | None, typer.Option("--schema", help="Schema to generate scenarios from, if the game uses one.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed for random scenarios.")] = None,
    number: Annotated[int | None, typer.Option("--number", "-n", min=1, help="Number of scenarios.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write.  [default: scenarios-GAME.json]")
    ] = None,
) -> None:
    """Write generated scenarios, or the tasks of a benchmark, to a file.

    MutualFriends generates scenarios from a schema, Bargain from advertisements (built-in ones, or
    --listings), and DealOrNoDeal needs neither. For other games, the public half of each task is written:
    the first tasks of the benchmark or, with --seed, random tasks. Add more game settings as --name value:

    \b
    birdenv scenarios mutual-friends --schema schema.json --seed 1 -n 100 --items 5,12
    birdenv scenarios bargain --discounts 0.9,0.7,0.5 --listings mine.json
    birdenv scenarios bird --data-file tasks.json --db-dir databases
    """
    from birdenv.cocoa.files import as_scenario, write_scenarios
    from birdenv.dialogue import make_game
    from birdenv.dialogue.games import find_game

    found = find_game(game)
    given: dict[str, Any] = choices(context).settings
    fields = found.settings.model_fields
    if schema is not None:
        if "schema_file" not in fields:
            raise InputError(f"{game} does not use a schema: leave out --schema")
        given["schema_file"] = str(schema)
    if seed is not None and "scenario_seed" in fields:
        given["scenario_seed"], seed = seed, None
    if number is not None and "limit" in fields and seed is None:
        given["limit"], number = number, None
    with make_game(found, **given) as arena:
        ids = arena.ids if seed is None else Random(seed).sample(arena.ids, len(arena.ids))
        made = [as_scenario(arena._tasks.scenario(instance_id)) for instance_id in ids[:number]]
    file = output or Path(f"scenarios-{found.name}.json")
    write_scenarios(file, made)
    print(f"{len(made)} scenarios of {game}: {file}")
