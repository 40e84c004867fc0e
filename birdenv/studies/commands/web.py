"""`birdenv web`: serve a study, recorded dialogues, or a rating round to people in browsers."""

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
    from birdenv.studies.study._config import StudyConfig


def web(
    context: typer.Context,
    game: Annotated[
        str | None, typer.Argument(help="A registered game, such as c-interact; not with --replay.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Study folder; an existing study is continued. Default: study-GAME."
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 selects a free port.")
    ] = 8000,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            help="Study configuration (JSON, or CoCoA's app_params.json). With --rate: JSON or TOML.",
        ),
    ] = None,
    scenario_path: Annotated[
        Path | None, typer.Option("--scenario-path", help="Scenario file, for games that use one.")
    ] = None,
    replay: Annotated[
        list[Path] | None,
        typer.Option(
            "--replay", help="Show recorded dialogues from a study, a run or a transcripts.json instead."
        ),
    ] = None,
    rate: Annotated[
        list[Path] | None,
        typer.Option(
            "--rate", help="Let people rate recorded dialogues instead; --config contains the questions."
        ),
    ] = None,
    private: Annotated[
        bool,
        typer.Option("--private", help="With --replay: also show gold SQL and the user's private knowledge."),
    ] = False,
    example: Annotated[
        str | None,
        typer.Option("--example", help="Print a complete --config file for this game, and exit."),
    ] = None,
) -> None:
    """Serve a study to people in browsers.

    Participants go through consent, instructions, waiting room, dialogue, survey and completion code.

    An option named after a seat puts a player in that seat and people in the other seat, and overrides the
    --config file. If no player is given, two people are paired. Add game settings as --name value.

    \b
    birdenv web c-interact --user rule --execute-sql
    birdenv web --example c-interact > study.json
    birdenv web c-interact --config study.json --execute-sql
    birdenv web mutual-friends --config app_params.json --scenario-path scenarios.json

    With --replay, recorded dialogues are shown step by step, as each seat saw them.

    \b
    birdenv web --replay study-c-interact --replay results/asks-first+rule-c-interact

    With --rate, people judge recorded dialogues without knowing who the players were. They answer questions,
    or say which of two dialogues is better. `birdenv export FOLDER --format ratings` (or pairs) exports the
    judgements.

    \b
    birdenv web --rate study-mutual-friends --config rating.toml
    """
    if private and not replay:
        raise InputError("--private can only be used with --replay")
    if example is not None:
        print(_example(example), end="")
        return
    if replay or rate:
        if game is not None or scenario_path is not None or (replay and rate):
            raise InputError(
                "--replay and --rate show recorded dialogues: use one of the two, and leave out the game "
                "and its options"
            )
        if replay and (config is not None or output is not None):
            raise InputError("--replay does not use --config or --output: leave them out")
        if replay:
            _serve_replay(replay, private, host, port)
        else:
            _serve_ratings(rate or [], config, output, host, port)
        return
    if game is None:
        raise InputError("specify a game, such as c-interact, or recorded dialogues with --replay or --rate")
    with web_extra():
        from birdenv.report.access import Doors
        from birdenv.studies._app import make_app
        from birdenv.studies._connection import MAX_FRAME
        from birdenv.studies.study._store import held_study, open_store
        from birdenv.studies.study._study import Study
        from birdenv.studies.study._study_game import study_arena
    from birdenv.dialogue.games import find_game

    found = find_game(game)
    chosen = choices(context)
    given, players = chosen.settings, chosen.players
    if scenario_path is not None:
        if "scenarios" not in found.settings.model_fields:
            raise InputError(f"{game} does not use scenario files: leave out --scenario-path")
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
        from birdenv.studies.replay._pages import make_replay_app
    from birdenv.studies.replay import Records

    with Records(paths, private=private) as records:
        for note in records.notes:
            print(f"Note: {note}")
        app, token = make_replay_app(records, host)
        with served(app, host, port) as address:
            print(f"Dialogues: {address}/open/{token}", flush=True)


def _serve_ratings(paths: list[Path], config: Path | None, output: Path | None, host: str, port: int) -> None:
    """Serve a rating round. Ratings of a study's dialogues are stored in the study's folder."""
    with web_extra():
        from birdenv.studies.rating_round._pages import make_rating_app
        from birdenv.studies.study._export import is_study
    from birdenv.studies.rating_round._config import RatingConfig, read_rating_config
    from birdenv.studies.rating_round._raters import Ratings, items_of
    from birdenv.studies.rating_round._store import RatingStore
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
    """Return an example of the configuration file of a study, with every field."""
    from birdenv.dialogue.games import find_game
    from birdenv.studies.study._config_files import example_config

    made = example_config(find_game(name)).model_dump(mode="json")
    return f"{json.dumps(made, indent=2, ensure_ascii=False)}\n"


def _config(game: Game, path: Path | None, players: dict[str, str]) -> StudyConfig:
    """Return the configuration of a study, with players from options instead of players from the file.

    If the file names the same player, the player's quota is kept.
    """
    from birdenv.studies.study._config import Partner, StudyConfig
    from birdenv.studies.study._config_files import read_config

    config = StudyConfig() if path is None else read_config(path)
    if not players:
        return config
    if "human" in players.values():
        raise InputError("'human' is not a player: leave out the option, and a person will sit in the seat")
    free = [name for name in game.seat_names if name not in players]
    if len(players) != 1 or len(free) != 1:
        raise InputError("all seats have players: leave one seat free for a person")
    spec = next(iter(players.values()))
    partners = {name: each for name, each in config.partners.items() if each.player == spec}
    partners = partners or {spec: Partner(player=spec)}
    if config.model_fields_set & {"seat", "partners"}:
        warnings.warn(
            f"--{next(iter(players))} {spec} replaces `seat` and `partners` in {path}", stacklevel=2
        )
    standby = config.standby if config.standby in partners else None
    return config.model_copy(update={"seat": free[0], "partners": partners, "standby": standby})
