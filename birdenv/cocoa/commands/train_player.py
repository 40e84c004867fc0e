"""`birdenv train-player`: train players on recorded dialogues or in self-play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Final

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
from birdenv.cocoa.commands.test_player import predicted_moves, print_table
from birdenv.errors import InputError
from birdenv.plugins import load_plugin, plugins

if TYPE_CHECKING:
    from birdenv.cocoa.files import ExampleRecord

TRAINERS: Final = "birdenv.trainers"
"""The entry-point group for functions that train a player. They take transcripts, the file to write, a seed,
and a function that receives the completed share of the work."""

REINFORCERS: Final = "birdenv.reinforcers"
"""The entry-point group for functions that improve a trained player. They take a game, the player's file, the
file to write, a seed, a function for the progress, the number of dialogues, and the game's settings."""


def train_player(
    context: typer.Context,
    game: GameName,
    data: Data = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write the player to.")] = Path(
        "player.json"
    ),
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="learned: samples acts, and words them as in the dialogues; hybrid: chooses among the "
            "moves of rulebased; retrieval: repeats the move from the most similar situation; neural: a "
            "recurrent network that generates words and actions.",
        ),
    ] = "learned",
    seed: Seed = 0,
    held_out_share: Annotated[
        float,
        typer.Option(
            "--held-out-share", min=0, max=0.9, help="Share of the dialogues to hold out for testing."
        ),
    ] = 0.2,
    scenarios: Scenarios = None,
    without: Annotated[
        list[Path] | None,
        typer.Option("--without", help="Exclude the dialogues in this file; may be repeated."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted training (neural).")
    ] = False,
    reinforce: Annotated[
        int,
        typer.Option(
            "--reinforce",
            min=0,
            help="Let the --from player learn from its rewards in this many dialogues (neural).",
        ),
    ] = 0,
    start: Annotated[
        Path | None, typer.Option("--from", help="Trained player that --reinforce improves.")
    ] = None,
) -> None:
    """Train a player on dialogues, and test it on held-out dialogues.

    The trained player can take any seat: birdenv selfplay GAME --players learned:FILE rulebased, or a study
    of `birdenv web`. If dialogues do not contain their tasks (text-to-SQL), they are replayed with the
    settings of their run or study; pass additional settings as --name value.

    With --reinforce, a trained neural player improves by playing with itself. The --from file is not changed.

    \b
    birdenv train-player bargain --data transcripts.json --out bargain.json
    birdenv train-player bargain --kind neural --data transcripts.json --out bargain.safetensors
    birdenv train-player bargain --kind neural --reinforce 640 --from bargain.safetensors -o b2.safetensors
    """
    from birdenv.cocoa.acts import Transcripts
    from birdenv.dialogue.games import find_game
    from birdenv.files import check_writable

    found, given = find_game(game), given_settings(context)
    train_on = _trainer(TRAINERS, kind)
    check_writable(out)
    if reinforce or start is not None:
        if start is None or not reinforce:
            raise InputError("--reinforce and --from only work together: specify both options")
        learn = _trainer(REINFORCERS, kind)
        with progress_bar(f"reinforcing over {reinforce} dialogues") as progress:
            learn(found, start, out, seed, progress, reinforce, given)
        print(f"Reinforced {start} over {reinforce} dialogues. Use the player as {kind}:{out}")
        return
    if resume and "resume" not in signature(train_on).parameters:
        raise InputError(f"--kind {kind} trains in one step: leave out --resume")
    examples, settings = read_dialogues(found, data, scenarios, given)
    examples = _left(examples, without or ())
    Random(seed).shuffle(examples)
    kept = max(1, round(len(examples) * (1 - held_out_share)))
    train, held_out = examples[:kept], examples[kept:]
    title = f"training on {len(train)} dialogues"
    with Transcripts(found, train, settings) as transcripts, progress_bar(title) as progress:
        train_on(transcripts, out, seed, progress, **({"resume": True} if resume else {}))
    print(f"Trained on {len(train)} dialogues. Use the player as {kind}:{out}")
    if held_out:
        with Transcripts(found, held_out, settings) as transcripts:
            figures = predicted_moves(transcripts, f"{kind}:{out}", seed)
        print_table(f"{len(held_out)} dialogues held out", figures)


def _trainer(group: str, kind: str) -> Callable[..., None]:
    known = plugins(group)
    if kind not in known:
        raise InputError(f"--kind {kind!r} is unknown; choose from {', '.join(sorted(known))}")
    made: Callable[..., None] = load_plugin(known[kind])
    return made


def _left(examples: list[ExampleRecord], without: Sequence[Path]) -> list[ExampleRecord]:
    """Return the dialogues that are in none of the files."""
    from birdenv.cocoa.files import read_examples

    others = {example.uuid for path in without for example in read_examples(path)}
    left = [example for example in examples if example.uuid not in others]
    if not left:
        raise InputError("no dialogues are left to train on: the --without files contain all dialogues")
    return left
