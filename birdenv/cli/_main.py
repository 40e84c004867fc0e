"""Putting the commands together, and turning errors into one line and an exit code."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import NoReturn

import typer

import birdenv
from birdenv.cli import (
    _analyse,
    _bird,
    _blame,
    _data,
    _db,
    _demo,
    _doctor,
    _evaluate,
    _export,
    _play,
    _regrade,
    _score,
)
from birdenv.errors import BirdenvError, InfrastructureError

app = typer.Typer(
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

app.command("demo")(_demo.demo)
app.command("bird")(_bird.bird)
app.command("play", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(_play.play)
app.command("c-interact")(_play.c_interact)
app.command("a-interact")(_play.a_interact)
app.command("score")(_score.score)
app.command("score-official")(_score.score_official)
app.command("self-check")(_data.self_check)
app.command("regrade")(_regrade.regrade)
app.command("evaluate")(_evaluate.evaluate)
app.command("inspect")(_evaluate.inspect)
app.command("summary")(_analyse.summary)
app.command("compare")(_analyse.compare)
app.command("blame")(_blame.blame)
app.command("export")(_export.export)
app.command("doctor")(_doctor.doctor)
app.add_typer(_data.app, name="data")
app.add_typer(_db.app, name="db")


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
    print("Error:", " ".join(message.splitlines()), file=sys.stderr)
    sys.exit(code)
