"""Putting the commands together, and turning errors into one line and an exit code."""

from __future__ import annotations

import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperGroup

import birdenv
from birdenv.cli._terminal import visible
from birdenv.errors import BirdenvError, InfrastructureError

_COMMANDS: Final = {
    "demo": "games._demo:demo",
    "bird": "games._bird:bird",
    "play": "games._play:play",
    "selfplay": "games._selfplay:selfplay",
    "web": "games._web:web",
    "c-interact": "games._play:c_interact",
    "a-interact": "games._play:a_interact",
    "score": "_score:score",
    "score-official": "_score:score_official",
    "self-check": "benchmarks._data:self_check",
    "regrade": "_regrade:regrade",
    "evaluate": "_evaluate:evaluate",
    "inspect": "_evaluate:inspect",
    "summary": "_runs:summary",
    "compare": "_runs:compare",
    "runs": "_runs:runs",
    "blame": "_runs:blame",
    "export": "_runs:export",
    "analyze": "_analyze:analyze",
    "ratings": "_ratings:ratings",
    "scenarios": "games._scenarios:scenarios",
    "train-player": "games._train_player:train_player",
    "test-player": "games._train_player:test_player",
    "doctor": "_doctor:doctor",
    "data": "benchmarks._data:app",
    "db": "benchmarks._db:app",
    "users": "_users:app",
    "baselines": "_baselines:app",
}
"""Where each command is. Only the module of the command that was asked for is imported."""

_EXTRA: Final = {"allow_extra_args": True, "ignore_unknown_options": True}
_SETTINGS: Final = {"play": _EXTRA, "selfplay": _EXTRA, "scenarios": _EXTRA, "web": _EXTRA}


class _Commands(TyperGroup):
    """The commands by their names, each imported when it is looked up."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = dict.fromkeys(_COMMANDS)  # for the list, and for "did you mean"

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        found = getattr(import_module(f"birdenv.cli.{module}"), name)
        made = typer.Typer(rich_markup_mode=None)
        if isinstance(found, typer.Typer):
            made.add_typer(found, name=cmd_name)
        else:
            made.command(cmd_name, context_settings=_SETTINGS.get(cmd_name))(found)
        return typer.main.get_group(made).commands[cmd_name]


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Interactive text-to-SQL environments for the BIRD family.

Start with `birdenv demo`: two games, three agents, one table, nothing to download.

Then `birdenv bird` (question -> SQL), `birdenv c-interact` (ambiguous question -> dialogue -> SQL) or
`birdenv a-interact` (the same with tools on a budget); they play the demo benchmark until you name your own
data.

SQL runs on SQLite, or on PostgreSQL with `--dialect postgres`: `pip install 'birdenv[postgres]'` brings a
server that starts by itself. `birdenv db` loads databases into it, `birdenv doctor` says what is there.""",
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if version:
        print(birdenv.__version__)
        raise typer.Exit


def main() -> None:
    """Entry point.

    Exit codes: 0 done, 1 a check found problems, 2 unusable input, 3 a database or a model out of reach
    (or a budget spent), 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # names of files may be no text
            stream.reconfigure(errors="backslashreplace")
    try:
        app(standalone_mode=True)
    except BirdenvError as error:
        _end(str(error), 3 if isinstance(error, InfrastructureError) else 2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:  # what no room expected: a full disk, a name that is too long
        _end(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def _end(message: str, code: int = 2) -> NoReturn:
    print("Error:", visible(" ".join(message.splitlines())), file=sys.stderr)
    sys.exit(code)
