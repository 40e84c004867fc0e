"""`birdenv train-player` and `birdenv test-player`: players that learn from dialogues, and their tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from birdenv.cli.options.settings_command import choices
from birdenv.errors import InputError
from birdenv.plugins import load_plugin, plugins
from birdenv.statistics import Figure

if TYPE_CHECKING:
    from birdenv.cocoa.acts import Transcripts
    from birdenv.cocoa.files import ExampleRecord
    from birdenv.dialogue import Game

TRAINERS: Final = "birdenv.trainers"
"""The group of entry points: functions of transcripts, the file to write, a seed and a progress."""

REINFORCERS: Final = "birdenv.reinforcers"
"""Functions of a game, a trained player's file, the file to write, a seed, a progress, a number of dialogues
and the game's settings."""

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
"""Figures of a table of several players."""

_GameName = Annotated[str, typer.Argument(help="A registered game, such as mutual-friends or c-interact.")]
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
_Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed for drawing.")]
_SelfPlay = Annotated[
    int, typer.Option("--selfplay", min=0, help="Also let it play this many dialogues on the game's tasks.")
]


def train_player(
    context: typer.Context,
    game: _GameName,
    data: _Data = None,
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
    seed: _Seed = 0,
    held_out_share: Annotated[
        float, typer.Option("--held-out-share", min=0, max=0.9, help="Share of the dialogues to test it on.")
    ] = 0.2,
    scenarios: _Scenarios = None,
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

    found, given = find_game(game), _given(context)
    train_on = _trainer(TRAINERS, kind)
    check_writable(out)
    if reinforce or start is not None:
        _reinforce(found, kind, start, out, seed, reinforce, given)
        return
    if resume and "resume" not in signature(train_on).parameters:
        raise InputError(f"--kind {kind} trains in one step, so it has no --resume")
    examples, settings = _read(found, data, scenarios, given)
    examples = _left(examples, without or ())
    Random(seed).shuffle(examples)
    kept = max(1, round(len(examples) * (1 - held_out_share)))
    train, held_out = examples[:kept], examples[kept:]
    title = f"training on {len(train)} dialogues"
    with Transcripts(found, train, settings) as transcripts, _progress(title) as progress:
        train_on(transcripts, out, seed, progress, **({"resume": True} if resume else {}))
    print(f"Trained on {len(train)} dialogues. The player: {kind}:{out}")
    if held_out:
        with Transcripts(found, held_out, settings) as transcripts:
            figures = _foretold(transcripts, f"{kind}:{out}", seed)
        _print_table(f"{len(held_out)} dialogues held out", figures)


def _given(context: typer.Context) -> dict[str, Any]:
    """Return the settings and the players that were chosen on the command line."""
    chosen = choices(context)
    return chosen.settings | chosen.players


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
    with _progress(f"reinforcing over {dialogues} dialogues") as progress:
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


def test_player(
    context: typer.Context,
    game: _GameName,
    player: Annotated[
        list[str],
        typer.Option(
            "--player", help="A player, such as learned:FILE or rulebased; several are put into one table."
        ),
    ],
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
    """Test a player on recorded dialogues, and let it play.

    An act is an action and what its sentences are for (ask, agree ..) and name (Company, price ..). Intervals
    are of 95 %, over dialogues or over the tasks that are played.

    \b
    birdenv test-player bargain --player learned:bargain.json --data test.json --selfplay 200
    birdenv test-player bargain --player rulebased --player learned:bargain.json --selfplay 200
    """
    from birdenv.cocoa.acts import Transcripts
    from birdenv.dialogue.games import find_game
    from birdenv.files import check_writable, write_text

    found, given = find_game(game), _given(context)
    if output is not None:
        check_writable(output)
    settings = given
    tested: list[dict[str, Any]] = [{"game": found.name, "player": each} for each in player]
    if data or not selfplay:
        examples, settings = _read(found, data, scenarios, given)
        with Transcripts(found, examples, settings) as transcripts:
            for figures in tested:
                figures["moves"] = _foretold(transcripts, figures["player"], seed)
                _print_table(f"{figures['player']} on {len(examples)} dialogues", figures["moves"])
    for figures in tested if selfplay else ():
        sitting = _sitting(found, figures["player"], partner)
        figures["selfplay"] = _played(found, sitting, selfplay, seed, settings)
        others = ", ".join(dict.fromkeys(each for each in sitting if each != figures["player"]))
        _print_table(f"{figures['player']} with {others or 'itself'}", figures["selfplay"])
    if len(tested) > 1:
        _print_comparison(tested)
    if output is not None:
        told = tested[0] if len(tested) == 1 else {"players": tested}
        write_text(output, json.dumps(_as_json(told), indent=1) + "\n")


def _read(
    game: Game, paths: Sequence[Path] | None, scenarios: Path | None, further: dict[str, Any]
) -> tuple[list[ExampleRecord], dict[str, Any]]:
    """Return the dialogues of files, runs and studies, and the settings under which they can be played
    again.
    """
    from birdenv.cocoa.files import as_examples, read_examples, read_scenarios
    from birdenv.cocoa.files._dialogue_files import exact
    from birdenv.runs.export import whole_dialogues

    if not paths:
        raise InputError(
            "no dialogues: name a file, a run or a study with --data. birdenv selfplay and birdenv web make "
            "runs and studies"
        )
    settings: dict[str, Any] = {}
    known = [] if scenarios is None else read_scenarios(scenarios)
    found: list[ExampleRecord] = []
    for path in paths:
        if path.is_dir():
            found += as_examples(map(exact, whole_dialogues(path, "cocoa")), str(path))
            settings = settings or _settings_of(game, path)
        else:
            found += read_examples(path, known)
    if not found:
        raise InputError(f"{paths[0]} holds no finished dialogue")
    return found, settings | further


def _settings_of(game: Game, folder: Path) -> dict[str, Any]:
    """Return the settings of a run or a study of a game whose tasks are not in its dialogues."""
    from birdenv.runs.export import played_game

    if "scenarios" in game.settings.model_fields:
        return {}
    name, settings = played_game(folder)
    if name != game.name:
        raise InputError(f"{folder}: these are dialogues of {name}, not of {game.name}")
    return settings


def _foretold(transcripts: Transcripts, player: str, seed: int) -> dict[str, Any]:
    from birdenv.cocoa.player_evaluation import foretell
    from birdenv.dialogue.arena import player_factory
    from birdenv.dialogue.players import AGENTS

    game = transcripts.game
    factory, argument = player_factory(player, AGENTS, game.name)
    seats = {seat for seat in range(len(game.seats)) if _can_sit(player, game, seat)}
    with _progress(f"testing on {len(transcripts)} dialogues") as progress:
        return foretell(transcripts, factory, argument, seed, progress, seats).figures()


def _sitting(game: Game, player: str, partner: str | None) -> list[str]:
    """Return who sits in each seat: the player in the evaluated one."""
    seats = range(len(game.seats))
    return [player if seat == game.evaluated else partner or _partner(player, game, seat) for seat in seats]


def _played(
    game: Game, players: Sequence[str], number: int, seed: int, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return figures of dialogues; those who can sit in every seat change seats."""
    from birdenv.cocoa.player_evaluation import self_play

    turning = all(_can_sit(each, game, seat) for each in players for seat in range(len(players)))
    with _progress(f"{number} dialogues of {', '.join(players)}") as progress:
        return self_play(game, players, number, seed, progress, settings, turning).figures()


def _partner(player: str, game: Game, seat: int) -> str:
    """Return the player itself, or the game's own player of a seat where it cannot sit."""
    usual = game.players.get(seat)
    return player if usual is None or _can_sit(player, game, seat) else usual


def _can_sit(player: str, game: Game, seat: int) -> bool:
    """Return False for a player that is known for other seats only."""
    from birdenv.dialogue.players import AGENTS, USERS, PlayerSpec

    try:
        PlayerSpec(player, AGENTS if seat == game.evaluated else USERS).check()
    except InputError:
        return False
    return True


def _print_table(title: str, figures: Mapping[str, Any]) -> None:
    print(f"\n{title}")
    for name, value in figures.items():
        shown = _shown(value)
        if shown:
            print(f"  {name.replace('_', ' '):<20} {shown:>12}")


def _print_comparison(tested: Sequence[Mapping[str, Any]]) -> None:
    """A table in Markdown: a row for each player, without columns in which nobody has a figure."""
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
    """Return a figure as text; empty where it is not defined."""
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if isinstance(value, Figure):
        return "" if value.value is None else value._replace(why="").text()
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else str(value)


@contextmanager
def _progress(title: str) -> Iterator[Callable[[float], None]]:
    """Yield a bar on standard error that is told the share of the work that is done."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as bar:
        line = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(line, completed=share)
