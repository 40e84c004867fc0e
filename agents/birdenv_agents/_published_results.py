"""The result files of the published c-Interact pipeline, one for each attempt of a phase."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_STAGES: Final = ("sql_results", "sql_results_debug", "sql_results_fu", "sql_results_fu_debug")
_ENDINGS: Final = (".jsonl", "_output_with_status.jsonl")


def stage_files(path: Path) -> dict[str, Path]:
    """Find the result files in a folder.

    Args:
        path: the folder, or one of the files in it.

    Returns:
        The existing files by the name of their stage, without later stages that no task reached; empty if
        the path is anything else.
    """
    names = {f"{stage}{ending}" for stage in _STAGES for ending in _ENDINGS}
    if not path.is_dir() and path.name not in names:
        return {}
    folder = path if path.is_dir() else path.parent
    found = {}
    for stage in _STAGES:
        files = [folder / f"{stage}{ending}" for ending in _ENDINGS]
        there = [file for file in files if file.is_file()]
        is_reached = there and (stage == _STAGES[0] or there[0].stat().st_size)
        if is_reached:
            found[stage] = there[0]
    return found
