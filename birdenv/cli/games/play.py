"""`birdenv play`: any registered game.

Help comes at once: the rooms are imported where they are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from birdenv.cli.options._models import PairOptions
from birdenv.cli.options._option_groups import RunOptions, takes_groups
from birdenv.cli.options._run_options import further_given
from birdenv.errors import InputError

if TYPE_CHECKING:
    from birdenv.dialogue import Game

_BY_HAND, _MODELS = RunOptions(agent="human"), PairOptions()


@takes_groups
def play(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="A registered game, such as c-interact, or module:GAME.")],
    run: RunOptions = _BY_HAND,
    models: PairOptions = _MODELS,
) -> None:
    """Play any game, also one of your own as module:GAME.

    Its settings, and the players of its other seats by the seats' names, follow as --name value:
    birdenv play c-interact --user rule --patience 2. Without value, --name is true. A list is given as
    a,b,c. `bird`, `c-interact` and `a-interact` are shorthands with options of their own.

    Example: birdenv play c-interact --agent oracle --limit 2
    """
    from birdenv.cli.games._running import load_game, run_game
    from birdenv.dialogue.games import find_game

    found = find_game(game)
    given = read_extra(further_given(context), found)
    players = {name: str(given.pop(name)) for name in found.seat_names if name in given}
    evaluated = found.seat_names[found.evaluated]
    if evaluated in players:
        raise InputError(f"--{evaluated}: this seat is the agent's, so --agent says who plays it")
    arena = load_game(found.name, given, run.agent, names={})
    run_game(arena, run, players, models=models.settings())


def read_extra(words: Sequence[str], game: Game) -> dict[str, Any]:
    """Return settings from `--name value` words; `--name=value` and `-n` for `--limit` are taken, too.

    Raises:
        InputError: a word is no setting of the game; the message lists them.
    """
    fields = game.settings.model_fields
    known = [*fields, *game.seat_names]
    values: dict[str, Any] = {}
    left = list(words)
    while left:
        given = left.pop(0)
        word, equals, value = given.partition("=")
        if equals:
            left.insert(0, value)
        word = "--limit" if word == "-n" else word
        name = word.removeprefix("--").replace("-", "_")
        if not word.startswith("--") or name not in known:
            shown = ", ".join("--" + each.replace("_", "-") for each in known)
            raise InputError(f"{given!r} is no option of {game.name}; it takes {shown}")
        is_flag = name in fields and fields[name].annotation is bool
        if is_flag and not equals and (not left or left[0].startswith("--")):
            values[name] = True
            continue
        if not left:
            raise InputError(f"{word} needs a value")
        value = left.pop(0)
        is_list = name in fields and "tuple" in str(fields[name].annotation)
        is_number = name in fields and fields[name].annotation is int
        values[name] = value.split(",") if is_list else _number(word, value) if is_number else value
    return values


def _number(word: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise InputError(f"{word} needs a whole number, got {value!r}") from None
