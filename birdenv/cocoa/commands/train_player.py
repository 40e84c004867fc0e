"""`birdenv train-player`: players that learn from dialogues, and from playing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from pathlib import Path
from random import Random
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
from birdenv.cocoa.commands.test_player import foretold, print_table
from birdenv.errors import InputError
from birdenv.plugins import load_plugin, plugins

if TYPE_CHECKING:
    from birdenv.cocoa.files import ExampleRecord
    from birdenv.dialogue import Game

TRAINERS: Final = "birdenv.trainers"
"""The group of entry points: functions of transcripts, the file to write, a seed and a progress."""

REINFORCERS: Final = "birdenv.reinforcers"
"""Functions of a game, a trained player's file, the file to write, a seed, a progress, a number of dialogues
and the game's settings."""


def train_player(
    context: typer.Context,
    game: GameName,
    data: Data = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The player's file.")] = Path("player.json"),
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="learned: draws acts and says them in the words of the dialogues; hybrid: chooses among "
            "the moves of rulebased; retrieval: does what was done in the most similar place; neural: a "
            "recurrent network that says words and acts.",
        ),
    ] = "learned",
    seed: Seed = 0,
    held_out_share: Annotated[
        float, typer.Option("--held-out-share", min=0, max=0.9, help="Share of the dialogues to test it on.")
    ] = 0.2,
    scenarios: Scenarios = None,
    without: Annotated[
        list[Path] | None,
        typer.Option("--without", help="Leave out the dialogues of this file; may be repeated."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted training (neural).")
    ] = False,
    reinforce: Annotated[
        int,
        typer.Option(
            "--reinforce", min=0, help="Play this many dialogues with --from, and learn from the rewards."
        ),
    ] = 0,
    start: Annotated[
        Path | None, typer.Option("--from", help="The trained player that --reinforce begins with and plays.")
    ] = None,
) -> None:
    """Train a player on dialogues, and test it on others.

    The player then sits in any seat: birdenv selfplay GAME --players learned:FILE rulebased; or in `web`.
    Games whose tasks are not in the dialogues (text-to-SQL) play them again with the settings of the run or
    study; further settings follow as --name value.

    With --reinforce, a trained neural player learns on from dialogues with a fixed copy of itself.

    \b
    birdenv train-player bargain --data transcripts.json --out bargain.json
    birdenv train-player bargain --kind neural --data transcripts.json --out bargain.safetensors
    birdenv train-player bargain --kind neural --reinforce 4000 --from bargain.safetensors -o b2.safetensors
    """
    from birdenv.cocoa.acts import Transcripts
    from birdenv.dialogue.games import find_game
    from birdenv.files import check_writable

    found, given = find_game(game), given_settings(context)
    train_on = _trainer(TRAINERS, kind)
    check_writable(out)
    if reinforce or start is not None:
        _reinforce(found, kind, start, out, seed, reinforce, given)
        return
    if resume and "resume" not in signature(train_on).parameters:
        raise InputError(f"--kind {kind} trains in one step, so it has no --resume")
    examples, settings = read_dialogues(found, data, scenarios, given)
    examples = _left(examples, without or ())
    Random(seed).shuffle(examples)
    kept = max(1, round(len(examples) * (1 - held_out_share)))
    train, held_out = examples[:kept], examples[kept:]
    title = f"training on {len(train)} dialogues"
    with Transcripts(found, train, settings) as transcripts, progress_bar(title) as progress:
        train_on(transcripts, out, seed, progress, **({"resume": True} if resume else {}))
    print(f"Trained on {len(train)} dialogues. The player: {kind}:{out}")
    if held_out:
        with Transcripts(found, held_out, settings) as transcripts:
            figures = foretold(transcripts, f"{kind}:{out}", seed)
        print_table(f"{len(held_out)} dialogues held out", figures)


def _trainer(group: str, kind: str) -> Callable[..., None]:
    known = plugins(group)
    if kind not in known:
        raise InputError(f"--kind {kind!r} is unknown; known: {', '.join(sorted(known))}")
    made: Callable[..., None] = load_plugin(known[kind])
    return made


def _reinforce(
    game: Game,
    kind: str,
    start: Path | None,
    out: Path,
    seed: int,
    dialogues: int,
    further: dict[str, Any],
) -> None:
    if start is None or not dialogues:
        raise InputError("--reinforce N needs a trained player to begin with, --from FILE, and that needs N")
    learn = _trainer(REINFORCERS, kind)
    with progress_bar(f"reinforcing over {dialogues} dialogues") as progress:
        learn(game, start, out, seed, progress, dialogues, further)
    print(f"Played {dialogues} dialogues with {start}. The player: {kind}:{out}")


def _left(examples: list[ExampleRecord], without: Sequence[Path]) -> list[ExampleRecord]:
    """Return the dialogues that are in none of some files."""
    from birdenv.cocoa.files import read_examples

    others = {example.uuid for path in without for example in read_examples(path)}
    left = [example for example in examples if example.uuid not in others]
    if not left:
        raise InputError("--without leaves no dialogue to train on")
    return left
