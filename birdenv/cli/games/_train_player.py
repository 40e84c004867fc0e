"""`birdenv train-player` and `birdenv test-player`: players that learn from dialogues, and their tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from birdenv.errors import InputError

if TYPE_CHECKING:
    from birdenv.dialogue import Game
    from birdenv.dialogue.cocoa import ExampleRecord

TRAINERS: Final = "birdenv.trainers"
"""The group of entry points: functions of a game, dialogues, the file to write, a seed and a progress."""

_GameName = Annotated[str, typer.Argument(help="A game with scenarios, such as mutual-friends.")]
_Data = Annotated[
    list[Path] | None,
    typer.Option(
        "--data",
        help="Dialogues: a file as `export --format cocoa` writes it, a run or a study; may be repeated.",
    ),
]
_Scenarios = Annotated[
    Path | None, typer.Option("--scenarios", help="Scenarios of dialogues that have only their ids.")
]
_Seed = Annotated[int, typer.Option("--seed", min=0, help="Decides what is drawn.")]
_SelfPlay = Annotated[
    int, typer.Option("--selfplay", min=0, help="Also let it play so many dialogues on scenarios of its own.")
]


def train_player(
    game: _GameName,
    data: _Data = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The player's file.")] = Path("player.json"),
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="learned: draws acts and says them in the words of the dialogues; hybrid: chooses among "
            "the moves of rulebased; retrieval: does what was done in the most similar place.",
        ),
    ] = "learned",
    seed: _Seed = 0,
    held_out_share: Annotated[
        float, typer.Option("--held-out-share", min=0, max=0.9, help="Share of the dialogues to test it on.")
    ] = 0.2,
    scenarios: _Scenarios = None,
) -> None:
    """Train a player on dialogues, and test it on those that were held out.

    The player then sits in any seat: birdenv selfplay GAME --players learned:FILE rulebased; or in `web`.

    Example: birdenv train-player bargain --data transcripts.json --out bargain.json
    """
    from birdenv.dialogue.games import find_game
    from birdenv.files import check_writable

    found = find_game(game)
    trainers = {entry.name: entry for entry in entry_points(group=TRAINERS)}
    if kind not in trainers:
        raise InputError(f"--kind {kind!r} is unknown; known: {', '.join(sorted(trainers))}")
    check_writable(out)
    examples = _read(data, scenarios)
    Random(seed).shuffle(examples)
    kept = max(1, round(len(examples) * (1 - held_out_share)))
    train, held_out = examples[:kept], examples[kept:]
    with _progress(f"training on {len(train)} dialogues") as progress:
        trainers[kind].load()(found, train, out, seed, progress)
    print(f"Trained on {len(train)} dialogues. The player: {kind}:{out}")
    if held_out:
        _print_table(f"{len(held_out)} dialogues held out", _foretold(found, f"{kind}:{out}", held_out, seed))


def test_player(
    game: _GameName,
    player: Annotated[str, typer.Option("--player", help="A player, such as learned:FILE or rulebased.")],
    data: _Data = None,
    scenarios: _Scenarios = None,
    selfplay: _SelfPlay = 0,
    partner: Annotated[
        str | None, typer.Option("--partner", help="Who plays with it; default: the player itself.")
    ] = None,
    seed: _Seed = 0,
    output: Annotated[
        Path | None, typer.Option("--json", help="Also write the figures to this file.")
    ] = None,
) -> None:
    """Test a player on recorded dialogues: does it do what was done there? And let it play.

    An act is an action and what its sentences are for (ask, agree ..) and name (Company, price ..).

    Example: birdenv test-player bargain --player learned:bargain.json --data test.json --selfplay 200
    """
    from birdenv.dialogue.games import find_game
    from birdenv.files import check_writable, write_text

    found = find_game(game)
    if output is not None:
        check_writable(output)
    figures: dict[str, Any] = {"game": found.name, "player": player}
    if data or not selfplay:
        examples = _read(data, scenarios)
        figures["moves"] = _foretold(found, player, examples, seed)
        _print_table(f"{player} on {len(examples)} dialogues", figures["moves"])
    if selfplay:
        figures["selfplay"] = _played(found, (player, partner or player), selfplay, seed)
        _print_table(f"{player} with {partner or 'itself'}", figures["selfplay"])
    if output is not None:
        write_text(output, json.dumps(figures, indent=1) + "\n")


def _read(paths: Sequence[Path] | None, scenarios: Path | None) -> list[ExampleRecord]:
    """The dialogues of files, runs and studies."""
    from birdenv.cli._export import whole_dialogues
    from birdenv.dialogue.cocoa import ExampleRecord, read_examples, read_scenarios
    from birdenv.dialogue.cocoa._dialogue_files import exact

    if not paths:
        raise InputError(
            "no dialogues: name a file, a run or a study with --data. birdenv selfplay and birdenv web make "
            "runs and studies"
        )
    known = [] if scenarios is None else read_scenarios(scenarios)
    found: list[ExampleRecord] = []
    for path in paths:
        if path.is_dir():
            found += [ExampleRecord.model_validate(exact(row)) for row in whole_dialogues(path, "cocoa")]
        else:
            found += read_examples(path, known)
    if not found:
        raise InputError(f"{paths[0]} holds no finished dialogue")
    return found


def _foretold(game: Game, player: str, examples: Sequence[ExampleRecord], seed: int) -> dict[str, Any]:
    from birdenv.dialogue.acts import Transcripts
    from birdenv.dialogue.arena import player_factory
    from birdenv.dialogue.players import AGENTS
    from birdenv.runs.player_evaluation import foretell

    factory, argument = player_factory(player, AGENTS)
    transcripts = Transcripts(game, examples)
    with transcripts.arena, _progress(f"testing on {len(examples)} dialogues") as progress:
        return foretell(transcripts, factory, argument, seed, progress).figures()


def _played(game: Game, players: tuple[str, str], number: int, seed: int) -> dict[str, Any]:
    from birdenv.runs.player_evaluation import self_play

    with _progress(f"{number} dialogues of {players[0]}") as progress:
        return self_play(game, players, number, seed, progress).figures()


def _print_table(title: str, figures: Mapping[str, Any]) -> None:
    print(f"\n{title}")
    for name, value in figures.items():
        if value is not None:
            shown = ", ".join(map(_shown, value if isinstance(value, list) else [value]))
            print(f"  {name.replace('_', ' '):<20} {shown:>12}")


def _shown(value: float) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


@contextmanager
def _progress(title: str) -> Iterator[Callable[[float], None]]:
    """A bar on standard error that is told the share of the work that is done."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as bar:
        line = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(line, completed=share)
