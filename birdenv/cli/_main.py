"""Putting the commands together, and turning errors into one line and an exit code."""

from __future__ import annotations

import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from birdenv._version import __version__
from birdenv.cli._terminal import visible
from birdenv.cli.command import GROUP, Command
from birdenv.errors import BirdenvError, InfrastructureError, InputError
from birdenv.plugins import PluginError, load_plugin, plugins

_COMMANDS: Final = {
    "demo": Command("birdenv.cli.games._demo:demo", "Play the built-in benchmark."),
    "bird": Command("birdenv.cli.games._bird:bird", "Play BIRD: question -> SQL, scored by EX."),
    "play": Command(
        "birdenv.cli.games._play:play",
        "Play any registered game, or one of your own as module:GAME.",
        takes_settings=True,
    ),
    "selfplay": Command(
        "birdenv.cli.games._selfplay:selfplay",
        "Let two players talk, and keep and sum up their dialogues as any run.",
        takes_settings=True,
    ),
    "c-interact": Command(
        "birdenv.cli.games._play:c_interact", "Play c-Interact: ambiguous question -> dialogue -> SQL."
    ),
    "a-interact": Command(
        "birdenv.cli.games._play:a_interact",
        "Play a-Interact: ambiguous question -> tools on a budget -> SQL.",
    ),
    "score": Command("birdenv.cli._score:score", "Score recorded pairs of SQL by EX (execution accuracy)."),
    "score-official": Command("birdenv.cli._score:score_official", "Score official c-Interact result files."),
    "self-check": Command(
        "birdenv.cli.benchmarks._self_check:self_check",
        "Check a benchmark's golds: each against itself, in every mode of comparison.",
    ),
    "regrade": Command("birdenv.cli._regrade:regrade", "Grade the submissions of a stored run again."),
    "evaluate": Command("birdenv.cli._evaluate:evaluate", "Score the pairs of a run by EM and ESM."),
    "inspect": Command("birdenv.cli._evaluate:inspect", "Show what went wrong in an evaluation."),
    "summary": Command("birdenv.cli._summary:summary", "Show a run's figures with 95 % intervals."),
    "show": Command(
        "birdenv.cli._show:show", "Show an episode of a run: dialogue, SQL, first rows, verdict."
    ),
    "report": Command(
        "birdenv.cli._report:report", "Write one HTML file about a run, or about two side by side."
    ),
    "view": Command("birdenv.cli._report:view", "Serve the runs of a folder as pages, live, to you alone."),
    "compare": Command("birdenv.cli._summary:compare", "Compare runs on the same tasks."),
    "runs": Command("birdenv.cli._runs:runs", "List the runs of a folder, oldest first."),
    "blame": Command(
        "birdenv.cli._blame:blame",
        "Say whose fault the failures of a run were: the agent's, the simulated user's or the benchmark's.",
    ),
    "export": Command(
        "birdenv.cli._export:export",
        "Write episodes as JSONL for training: messages with tool calls, rewards, and what to train on.",
    ),
    "doctor": Command("birdenv.cli._doctor:doctor", "Try what this machine offers for isolating episodes."),
    "data": Command(
        "birdenv.cli.benchmarks._data:app", "Merge ground truth; check benchmark data; generate some."
    ),
    "db": Command("birdenv.cli.benchmarks._db:app", "The PostgreSQL server, and the databases on it."),
    "users": Command("birdenv.cli._users:app", "Measure a simulated user."),
    "baselines": Command("birdenv.cli._baselines:app", "Baselines of the candidate setting."),
}
"""The commands of this room by name. Only the module of the command that was asked for is imported."""

_EXTRA: Final = {"allow_extra_args": True, "ignore_unknown_options": True}


class _Commands(TyperGroup):
    """The commands by their names, each imported when it is looked up.

    Those of other packages follow ours; their entry points are read where none of ours is meant.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        return [*_COMMANDS, *sorted(plugins(GROUP).keys() - _COMMANDS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in _COMMANDS and cmd_name not in plugins(GROUP):
            known: Any = dict.fromkeys(self.list_commands(ctx))
            self.commands = known  # for "did you mean"
            return None
        command = _command(cmd_name)
        module, _, name = command.target.partition(":")
        try:
            found = getattr(import_module(module), name)
        except ModuleNotFoundError as error:
            if error.name is None or not module.startswith(error.name):
                raise
            raise InputError(f"the command {cmd_name} cannot be loaded: {error}") from None
        made = typer.Typer(rich_markup_mode=None)
        if isinstance(found, typer.Typer):
            made.add_typer(found, name=cmd_name)
        else:
            made.command(cmd_name, context_settings=_EXTRA if command.takes_settings else None)(found)
        return typer.main.get_group(made).commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands without importing any."""
        names = self.list_commands(ctx)
        room = formatter.width - 6 - max(map(len, names))
        with formatter.section("Commands"):
            listed = [TyperCommand(name, help=_about(name)) for name in names]
            formatter.write_dl([(each.name, each.get_short_help_str(room)) for each in listed])


def _command(name: str) -> Command:
    """A command of ours or of another package.

    Raises:
        InputError: its entry point is broken.
    """
    if name in _COMMANDS:
        return _COMMANDS[name]
    found = load_plugin(plugins(GROUP)[name])
    if not isinstance(found, Command):
        raise InputError(f"the entry point {name!r} of {GROUP} is no birdenv.cli.command.Command")
    return found


def _about(name: str) -> str:
    try:
        return _command(name).about
    except InputError as error:
        return f"Not available: {error.why if isinstance(error, PluginError) else error}"


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
        print(__version__)
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
