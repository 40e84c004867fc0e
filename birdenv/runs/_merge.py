"""Merge the run folders of a run's shards (`--shard`) into a single run folder."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from birdenv.dialogue.arena import listed
from birdenv.errors import InputError
from birdenv.files import exists, file_errors, read_json, read_records, write_text
from birdenv.llm import CALLS, CallFile
from birdenv.run_settings import MAY_DIFFER
from birdenv.runs._run_folder import STREAMS, RunDirectory, episode_name, name_of
from birdenv.runs._run_plan import difference
from birdenv.runs._runner import summarise
from birdenv.runs.summaries._run_report import Summary
from birdenv.runs.summaries.recorded_run import BLAME, RecordedRun, read_speeds, recorded_run, write_speeds
from birdenv.statistics import counted

_OF_A_PART = MAY_DIFFER | {"command", "data_file", "db_dir", "server", "shard"}
"""Fields of `config.json` that may differ between parts."""


def merge_runs(parts: Sequence[Path], output: Path) -> tuple[RunDirectory, Summary]:
    """Merge the parts of a run into one run folder. Return the folder and the summary.

    The files are identical to those of a run on one machine, except for durations and for the engine, the
    workers and the command in `config.json`.

    Args:
        parts: the run folders of the parts.
        output: the run folder to make.

    Raises:
        InputError: the parts have different settings, data or code; an episode is missing or is in two parts;
            a part is passed twice; or `output` already exists.
    """
    runs = [recorded_run(RunDirectory.existing(path)) for path in parts]
    if not runs:
        raise InputError("there is nothing to merge: specify the run folders of all parts")
    path, times = Counter(run.path.resolve() for run in runs).most_common(1)[0]
    if times > 1:
        raise InputError(f"{path} is specified {times} times: specify each part once")
    for run in runs[1:]:
        _check_same(runs[0], run)
    order = _order(runs)
    if exists(output):
        raise InputError(f"{output} already exists: remove it, or specify a different folder")
    with file_errors(output, "made"):
        output.mkdir(parents=True)
    directory = RunDirectory(output)
    folders = [run.path for run in runs]
    try:
        for stream in STREAMS:
            files = [folder / f"{stream}.jsonl" for folder in folders]
            text = "\n".join(file.read_text(encoding="utf-8") for file in files if exists(file))
            directory.write_text(f"{stream}.jsonl", text)
        directory.rewrite(order)
        _merge_calls(folders, directory.path)
        _merge_speeds(folders, directory.path, order)
        _merge_blame(folders, directory.path, order)
        directory.write_json("config.json", _config(runs))  # last: this file makes the folder a run
        return directory, summarise(directory)
    except BaseException:
        shutil.rmtree(output, ignore_errors=True)
        raise


def _check_same(first: RecordedRun, other: RecordedRun) -> None:
    one, two = first.config, other.config
    keys = sorted({*one, *two} - _OF_A_PART)
    different = [difference(key, one.get(key), two.get(key)) for key in keys if one.get(key) != two.get(key)]
    if different:
        raise InputError(
            f"{other.path} and {first.path} are not parts of the same run: "
            f"they differ in {', '.join(different)}"
        )


def _order(runs: Sequence[RecordedRun]) -> list[str]:
    """Return the names of all episodes in order. Raise an `InputError` unless each is in exactly one part."""
    whole = runs[0]
    rounds = range(whole.repeats) if whole.repeats > 1 else [None]
    planned = [episode_name(task, repeat) for repeat in rounds for task in whole.tasks]
    asked = whole.config.get("episodes")
    planned = planned[: asked if isinstance(asked, int) else None]
    held = Counter(name for run in runs for name in _whole_episodes(RunDirectory(run.path)))
    missing = [name for name in planned if name not in held]
    double = [name for name, count in held.items() if count > 1]
    if missing:
        raise InputError(
            f"the parts lack {counted(len(missing), 'episode')}: {listed(missing)}; specify all parts, "
            "or finish them with --resume"
        )
    if double:
        raise InputError(f"several parts have {counted(len(double), 'episode')} in common: {listed(double)}")
    wanted = set(planned)
    by_task = (episode_name(task, repeat) for task in whole.tasks for repeat in rounds)
    return [name for name in by_task if name in wanted]


def _whole_episodes(part: RunDirectory) -> list[str]:
    """Return the names of the episodes that have a record in every stream."""
    first, *others = (part.read(stream) for stream in STREAMS)
    return [name for name in first if all(name in other for other in others)]


def _config(runs: Sequence[RecordedRun]) -> dict[str, Any]:
    config = {name: value for name, value in runs[0].config.items() if name != "shard"}
    match config.get("command"):
        case {"options": {"shard": _, **others}, **command}:
            config["command"] = {**command, "options": others}
    engines = dict.fromkeys(str(run.config.get("run_engine", "threads")) for run in runs)
    workers = sum(int(run.config.get("workers", 1)) for run in runs)
    return config | {"run_engine": ", ".join(engines), "workers": workers}


def _merge_calls(folders: Iterable[Path], target: Path) -> None:
    """Merge the recorded model calls of the parts into one sorted file."""
    lines = [path.read_text(encoding="utf-8") for folder in folders if exists(path := folder / CALLS)]
    if lines:
        write_text(target / CALLS, "".join(lines))
        calls = CallFile(target / CALLS, append=True)
        calls.sort()
        calls.close()


def _merge_speeds(folders: Iterable[Path], target: Path, order: Sequence[str]) -> None:
    """Merge the R-VES measurements of the parts into one file, in the order of the episodes."""
    measured: dict[str, Mapping[str, Any]] = {}
    for folder in folders:
        if read_speeds(folder):
            for record in read_records(folder / "r_ves.jsonl", "speeds"):
                measured[name_of(record)] = record
    if measured:
        write_speeds(target, [measured[name] for name in order if name in measured])


def _merge_blame(folders: Sequence[Path], target: Path, order: Sequence[str]) -> None:
    """Add up the counts of failures by cause, and combine the details about each failure."""
    found = [read_json(folder / BLAME) for folder in folders if exists(folder / BLAME)]
    if not found:
        return
    sums = {
        key: {name: sum(each[key][name] for each in found) for name in found[0][key]}
        for key in ("classes", "culprits")
    }
    failed = sum(each["failed"] for each in found)
    merged = {
        "episodes": sum(each["episodes"] for each in found),
        "failed": failed,
        **sums,
        "users_share": round(sums["culprits"]["user"] / failed, 6) if failed else None,
    }
    for key in ("void", "by_episode"):
        entries = {name: value for each in found for name, value in each.get(key, {}).items()}
        if entries or key == "by_episode":
            merged[key] = {name: entries[name] for name in order if name in entries}
    write_text(target / BLAME, json.dumps(merged, indent=2, ensure_ascii=False) + "\n")
