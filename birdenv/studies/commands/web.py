"""`birdenv web`: people in the seats of any game, in their browsers."""

from __future__ import annotations

import json
import warnings
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from birdenv.cli.options.settings_command import choices
from birdenv.errors import InputError
from birdenv.report.serving import served, web_extra

if TYPE_CHECKING:
    from birdenv.dialogue import Game
    from birdenv.studies import StudyConfig


def web(
    context: typer.Context,
    game: Annotated[
        str | None, typer.Argument(help="A registered game, such as c-interact; not with --replay.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The study's folder; an existing study continues. Default: study-GAME."
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Address to serve at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 8000,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", help="The study as JSON, or CoCoA's app_params.json. Of --rate: JSON or TOML."
        ),
    ] = None,
    scenario_path: Annotated[
        Path | None, typer.Option("--scenario-path", help="File of scenarios, for games that read one.")
    ] = None,
    replay: Annotated[
        list[Path] | None,
        typer.Option("--replay", help="Show the dialogues of a study, a run or a transcripts.json instead."),
    ] = None,
    rate: Annotated[
        list[Path] | None,
        typer.Option("--rate", help="Let people rate such dialogues instead; --config says what is asked."),
    ] = None,
    private: Annotated[
        bool,
        typer.Option(
            "--private", help="With --replay: show the gold of runs and what the user's seat knew, too."
        ),
    ] = False,
    example: Annotated[
        str | None,
        typer.Option("--example", help="Print a complete file for --config of this game; serve nothing."),
    ] = None,
) -> None:
    """Serve a study with people in browsers.

    Its pages: consent, instructions, waiting room, dialogue, survey, completion code.

    A seat that is named has a player; people sit in the others, whatever the file of --config says of both.
    Without any player, two people are paired. Settings of the game are given as --name value as well.

    \b
    birdenv web c-interact --user rule --execute-sql
    birdenv web --example c-interact > study.json
    birdenv web c-interact --config study.json --execute-sql
    birdenv web mutual-friends --config app_params.json --scenario-path scenarios.json

    --replay serves no study: it shows recorded dialogues to you, step by step, from either seat's eyes.

    \b
    birdenv web --replay study-c-interact --replay results/asks-first+rule-c-interact

    --rate lets people judge recorded dialogues, without seeing who talked: by questions or, side by side,
    which of two is better. `birdenv export FOLDER --format ratings` (or pairs) writes what they said.

    \b
    birdenv web --rate study-mutual-friends --config rating.toml
    """
    if private and not replay:
        raise InputError("--private goes with --replay only")
    if example is not None:
        print(_example(example), end="")
        return
    if replay or rate:
        if game is not None or scenario_path is not None or (replay and rate):
            raise InputError("--replay and --rate take what is recorded: leave out the game and its options")
        if replay and (config is not None or output is not None):
            raise InputError("--replay only shows: leave out --config and --output")
        if replay:
            _serve_replay(replay, private, host, port)
        else:
            _serve_ratings(rate or [], config, output, host, port)
        return
    if game is None:
        raise InputError("name a game, such as c-interact; or recorded dialogues with --replay or --rate")
    with web_extra():
        from birdenv.studies import Doors, Study, held_study, make_app, open_store, study_arena
        from birdenv.studies._connection import MAX_FRAME
    from birdenv.dialogue.games import find_game

    found = find_game(game)
    chosen = choices(context)
    given, players = chosen.settings, chosen.players
    if scenario_path is not None:
        if "scenarios" not in found.settings.model_fields:
            raise InputError(f"{game} reads no scenarios: leave out --scenario-path")
        given["scenarios"] = str(scenario_path)
    folder = output or Path(f"study-{found.name}")
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        made = _config(found, config, players)
        arena = study_arena(found, made, given)
    for note in notes:
        print(f"Note: {note.message}")
    with arena, held_study(folder), closing(open_store(folder)) as store:
        study = Study(arena, made, store)
        app = make_app(study, folder, host)
        with served(app, host, port, MAX_FRAME) as address:
            print(f"Study: {address}/ (folder {folder})")
            print(f"Admin: {address}/admin with the token {Doors(folder).admin_token}", flush=True)


def _serve_replay(paths: list[Path], private: bool, host: str, port: int) -> None:
    with web_extra():
        from birdenv.studies import make_replay_app
    from birdenv.studies.replay import Records

    with Records(paths, private=private) as records:
        for note in records.notes:
            print(f"Note: {note}")
        app, token = make_replay_app(records, host)
        with served(app, host, port) as address:
            print(f"Dialogues: {address}/open/{token}", flush=True)


def _serve_ratings(paths: list[Path], config: Path | None, output: Path | None, host: str, port: int) -> None:
    """Ratings of a study lie in its folder."""
    with web_extra():
        from birdenv.studies import is_study, make_rating_app
    from birdenv.studies.rating_round import RatingConfig, Ratings, RatingStore, items_of, read_rating_config
    from birdenv.studies.replay import Records

    made = RatingConfig() if config is None else read_rating_config(config)
    first = paths[0]
    folder = output or (first if is_study(first) else Path(f"ratings-{first.resolve().stem}"))
    with Records(paths) as records:
        for note in records.notes:
            print(f"Note: {note}")
        items = items_of(records.all(), made)
        with closing(RatingStore(folder)) as store:
            app = make_rating_app(Ratings(items, made, store), folder, host)
            with served(app, host, port) as address:
                count = f"{len(items)} items, {made.raters} raters each"
                print(f"Rating: {address}/ ({count}, folder {folder})", flush=True)


def _example(name: str) -> str:
    """Return the file of a study that has every field."""
    from birdenv.dialogue.games import find_game
    from birdenv.studies import example_config

    made = example_config(find_game(name)).model_dump(mode="json")
    return f"{json.dumps(made, indent=2, ensure_ascii=False)}\n"


def _config(game: Game, path: Path | None, players: dict[str, str]) -> StudyConfig:
    """Return the study of a file, and who plays: as the options say, else as the file does.

    The file's number of dialogues holds for a player that it names, too.
    """
    from birdenv.studies import Partner, StudyConfig, read_config

    config = StudyConfig() if path is None else read_config(path)
    if not players:
        return config
    if "human" in players.values():
        raise InputError("people sit in the seats that have no player: leave out 'human'")
    free = [name for name in game.seat_names if name not in players]
    if len(players) != 1 or len(free) != 1:
        raise InputError("one seat must be left for a person")
    spec = next(iter(players.values()))
    partners = {name: each for name, each in config.partners.items() if each.player == spec}
    partners = partners or {spec: Partner(player=spec)}
    if config.model_fields_set & {"seat", "partners"}:
        warnings.warn(
            f"--{next(iter(players))} {spec} takes the place of `seat` and `partners` in {path}", stacklevel=2
        )
    standby = config.standby if config.standby in partners else None
    return config.model_copy(update={"seat": free[0], "partners": partners, "standby": standby})
