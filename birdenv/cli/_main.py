"""Declare the commands, and define the entry point, which reports any error in one line."""

from __future__ import annotations

import atexit
import signal
import sys
import warnings
from importlib import import_module
from io import TextIOWrapper
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperGroup

from birdenv.cli.command import GROUP, Command, visible
from birdenv.errors import BirdenvError, InfrastructureError, InputError
from birdenv.plugins import PluginError, load_plugin, plugins
from birdenv.version import __version__

_BASELINES: Final = "birdenv.baselines"


class _Installed(TyperGroup):
    """The group of commands that entry points in `birdenv.baselines` name. They are imported when used."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(plugins(_BASELINES))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        entry = plugins(_BASELINES).get(cmd_name)
        if entry is None:
            return None
        made = typer.Typer(rich_markup_mode=None)
        made.command(cmd_name)(load_plugin(entry))
        return typer.main.get_command(made)


baselines_app = typer.Typer(
    cls=_Installed, no_args_is_help=True, help="Compute baselines for learning when to ask."
)


@baselines_app.callback()
def baselines() -> None:
    """Compute baselines for learning when to ask."""


_LISTED: Final = {
    "Play": {
        "demo": ("games._demo:demo", "Play the built-in benchmark."),
        "c-interact": ("games._bird_family:app", "Play c-Interact: ambiguous question -> dialogue -> SQL."),
        "a-interact": ("games._bird_family:app", "Play a-Interact: c-Interact with tools on a budget."),
        "bird": ("games._bird_family:app", "Play BIRD: question -> SQL, scored by EX."),
        "play": ("games.play:app", "Play any game, including your own as module:GAME."),
        "selfplay": ("games.play:app", "Let two players talk to each other, and record the run."),
        "merge": ("_summary:merge", "Merge the parts of a run that was played with --shard."),
    },
    "Score": {
        "score": ("_score:score", "Score recorded pairs of SQL by EX (execution accuracy)."),
        "score-official": ("_score:score_official", "Score official c-Interact result files."),
        "evaluate": ("_evaluate:app", "Score the pairs of a run by EM and ESM."),
        "inspect": ("_evaluate:app", "Show what went wrong in an evaluation."),
        "regrade": ("_regrade:regrade", "Regrade the submissions of a stored run."),
        "self-check": (
            "benchmarks._self_check:self_check",
            "Check that each gold query passes its own grading.",
        ),
    },
    "Look": {
        "summary": ("_summary:summary", "Show a run's metrics with 95% confidence intervals."),
        "show": ("_show:show", "Show an episode of a run: dialogue, SQL, rows, verdict."),
        "report": ("_report:report", "Write one HTML file about a run, or about two side by side."),
        "view": ("_report:view", "Serve live pages about the runs in a folder."),
        "compare": ("_summary:compare", "Compare runs on the same tasks."),
        "runs": ("_summary:runs", "List the runs in a folder, oldest first."),
        "blame": ("_summary:blame", "Find out who caused the failures of a run."),
    },
    "Data": {
        "data": ("benchmarks._data:app", "Fetch, merge, check, count and generate benchmark data."),
        "export": ("_export:export", "Export episodes for training or for other tools."),
    },
    "Players": {
        "users": ("_users:app", "Measure a simulated user."),
        "baselines": ("_main:baselines_app", "Compute baselines for learning when to ask."),
    },
    "Machine": {
        "doctor": ("_doctor:doctor", "Check how this machine can isolate episodes."),
        "db": ("benchmarks._db:app", "Manage the PostgreSQL server and its databases."),
    },
}
_COMMANDS: Final = {
    name: Command(f"birdenv.cli.{target}", about, group)
    for group, listed in _LISTED.items()
    for name, (target, about) in listed.items()
}
"""The commands of this package by name. Only the module of the requested command is imported."""

_GROUPS: Final = ("Play", "Score", "Look", "Data", "Players", "People", "Machine", "More")


class _Commands(TyperGroup):
    """The group of all commands. A command is imported when it is used.

    Entry points of other packages can add commands, but cannot replace birdenv's own. They are read only when
    a name is not one of birdenv's commands.
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
            made.registered_commands = [of for of in found.registered_commands if _name(of) == cmd_name]
            if not made.registered_commands:
                made.add_typer(found, name=cmd_name)
        elif command.takes_settings:
            from birdenv.cli.options.settings_command import SettingsCommand

            made.command(cmd_name, cls=SettingsCommand)(found)
        else:
            made.command(cmd_name)(found)
        return typer.main.get_group(made).commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under the headings of their groups, without importing them."""
        names = self.list_commands(ctx)
        widest = max(map(len, names))
        groups: dict[str, list[tuple[str, str]]] = {group: [] for group in _GROUPS}
        for name in names:
            group, about = _listing(name)
            groups.setdefault(group, []).append((name.ljust(widest), about))
        for group, rows in groups.items():
            if rows:
                with formatter.section(group):
                    formatter.write_dl(rows)


def _command(name: str) -> Command:
    """Return the declaration of a command.

    Raises:
        InputError: an entry point does not name a `Command`.
    """
    if name in _COMMANDS:
        return _COMMANDS[name]
    found = load_plugin(plugins(GROUP)[name])
    if not isinstance(found, Command):
        raise InputError(f"the entry point {name!r} of {GROUP} is not a birdenv.cli.command.Command")
    return found


def _name(command: Any) -> str:
    return str(command.name or command.callback.__name__)


def _listing(name: str) -> tuple[str, str]:
    """Return the heading and the description of a command, or the reason why it is not available."""
    try:
        command = _command(name)
        return command.group, command.about
    except InputError as error:
        return "More", f"Not available: {error.why if isinstance(error, PluginError) else error}"


def _dashed(name: str) -> str:
    """Return the name of an option with dashes, so that every command accepts `--run_dir` for `--run-dir`."""
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

SQL runs on SQLite, or on PostgreSQL with `--dialect postgres`: `pip install 'birdenv[postgres]'` installs a
server that starts automatically. `birdenv db` loads databases into it, and `birdenv doctor` checks what works
on this machine.""",
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if version:
        print(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line and exit the process with the command's exit code.

    The exit code is 0 on success, 1 if a check found problems, 2 if the input cannot be used, 3 if a database
    or a model cannot be reached or a budget is spent, and 130 if the command was interrupted.
    """
    warnings.formatwarning = _warning_line  # type: ignore[assignment]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # file names may hold bytes that are not text
            stream.reconfigure(errors="backslashreplace")
    try:
        app(standalone_mode=True)
    except BirdenvError as error:
        _end(str(error), 3 if isinstance(error, InfrastructureError) else 2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:  # not handled elsewhere: a full disk, a file name that is too long
        _end(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    finally:  # the function that is registered last runs first: another Ctrl-C must not disturb the others
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def _warning_line(message: Warning | str, *_: object) -> str:
    return f"Warning: {visible(' '.join(str(message).splitlines()))}\n"


def _end(message: str, code: int = 2) -> NoReturn:
    print("Error:", visible(" ".join(message.splitlines())), file=sys.stderr)
    sys.exit(code)
