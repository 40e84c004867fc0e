"""Putting the commands together, and turning errors into one line and an exit code."""

from __future__ import annotations

import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

import birdenv
from birdenv.cli._terminal import visible
from birdenv.errors import BirdenvError, InfrastructureError

_COMMANDS: Final = {
    "demo": ("games._demo:demo", "Play the built-in benchmark."),
    "bird": ("games._bird:bird", "Play BIRD: question -> SQL, scored by EX."),
    "play": ("games._play:play", "Play any registered game, or one of your own as module:GAME."),
    "selfplay": (
        "games._selfplay:selfplay",
        "Let two players talk, and keep and sum up their dialogues as any run.",
    ),
    "web": (
        "games._web:web",
        "Serve a study: consent, instructions, waiting room, dialogue, survey, completion code.",
    ),
    "c-interact": ("games._play:c_interact", "Play c-Interact: ambiguous question -> dialogue -> SQL."),
    "a-interact": (
        "games._play:a_interact",
        "Play a-Interact: ambiguous question -> tools on a budget -> SQL.",
    ),
    "score": ("_score:score", "Score recorded pairs of SQL by EX (execution accuracy)."),
    "score-official": ("_score:score_official", "Score official c-Interact result files."),
    "self-check": (
        "benchmarks._self_check:self_check",
        "Check a benchmark's golds: each against itself, in every mode of comparison.",
    ),
    "regrade": ("_regrade:regrade", "Grade the submissions of a stored run again."),
    "evaluate": ("_evaluate:evaluate", "Score the pairs of a run by EM and ESM."),
    "inspect": ("_evaluate:inspect", "Show what went wrong in an evaluation."),
    "summary": ("_summary:summary", "Show a run's figures with 95 % intervals."),
    "compare": ("_summary:compare", "Compare runs on the same tasks."),
    "runs": ("_runs:runs", "List the runs of a folder, oldest first."),
    "blame": (
        "_blame:blame",
        "Say whose fault the failures of a run were: the agent's, the simulated user's or the benchmark's.",
    ),
    "export": (
        "_export:export",
        "Write episodes as JSONL for training: messages with tool calls, rewards, and what to train on.",
    ),
    "analyze": (
        "_analyze:analyze",
        "Analyse dialogues of any game: effectiveness, text and strategy, with 95 % intervals.",
    ),
    "ratings": (
        "_ratings:ratings",
        "Show how far raters agree, what they answered, and how comparisons rank the players.",
    ),
    "scenarios": ("games._scenarios:scenarios", "Write scenarios: drawn ones, or the tasks of a benchmark."),
    "train-player": (
        "games._train_player:train_player",
        "Train a player on dialogues, and test it on those that were held out.",
    ),
    "test-player": (
        "games._train_player:test_player",
        "Test a player on recorded dialogues: does it do what was done there? And let it play.",
    ),
    "doctor": ("_doctor:doctor", "Try what this machine offers for isolating episodes."),
    "data": ("benchmarks._data:app", "Merge ground truth; check and count tasks; generate some."),
    "db": ("benchmarks._db:app", "The PostgreSQL server, and the databases on it."),
    "users": ("_users:app", "Measure a simulated user."),
    "baselines": ("_baselines:app", "Baselines of the candidate setting."),
}
"""For each command where it is, and the first sentence of its help for the list of all.

Only the module of the command that was asked for is imported.
"""

_EXTRA: Final = {"allow_extra_args": True, "ignore_unknown_options": True}
_SETTINGS: Final = dict.fromkeys(
    ("play", "selfplay", "scenarios", "web", "train-player", "test-player"), _EXTRA
)


class _Commands(TyperGroup):
    """The commands by their names, each imported when it is looked up."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = dict.fromkeys(_COMMANDS)  # for the list, and for "did you mean"

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name][0].partition(":")
        found = getattr(import_module(f"birdenv.cli.{module}"), name)
        made = typer.Typer(rich_markup_mode=None)
        if isinstance(found, typer.Typer):
            made.add_typer(found, name=cmd_name)
        else:
            made.command(cmd_name, context_settings=_SETTINGS.get(cmd_name))(found)
        return typer.main.get_group(made).commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands without importing any."""
        room = formatter.width - 6 - max(map(len, _COMMANDS))
        with formatter.section("Commands"):
            listed = [TyperCommand(name, help=about) for name, (_, about) in _COMMANDS.items()]
            formatter.write_dl([(each.name, each.get_short_help_str(room)) for each in listed])


def _dashed(name: str) -> str:
    """Take `--run_dir` for `--run-dir`, in every command."""
    return name.replace("_", "-")


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "token_normalize_func": _dashed},
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
