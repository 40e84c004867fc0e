"""`birdenv show`: show one episode of a run in the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Annotated, Final

import typer
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from birdenv.cli.command import visible
from birdenv.cli.options._run_options import Private, Run
from birdenv.dialogue.measures import Section
from birdenv.runs.episodes import (
    OpenTerm,
    ResultDifference,
    ResultTable,
    RunEpisodes,
    ShownEpisode,
    ShownEvent,
)

_LONGEST: Final = 4000
"""Maximum number of characters of one text to show."""

_REQUEST_WIDTH: Final = 60
_GOOD: Final = frozenset({"passed", "completed"})


def show(
    run: Run,
    instance: Annotated[
        str | None, typer.Argument(help="The task's id; without it, the episodes are listed.")
    ] = None,
    private: Private = False,
) -> None:
    """Show an episode of a run: dialogue, SQL, rows, verdict.

    Re-runs the submissions to show their results and how they differ from the gold result. Without
    --private, only the numbers of rows and cells that differ are shown.

    Example: birdenv show results/asks-first+rule-c-interact library_2
    """
    console = Console(highlight=False)
    with RunEpisodes(run, private=private) as episodes:
        if instance is None:
            _print_list(console, episodes)
        else:
            for name in episodes.named(instance):
                _print_episode(console, episodes.shown(name), private)
        for note in episodes.notes if instance is not None else ():
            console.print(_text(f"Note: {note}", "yellow"))


def _print_list(console: Console, episodes: RunEpisodes) -> None:
    run = episodes.run
    table = Table(box=box.SIMPLE_HEAD, title=_text(f"{run.game}: {run.agent}"), title_justify="left")
    for name, justify in (("episode", "left"), ("reward", "right"), ("outcome", "left"), ("request", "left")):
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for name in episodes.names:
        request = textwrap.shorten(episodes.request(name), _REQUEST_WIDTH, placeholder=" …")
        status, reward = episodes.outcome(name)
        table.add_row(_text(name), f"{reward:.3g}", _verdict(status), _text(request))
    console.print(table)
    console.print(_text(f"To read one: birdenv show {run.path} {episodes.names[0]}"), soft_wrap=True)


def _print_episode(console: Console, episode: ShownEpisode, private: bool) -> None:
    console.print(Rule(_text(episode.name, "bold")))
    players = ", ".join(f"{seat}: {player}" for seat, player in episode.players.items())
    facts = ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in episode.facts.items())
    for line in filter(None, (players, facts)):
        console.print(_text(line, "dim"))
    if episode.request:
        console.print(_text(f"\n{episode.request}", "bold"))
    if private:
        console.print(_text("\nPRIVATE parts are shown: do not show this to agents.", "bold magenta"))
        _print_terms(console, episode.terms)
    _print_sections(console, episode.sections)
    for number, turn in enumerate(episode.turns, 1):
        _print_turn(console, number, turn)
    if private:
        _print_sections(console, episode.secrets)
    console.print(Rule())
    for phase in episode.phases:
        earned = "" if phase.reward is None else f"  {phase.reward:g}"
        console.print(Text.assemble(_text(phase.title), "  ", _verdict(phase.verdict), earned))
    fault = f"; the {episode.culprit} is at fault" if episode.culprit else ""
    outcome = _verdict(episode.outcome)
    console.print(Text.assemble("Outcome: ", outcome, f"; reward {episode.reward:g}{fault}"), end="\n\n")
    if episode.error:
        console.print(_text(episode.error, "red"))


def _print_turn(console: Console, number: int, turn: ShownEvent) -> None:
    refused = "  (refused)" if turn.refused else ""
    about = f"  about: {turn.subject}" if turn.subject else ""
    console.print(
        Text.assemble(
            "\n",
            (f"{number}. ", "dim"),
            _text(turn.seat, "bold cyan"),
            _text(f" {turn.action}{refused}", "cyan"),
            _text(about, "italic"),
        )
    )
    if turn.is_sql:
        _print_sql(console, turn.text)
    elif turn.text:
        console.print(Padding(_text(turn.text), (0, 0, 0, 3)))
    if turn.reply:
        console.print(Padding(_text(turn.reply, "dim"), (0, 0, 0, 3)))
    if turn.table is not None:
        _print_result(console, turn.table)
    if turn.error:
        console.print(Padding(_text(turn.error, "red"), (0, 0, 0, 3)))
    if turn.verdict:
        console.print(Padding(Text.assemble("verdict: ", _verdict(turn.verdict)), (0, 0, 0, 3)))
    if turn.difference is not None and turn.difference.why:
        _print_difference(console, turn.difference)
    if turn.note:
        console.print(Padding(_text(turn.note, "magenta"), (0, 0, 0, 3)))


def _print_sql(console: Console, sql: str) -> None:
    code = Syntax(_cut(sql), "sql", theme="ansi_dark", background_color="default", word_wrap=True)
    console.print(Padding(code, (0, 0, 0, 3)))


def _print_result(console: Console, result: ResultTable) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for column in result.columns:
        table.add_column(_text(column), overflow="fold")
    for row in result.rows:
        table.add_row(*map(_cell, row))
    console.print(Padding(table, (0, 0, 0, 3)))
    least = "at least " if result.is_cut else ""
    rows = "row" if result.count == 1 else "rows"
    console.print(Padding(_text(f"{least}{result.count} {rows}", "dim"), (0, 0, 0, 3)))


def _print_difference(console: Console, difference: ResultDifference) -> None:
    console.print(Padding(_text(f"against the gold: {difference.why}", "yellow"), (0, 0, 0, 3)))
    if not difference.rows:
        return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column("")
    for column in difference.columns:
        table.add_column(_text(column), overflow="fold")
    for row in difference.rows:
        mark = "wrong" if row.expected and row.returned else "missing" if row.expected else "extra"
        pairs = zip(row.expected or row.returned, row.returned or row.expected, strict=True)
        cells = [_cell(one) if one == other else _wrong(one, other) for one, other in pairs]
        table.add_row(mark, *cells)
    console.print(Padding(table, (0, 0, 0, 3)))


def _print_terms(console: Console, terms: Sequence[OpenTerm]) -> None:
    for term in terms:
        states = (("asked", term.asked), ("answered", term.answered), ("in the SQL", term.used))
        said = ", ".join(word if is_so else f"not {word}" for word, is_so in states)
        console.print(_text(f"open term {term.term!r}: {said}", "magenta"))


def _print_sections(console: Console, sections: Sequence[Section]) -> None:
    for section in sections:
        console.print(_text(f"\n{section.title}", "bold"))
        if section.kind == "sql":
            _print_sql(console, section.text)
        elif section.kind == "table":
            table = Table(box=box.SIMPLE_HEAD, show_edge=False)
            for column in section.columns:
                table.add_column(_text(column), overflow="fold")
            for row in section.rows:
                table.add_row(*map(_text, row))
            console.print(Padding(table, (0, 0, 0, 3)))
        else:
            console.print(Padding(_text(section.text), (0, 0, 0, 3)))


def _verdict(word: str) -> Text:
    return _text(word.replace("_", " "), "green" if word in _GOOD else "red")


def _cell(text: str | None) -> Text:
    return Text("NULL", "dim") if text is None else _text(text)


def _wrong(expected: str | None, returned: str | None) -> Text:
    return Text.assemble(_cell(returned), " (expected ", _cell(expected), ")", style="bold yellow")


def _text(text: str, style: str = "") -> Text:
    """Return a shortened text for the console, without markup or control characters."""
    return Text(_cut(text), style)


def _cut(text: str) -> str:
    left = len(text) - _LONGEST
    return visible(text if left <= 0 else f"{text[:_LONGEST]}… ({left} more characters)")
