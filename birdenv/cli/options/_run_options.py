"""Options that several commands share, such as `--agent`, `--seed`, `--resume` and `--dialect`.

Every command imports this module, even to show its help, so other modules are imported only where they are
used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from birdenv.errors import InputError

if TYPE_CHECKING:
    from birdenv import databases
    from birdenv.llm import ModelSettings
    from birdenv.tasks import Defects

Dialect = Annotated[
    str,
    typer.Option(
        "--dialect",
        help="Where the databases run: sqlite, or postgres (birdenv starts its own server, and loads "
        "missing databases from the folder's dumps or SQLite files).",
    ),
]
Dsn = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        help="Use this server: postgresql://user@host:port/database. The user must be a superuser, because "
        "only a superuser can isolate agents from each other. Put the password in PGPASSWORD or ~/.pgpass. "
        "Default: BIRDENV_DSN, or birdenv's own server if that is not set.",
    ),
]


def databases_in(folder: Path, dialect: str, dsn: str | None) -> databases.DatabaseSource:
    """Open the databases in a folder, on the engine selected by options, and print what is being loaded.

    Raises the errors of `birdenv.databases.open_source`.
    """
    from birdenv.databases import open_source

    return open_source(folder, dialect, dsn=dsn, tell=partial(typer.echo, err=True))


def save_defects(path: Path, defects: Defects) -> None:
    """Write a list of defective tasks to a file, and print the path of the file."""
    from birdenv.tasks import write_defects

    write_defects(path, defects)
    typer.echo(f"Defective tasks: {path} ({len(defects)})")


Agent = Annotated[
    str,
    typer.Option("--agent", help="The agent: a name such as oracle, name:argument, or module:factory."),
]
Database = Annotated[
    list[str] | None, typer.Option("--database", help="Play only tasks on this database; can be repeated.")
]
DefectsFile = Annotated[
    Path | None,
    typer.Option(
        "--defects",
        help="Write a list of the tasks with defective golds to this file (JSONL): ids and reasons, no gold.",
    ),
]
Today = Annotated[
    str | None,
    typer.Option("--today", help="Date that SQL sees as the current date, such as 2025-02-19."),
]
FailDoubtful = Annotated[
    bool,
    typer.Option(
        "--fail-doubtful",
        help="Fail submissions that pass but read no table, or change the data differently from the gold "
        "(profile strict).",
    ),
]
Run = Annotated[Path, typer.Argument(help="A run-... folder, or its parent folder for the latest run.")]
DataFile = Annotated[Path | None, typer.Option("--data", help="Task file, if it has moved.")]
DataFolder = Annotated[
    Path | None, typer.Option("--data-dir", help="Folder of the databases, if it has moved.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Private = Annotated[
    bool, typer.Option("--private", help="Also show what agents must not see: gold SQL and clear requests.")
]
Parallel = Annotated[
    int,
    typer.Option("--parallel", "-p", min=1, help="Number of episodes to play at the same time."),
]
Seed = Annotated[
    int, typer.Option("--seed", help="Random seed. The same seed and moves give an identical runs.jsonl.")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Parent of the run folder (default: results/<players>-<data>-<game>)."
    ),
]


def options_of_run(context: typer.Context, run: Path) -> dict[str, Any]:
    """Return the options with which a run was started, so that `--resume` can reuse them.

    Raises:
        InputError: there is no such run, or a different command started it.
    """
    from birdenv.runs import RunDirectory

    directory = RunDirectory.existing(run)
    before = directory.read_config().get("command")
    if not isinstance(before, dict) or not isinstance(before.get("options"), dict):
        return {}
    if before.get("name") != context.info_name:
        raise InputError(
            f"{directory.path} is a run of birdenv {before.get('name')}: resume it with that command"
        )
    options: dict[str, Any] = before["options"]
    return options


_NOT_KEPT: Final = frozenset({"resume", "verbose"})
"""Options that apply only to a single call of a command."""


def command_given(name: str | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name and the options of a command for `config.json`, excluding passwords.

    `--resume` reads the options from this file.
    """
    given: dict[str, Any] = {}
    for option, value in values.items():
        is_given = value is not None and value is not False and value != []  # 0 is a value
        if is_given and option not in _NOT_KEPT:
            given[option] = str(value.absolute()) if isinstance(value, Path) else value
    if "dsn" in given:
        from birdenv.databases.postgres import PostgresQueries

        given["dsn"] = PostgresQueries(given["dsn"]).shown  # without the password
    return {"command": {"name": name, "options": given}}


Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        "-r",
        help="Continue this run (or the latest in this folder) with its options. No other option is needed.",
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print a line for every episode.")]


@dataclass(frozen=True)
class RunFolder:
    """The options for where a run is recorded and how much is printed."""

    output: Output = None
    resume: Resume = None
    verbose: Verbose = False


@dataclass(frozen=True)
class AgentOptions(RunFolder):
    """The options of `RunFolder`, and the agent to evaluate."""

    agent: Agent = "asks-first"


USER_SETTINGS: Final = ("user_model", "user_base_url", "user_prompts")
"""The settings of models that only concern the simulated user."""


def check_models(models: ModelSettings, agent: Any, others: Iterable[Any]) -> None:
    """Check that every option for language models has an effect.

    Args:
        models: the options for language models.
        agent: the agent's spec.
        others: the specs of the other players.

    Raises:
        InputError: an option was given for a language model that is not used in the run.
    """
    from birdenv.llm import ModelSettings

    others = list(others)
    is_model = any(map(_is_model, others))
    if models.user_prompts and not any(map(_takes_prompts, others)):
        raise InputError("--user-prompts has no effect here: it replaces the prompts of --user llm:MODEL")
    if (models.user_model or models.user_base_url) and not is_model:
        raise InputError("--user-model and --user-base-url have no effect here: use --user llm:MODEL")
    if models != ModelSettings() and not (is_model or _is_model(agent)):
        raise InputError(
            "no player is a language model, so model options (such as --model, --base-url and --replay) "
            "have no effect: use --agent llm:MODEL or --user llm:MODEL"
        )


def _takes_prompts(player: Any) -> bool:
    return isinstance(player, str) and player.partition(":")[0] == "llm"


def _is_model(player: Any) -> bool:
    return isinstance(player, str) and "llm" in re.split(r"\W", player.partition(":")[0])
