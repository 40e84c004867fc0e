"""Compute the published score of result files: (0.7a + 0.5b + 0.3c + 0.2d) / N (BIRD-Interact §5).

N is the number of tasks, a and b are how many tasks passed phase 1 at the first and at the debug attempt, and
c and d are the corresponding numbers for phase 2.

Files without verdicts are graded by rerunning the SQL of every attempt.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from birdenv.errors import InputError
from birdenv.files import exists, is_directory
from birdenv.runs._run_episodes import run_episodes
from birdenv.runs.official._published_lines import PublishedNotes, record_groups
from birdenv.runs.official._read import (
    OfficialResults,
    is_stage_folder,
    official_folder,
    read_adk_file,
    read_stage_folder,
)
from birdenv.statistics import rule
from birdenv.tasks.interact.measures import GROUPS, passed
from birdenv.tasks.interact.official_score import (
    EpisodeScore,
    answers_line,
    group_figures,
    group_table,
    official_figures,
    official_lines,
    questions_text,
    rate_lines,
)


def grade_official(path: Path, records: Sequence[Mapping[str, Any]], **settings: Any) -> OfficialScore:
    """Regrade the attempts in a result folder, and compute the score over all tasks.

    Verdicts in the files are ignored. A task without an attempt counts as failed.

    Args:
        path: the folder that contains `sql_results*.jsonl`, one of these files, or a run with official files.
        records: the task records, which also define the groups of tasks.
        **settings: settings of the game `c-interact`, such as the data, the databases and the profile.

    Raises:
        InputError: the files, the tasks or the databases cannot be used.
    """
    path = official_folder(path) if is_directory(path) else path
    if not any((path if is_directory(path) else path.parent).glob("sql_results*.jsonl")):
        raise InputError(f"{path} contains no sql_results*.jsonl, so there is nothing to grade")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        played = run_episodes("c-interact", f"predictions:{path}", **settings)
    groups = {str(record.get("instance_id")): record_groups(record) for record in records}
    standings = []
    for run in played.records:
        name = run["instance_id"]
        places = [(phase, attempt) for phase in (1, 2) for attempt in ("first", "debug")]
        passes = frozenset(place for place in places if passed(run, *place))
        standings.append(EpisodeScore(name, run["status"], passes, run["follow_up"], groups.get(name, {})))
    notes = PublishedNotes([str(each.message) for each in told])
    silent = [run["instance_id"] for run in played.records if run["status"] == "no_submission"]
    notes.about(silent, "the files contain no SQL for the task, which counts as failed")
    return OfficialScore(path, OfficialResults(tuple(standings), tuple(notes.lines)))


@dataclass(frozen=True, slots=True)
class OfficialScore:
    """The score of official result files.

    Attributes:
        path: the path of the files.
        results: the results from which the score is computed.
    """

    path: Path
    results: OfficialResults

    def to_json(self) -> dict[str, Any]:
        """Return all metrics as JSON data, without the path, so that identical files produce equal objects.

        `official` contains `official_figures`, as in the `overall.json` of a run. The metrics of a group
        cover all of its tasks, including tasks that have no result.
        """
        results = self.results
        groups = {f"by_{kind}": group_figures(results.standings, kind) for kind in GROUPS}
        return {
            "official": official_figures(results.standings),
            "questions_asked": results.questions_asked,
            "questions_allowed": results.questions_allowed,
            "answers": None if results.answers is None else dict(results.answers),
            **groups,
            "notes": list(results.notes),
        }

    def text(self) -> str:
        """Return the metrics as readable text."""
        made = self.to_json()
        lines = [rule("="), "c-Interact, official score", rule("=")]
        lines += [*official_lines(made["official"]), *rate_lines(made["official"])]
        asked, allowed = made["questions_asked"], made["questions_allowed"]
        if asked is not None:
            lines.append(f"{'Questions per task':<31}{questions_text(asked, allowed)}")
        if made["answers"] is not None:
            lines.append(answers_line(made["answers"]))
        for kind, title in GROUPS.items():
            lines += group_table(title, made[f"by_{kind}"])
        if made["notes"]:
            lines += ["", *(f"Note: {note}" for note in made["notes"])]
        return "\n".join([*lines, rule("=")]) + "\n"


def score_official(path: Path, tasks: Sequence[Mapping[str, Any]] | None = None) -> OfficialScore:
    """Read the result files of the pipeline, the service or a birdenv run, and score them.

    Args:
        path: a folder of stage files, an `eval_<mode>.json` or its folder, or a run folder with official
            files.
        tasks: the records of all tasks that should have a result, which define N and the groups. A task
            without a result is `skipped` and counts as failed. None to use the tasks that have a result.

    Raises:
        InputError: the path contains no results, or results of several kinds.
    """
    place, results = _read(path)
    return OfficialScore(place, results if tasks is None else _among(results, tasks, place))


def _read(path: Path) -> tuple[Path, OfficialResults]:
    if not exists(path):
        raise InputError(f"{path}: no such file or folder")
    if not is_directory(path):
        return path, read_adk_file(path)
    folder = official_folder(path)
    if is_directory(folder / "repeat_0"):
        raise InputError(
            f"{folder} contains a folder for each repeat of a run; specify one of them, such as "
            f"{folder / 'repeat_0'}"
        )
    of_service = sorted(folder.glob("eval_*.json"))
    if is_stage_folder(folder) and of_service:
        raise InputError(
            f"{folder} contains stage files and {of_service[0].name}; specify that file to score it"
        )
    if len(of_service) > 1:
        names = " and ".join(file.name for file in of_service)
        raise InputError(f"{folder} contains {names}; specify one of them")
    if of_service:
        return of_service[0], read_adk_file(of_service[0])
    if not is_stage_folder(folder):
        raise InputError(
            f"{path} contains no sql_results_output_with_status.jsonl and no eval_<mode>.json; to score a "
            "run of birdenv, play it with --official-files"
        )
    return folder, read_stage_folder(folder)


def _among(results: OfficialResults, tasks: Sequence[Mapping[str, Any]], where: Path) -> OfficialResults:
    groups = {str(record.get("instance_id")): record_groups(record) for record in tasks}
    found = {standing.instance_id: standing for standing in results.standings}
    strange = sorted(found.keys() - groups.keys())
    if strange:
        raise InputError(
            f"{where}: {strange[0]} is not among the tasks in --data; specify the task file for these results"
        )
    notes = PublishedNotes(list(results.notes))
    notes.about([n for n in groups if n not in found], "a task in --data has no result and counts as failed")
    standings = tuple(
        replace(found[name], groups=of)
        if name in found
        else EpisodeScore(name, "skipped", frozenset(), "none", of)
        for name, of in groups.items()
    )
    return replace(results, standings=standings, notes=tuple(notes.lines))
