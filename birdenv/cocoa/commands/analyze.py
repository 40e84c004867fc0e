"""`birdenv analyze`: compute statistics about recorded dialogues, and write an HTML page to browse them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from birdenv.cli.command import visible
from birdenv.cocoa.corpus import CorpusDialogue, Rated, analyse, page, read_dialogues
from birdenv.errors import InputError
from birdenv.files import check_writable, write_text
from birdenv.plugins import load_plugin, plugins

RATINGS: Final = "birdenv.ratings"
"""The entry-point group for functions that find ratings of dialogues. They take the dialogues, their sources
and the rating files, and return `Rated`.
"""


def analyze(
    sources: Annotated[list[Path], typer.Argument(help="Run or study folders, or dialogue files.")],
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write an HTML page with statistics and all dialogues to this file."),
    ] = None,
    ratings: Annotated[
        list[Path] | None,
        typer.Option("--ratings", help="Rating file for these dialogues (CSV or JSONL); may be repeated."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Analyse dialogues: effectiveness, text and strategy.

    Statistics are computed overall, by seat and player, by kind of partner, and by scenario properties. For
    text-to-SQL, they include questions per ambiguity, disclosed ambiguities, and the phases. Survey answers
    and ratings are correlated with all measures.

    The --html page needs no network. It contains all statistics, filters, and every dialogue, and readers can
    add notes and tags.

    \b
    birdenv analyze study-mutual-friends --html friends.html
    birdenv analyze results/never-asks+rule-c-interact results/asks-first+rule-c-interact
    birdenv analyze transcripts.json --ratings ratings.csv --json
    """
    if html is not None:
        check_writable(html)
    dialogues = [each for path in sources for each in read_dialogues(path)]
    if not dialogues:
        raise InputError(f"{sources[0]} contains no finished dialogues")
    made = analyse(dialogues, _rated(dialogues, sources, ratings or ()))
    print(visible(json.dumps(made.to_json(), indent=2) + "\n" if as_json else made.text()), end="")
    if html is not None:
        write_text(html, page(made))
        print(f"Written: {html}", file=sys.stderr)


def _rated(dialogues: Sequence[CorpusDialogue], sources: Sequence[Path], files: Sequence[Path]) -> Rated:
    """Return the ratings that the installed package for ratings finds."""
    for entry in plugins(RATINGS).values():
        found: Rated = load_plugin(entry)(dialogues, sources, files)
        return found
    if files:
        raise InputError("--ratings needs a package that reads ratings, but none is installed")
    return Rated()
