"""Format the first screen of a summary, usually at most 15 lines, and breakdowns by groups of tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Final

from birdenv.dialogue.games import find_game, game_names
from birdenv.dialogue.measures import UNRATED
from birdenv.errors import InputError
from birdenv.runs._run_folder import player_name
from birdenv.runs.summaries._episode_figures import USAGE, model_figures, usage_text
from birdenv.runs.summaries._means_over_tasks import NAME_WIDTH, figure_line
from birdenv.runs.summaries._run_report import RunReport, group_lines, over_databases
from birdenv.runs.summaries.recorded_run import RecordedRun, exclusions

_LINES: Final = 15
"""With all figures, costs and hints, the screen may have more lines. Notes only use what is left."""

_MOST_NOTES: Final = 2
_WIDTH: Final = 100


def first_screen(report: RunReport) -> str:
    """Return the first screen of a summary: the game, data, main metrics, cost and suggested commands."""
    run = report.run
    before = [f"{run.game}: {_players(run)}, seed {run.config.get('seed')}", _row("Data", _data(run))]
    settings = ", ".join(f"{name} {value}" for name, value in report.settings().items())
    before += [_row("Settings", settings)] if settings else []
    before.append(_row("Episodes", _episodes(run)))
    after = [_row("Repeats", repeats)] if (repeats := _repeats(report)) else []
    after += [_row(name, text) for name, text in report.details.screen.items()]
    after += [_row(f"Cost, {seat}", text) for seat, text in _costs(report).items()]
    following = [_row(f"Next, {what}", command) for what, command in _next_commands(report).items()]

    has_intervals = any(of.method != "none" for of in report.figures)
    databases = len({o.database for o in run.outcomes if o.rated} - {None})
    if has_intervals:
        over = f"over {databases} databases" if databases > 1 else ""
        before.append(f"{'95 % intervals':<46}{'over tasks':<18}{over}".rstrip())
    main = [of for of in report.figures if of.measure.headline and of.measure not in USAGE.values()]
    before += [figure_line(of, last=over_databases(of) if databases > 1 else "") for of in main]
    room = _LINES - len(before) - len(after) - len(following)
    return "\n".join([*before, *after, *_notes(report, room), *following]) + "\n"


def breakdown(report: RunReport, kinds: Sequence[str]) -> str:
    """Return the measures for groups of tasks as text, with a table and a chart for each kind of group.

    Args:
        report: the report on the run.
        kinds: the kinds of groups, such as `difficulty`.

    Raises:
        InputError: the game has no such groups.
    """
    known = report.run.measured.group_titles
    for kind in kinds:
        if kind not in known:
            there = f"known: {', '.join(known)}" if known else f"{report.run.game} has no groups of tasks"
            raise InputError(f"--by {kind!r} is unknown; {there}")
    lines = [
        line
        for kind in kinds
        for title, groups in report.drawn_groups([kind])
        for line in group_lines(title, groups)
    ]
    return "\n".join(lines[1:]) + "\n"


def reference_block(report: RunReport) -> str:
    """Return the metrics in the format that the game's reference implementation prints.

    Raises:
        InputError: the game has no reference implementation that prints metrics.
    """
    if not report.details.reference:
        raise InputError(f"--reference: there are no reference figures for {report.run.game}")
    return "\n".join(report.details.reference) + "\n"


def _row(name: str, text: str) -> str:
    return f"{name:<{NAME_WIDTH}}{text}"


def _players(run: RecordedRun) -> str:
    """Return `asks-first with rule as the user`, and the models that options named."""
    models = run.config.get("models")
    models = models if isinstance(models, dict) else {}
    seats = find_game(run.game).seat_names if run.game in game_names() else ()
    others = [
        f"{player_name(str(run.config[name]), models.get(f'{name}_model'))} as {_seat(name)}"
        for name in seats
        if name in run.config
    ]
    agent = player_name(run.agent, models.get("model"))
    return f"{agent} with {' and '.join(others)}" if others else agent


def _seat(name: str) -> str:
    """Return the name of a seat in a sentence: `the user`, `agent_1`."""
    return name if name[-1:].isdigit() else f"the {name}"


def _data(run: RecordedRun) -> str:
    path = Path(str(run.config.get("data_file") or ""))
    demo = path.parent.name.startswith("demo-")
    name = "the demo, " if demo else f"{path.parent.name}/{path.name}, ".lstrip("/") if path.name else ""
    databases = len({o.database for o in run.outcomes} - {None})
    played = run.config.get("episodes")
    part = f"{played} of " if isinstance(played, int) and played < len(run.tasks) else ""
    text = name + part + _counted(len(run.tasks), "task")
    text += f" on {_counted(databases, 'database')}" if databases and run.finished else ""
    engine, grader = run.config.get("engine"), run.config.get("grader")
    text += f"; {engine}" if isinstance(engine, str) else ""
    return text if grader is None else f"{text}; grader {grader}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _episodes(run: RecordedRun) -> str:
    """Return the number of finished episodes, and the counts of the statuses other than `completed`."""
    finished, rated = len(run.outcomes), sum(o.rated for o in run.outcomes)
    times = f" ({run.repeats} of each task)" if run.repeats > 1 else ""
    text = f"{finished:,} of {run.expected:,} finished{times}"
    text = text if run.finished else f"UNFINISHED, {text}; the metrics cover only these"
    statuses = Counter(o.status for o in run.outcomes if o.status != "completed")
    said = [
        f"{count} {status.replace('_', ' ')}{' (not counted)' if status in UNRATED else ''}"
        for status, count in sorted(statuses.items())
    ]
    return "; ".join([text, *([] if rated == finished else [f"{rated:,} rated"]), *said])


def _costs(report: RunReport) -> dict[str, str]:
    """Return the cost of each seat's models, omitting numbers that some episodes with usage do not report.

    The agent reports its own.
    """
    reported = [of for of in report.figures if of.measure in USAGE.values()]
    episodes = max((of.count for of in reported), default=0)
    used = {of.measure.name: of.total for of in reported if of.count == episodes}
    others = model_figures(report.run.records).get("usage_of_others", {})
    return {seat: usage_text(of) for seat, of in {"agent": used, **others}.items() if of}


def _repeats(report: RunReport) -> str:
    """Return pass^k and pass@k of the first rate for the maximum k; "" if there are none."""
    return next((f"{of.title}: {rates[-1].text()}" for of, rates in report.repeats.items() if rates), "")


def _notes(report: RunReport, room: int) -> list[str]:
    """Return the note about excluded episodes, and the other notes that fit into `room` lines."""
    excluded = exclusions(report.run)
    lines = _wrapped(excluded.line(report.run.agent)) if excluded else []
    for note in report.details.notes[:_MOST_NOTES]:
        wrapped = _wrapped(note)
        if len(lines) + len(wrapped) <= room:
            lines += wrapped
    return lines


def _wrapped(note: str) -> list[str]:
    first, *others = wrap(note, _WIDTH - NAME_WIDTH)
    return [_row("Note", first), *(_row("", line) for line in others)]


def _next_commands(report: RunReport) -> dict[str, str]:
    """Return the commands that a reader may want next, by their purpose."""
    run = report.run
    by = [f" (or --by {kind})" for kind in run.measured.group_titles][:1]
    commands = {"all figures": f"birdenv summary {run.path} --all{''.join(by)}"}
    if not run.finished:
        started = run.config.get("command")
        name = started.get("name") if isinstance(started, dict) else None
        return {"to finish it": f"birdenv {name or f'play {run.game}'} --resume {run.path}", **commands}
    if report.details.figures.get("failures"):
        commands["whose fault"] = f"birdenv blame {run.path}"
    return commands
