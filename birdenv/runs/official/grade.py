"""Verdicts for result files of the published pipeline that have none: every attempt is played again."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from birdenv.errors import InputError
from birdenv.files import is_directory
from birdenv.runs._run_episodes import run_episodes
from birdenv.runs.official._published_lines import PublishedNotes, record_groups
from birdenv.runs.official._read import OfficialResults, official_folder
from birdenv.runs.official.score import OfficialScore
from birdenv.tasks.interact.measures import passed
from birdenv.tasks.interact.official_score import EpisodeScore


def grade_official(path: Path, records: Sequence[Mapping[str, Any]], **settings: Any) -> OfficialScore:
    """Grade the attempts of a result folder, and score them over all tasks.

    Verdicts that the files may hold are not looked at. A task without an attempt counts as failed.

    Args:
        path: the folder of `sql_results*.jsonl`, one of these files, or a run with official files.
        records: the task records, from which the groups come.
        **settings: those of the game `c-interact`: data, databases, profile.

    Raises:
        InputError: the files, the tasks or the databases cannot be used.
    """
    path = official_folder(path) if is_directory(path) else path
    if not any((path if is_directory(path) else path.parent).glob("sql_results*.jsonl")):
        raise InputError(f"{path}: no sql_results*.jsonl there, so there is nothing to grade")
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
    notes.about(silent, "no SQL of the task is in the files, counted as failed")
    return OfficialScore(path, OfficialResults(tuple(standings), tuple(notes.lines)))
