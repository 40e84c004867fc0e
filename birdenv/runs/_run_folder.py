"""The folder of a run, whose files remain usable even if the run is killed."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any

from birdenv.errors import InputError
from birdenv.files import (
    check_own,
    exists,
    file_errors,
    is_directory,
    lines_of,
    parse_json,
    read_json,
    write_text,
)
from birdenv.runs._episode_status import RETRIED

_CONFIG = "config.json"
_UNSAFE = re.compile(r"[^A-Za-z0-9._=-]+")
_LONGEST_NAME = 60
_WITH_MODEL = ("llm", "llm-markup", "llm-one-prompt", "rule+llm")
_DATA = ("data_dir", "data", "data_file", "scenarios", "schema_file", "listings")
"""Settings of games that name data."""

STREAMS = ("runs", "private", "timings")
"""Names of the files `<stream>.jsonl`: public records, private details with gold, durations in seconds."""

_TYPES = {"result": dict, "history": list, "attempts": list, "usage": dict}
"""Optional fields of `runs.jsonl`, and their types."""


def run_folder(path: Path, *, started: bool = True) -> Path:
    """Return the path if it is a run folder; otherwise, return the latest run folder inside it.

    Args:
        path: the path.
        started: True to skip runs that have no episodes, unless no run has any episodes.

    Raises:
        InputError: the path is not a run and contains no run, or the run folder contains links or special
            files.
    """
    if exists(path / _CONFIG):
        return _own_files_only(path.parent / path.resolve().name if path.is_symlink() else path)
    configs = path.glob(f"run-*/{_CONFIG}") if is_directory(path) else ()
    runs = [config.parent for config in sorted(configs, key=lambda config: config.stat().st_mtime_ns)]
    latest = path / "latest"
    if exists(latest / _CONFIG):
        runs.append(path / latest.resolve().name)
    if runs:  # a file system without links has no `latest`
        with_episodes = [run for run in runs if exists(run / "runs.jsonl")] if started else []
        return _own_files_only((with_episodes or runs)[-1])
    if exists(path / "study.sqlite"):
        raise InputError(
            f"{path} is a study, not a run: use `birdenv analyze`, or `birdenv export` with --format cocoa, "
            "openai, potato, people, ratings or pairs"
        )
    raise InputError(
        f"{path} is not a run: specify a run-... folder, or its parent folder for the latest run "
        "(`birdenv runs` lists them)"
    )


def _own_files_only(folder: Path) -> Path:
    """Return the folder, or raise an `InputError` if it contains links or special files, such as pipes."""
    for path in folder.glob("*"):
        check_own(path)
    return folder


def folder_name(players: Sequence[str], game: str, data: str = "") -> str:
    """Return the name of the folder for runs with the given players, game and data.

    The name is short and valid on every file system. A path in a player's spec is shortened to the file name.
    If a spec had to be changed, the first eight digits of its SHA-256 are added, so that different players
    have different folders.

    Args:
        players: the players' specs, in the order of the seats.
        game: the name of the game.
        data: the result of `data_name`.

    >>> folder_name(["asks-first", "rule"], "c-interact"), folder_name(["mine:agent"], "bird", "mini_dev")
    ('asks-first+rule-c-interact', 'mine=agent-mini_dev-bird')
    >>> folder_name(["predictions:/home/me/first.json"], "bird")
    'predictions=first-0e225ac3-bird'
    """
    names = []
    for player in filter(None, players):
        kind, colon, argument = player.partition(":")
        short = f"{kind}={':'.join(map(_file_name, argument.split(':')))}" if colon else player
        name = _UNSAFE.sub("-", short)
        if name != player.replace(":", "=", 1) or "=" in player or len(name) > _LONGEST_NAME:
            name = f"{name[:_LONGEST_NAME]}-{hashlib.sha256(player.encode()).hexdigest()[:8]}"
        names.append(name)
    place = _UNSAFE.sub("-", data)[:_LONGEST_NAME]
    return "-".join(filter(None, ("+".join(names), place, game)))


def player_name(player: str, model: Any) -> str:
    """Return a player's spec, with `:model` appended if the player uses a model and `model` names one."""
    return f"{player}:{model}" if isinstance(model, str) and model and player in _WITH_MODEL else player


def data_name(settings: Any) -> str:
    """Return the names of the data folder and the data files in a game's settings; "" for the demo."""
    given = (getattr(settings, name, None) for name in _DATA)
    return "-".join(_file_name(str(Path(path).absolute())) for path in given if path is not None)


def _file_name(path: str) -> str:
    return PurePath(path).name.removesuffix(".jsonl").removesuffix(".json")


class RunDirectory:
    """A run folder. When an episode finishes, its records are appended to the folder's files.

    The records are in several JSONL files, called streams. Each record names its episode by `instance_id`,
    and by `repeat` if every task is played several times. An episode is finished when it has a record in
    every stream. At the end of the run, the records are sorted by task.
    """

    def __init__(self, path: Path, *, new: bool = False) -> None:
        self.path = path
        self._new = new
        self._lock = threading.Lock()

    @classmethod
    def create(cls, parent: Path) -> RunDirectory:
        """Create a folder `run-<date>-<time>` in `parent`. A number is appended if this name is taken.

        The folder counts as a run once `config.json` is written in it; `latest` then points to the folder. If
        `config.json` cannot be written, the folder is removed.

        Raises:
            InputError: the folder cannot be created.
        """
        stamp = datetime.now().strftime("run-%Y%m%d-%H%M%S")
        try:
            parent.mkdir(parents=True, exist_ok=True)
            for number in range(1, 10_000):
                path = parent / (stamp if number == 1 else f"{stamp}-{number}")
                try:
                    path.mkdir()
                except FileExistsError:
                    continue
                return cls(path, new=True)
        except OSError as error:
            raise InputError(
                f"{parent}: cannot write results: {error.strerror}; choose another folder with --output"
            ) from None
        raise InputError(f"{parent}: all names for a new run folder are taken; try again")

    @classmethod
    def existing(cls, path: Path) -> RunDirectory:
        """Open the run at a path, or the latest run inside it, even if no episode has been played.

        Raises:
            InputError: there is no run, or its folder contains links or special files.
        """
        return cls(run_folder(path, started=False))

    def file(self, stream: str) -> Path:
        return self.path / f"{stream}.jsonl"

    def append(self, records: Mapping[str, Mapping[str, Any]]) -> None:
        """Append the records of a finished episode.

        Args:
            records: the record for each stream, keyed by stream name.
        """
        lines = {stream: _line(records[stream]) for stream in STREAMS}
        with self._lock:
            for stream in reversed(STREAMS):
                hint = f"; finished episodes are saved, continue with --resume {self.path}"
                with file_errors(self.file(stream), "written", hint):
                    _append(self.file(stream), lines[stream].encode())

    def read(self, stream: str) -> dict[str, dict[str, Any]]:
        """Return the records of a stream, keyed by `episode_name`.

        If an episode has several records, the last one counts. An incomplete last line is ignored.

        Raises:
            InputError: any other line is not a record of this stream; the message names the line.
        """
        path = self.file(stream)
        if not exists(path):
            return {}
        if is_directory(path):
            raise InputError(f"{path} is a directory, not the records of a run; start a new run")
        records = {}
        for number, line in lines_of(path):
            if not line.strip():
                continue
            try:
                record = _record(parse_json(line.decode(errors="replace"), str(path), line=number), stream)
            except (InputError, ValueError) as error:
                if not line.endswith(b"\n"):
                    continue
                why = f" ({error})" if isinstance(error, ValueError) else ""
                raise InputError(
                    f"{path}: line {number} is damaged{why}; remove the line to play its task again"
                ) from None
            records[name_of(record)] = record
        return records

    def finished(self) -> dict[str, dict[str, Any]]:
        """Return the public records of the episodes that will not be replayed, keyed by `episode_name`.

        Episodes whose status says nothing about the agent, such as `infra_error`, are replayed.
        """
        others = [self.read(stream) for stream in STREAMS if stream != "runs"]
        runs = self.read("runs")
        kept = {name: run for name, run in runs.items() if all(name in other for other in others)}
        return {name: run for name, run in kept.items() if run["status"] not in RETRIED}

    def rewrite(self, order: Iterable[str]) -> None:
        """Rewrite every stream atomically with only the records of the episodes in `order`, in that order."""
        wanted = list(order)
        for stream in STREAMS:
            records = self.read(stream)
            text = "".join(_line(records[name]) for name in wanted if name in records)
            self.write_text(f"{stream}.jsonl", text)

    def write_text(self, name: str, text: str) -> None:
        """Write a text file in the run folder atomically."""
        write_text(self.path / name, text)

    def write_json(self, name: str, value: Any) -> None:
        """Write a JSON file atomically. Writing `config.json` makes a new folder a run (see `create`)."""
        try:
            self.write_text(name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")
        except BaseException:
            if self._new and name == _CONFIG:
                with suppress(OSError):
                    self.path.rmdir()
            raise
        if self._new and name == _CONFIG:
            self._new = False
            with suppress(OSError):  # some file systems have no links
                _point_latest(self.path.parent / "latest", self.path)

    def read_config(self, hint: str = "; start a new run without --resume") -> dict[str, Any]:
        """Return the content of `config.json`, which holds the settings of the run.

        Raises:
            InputError: the file cannot be read; the message ends with `hint`.
        """
        path = self.path / _CONFIG
        try:
            config = read_json(path)
        except InputError as error:
            raise InputError(f"{error}{hint}") from None
        if not isinstance(config, dict):
            raise InputError(f"{path}: expected a JSON object{hint}")
        return _without_isolation(config)


def _without_isolation(config: dict[str, Any]) -> dict[str, Any]:
    """Return the settings without `isolation`, which earlier versions wrote."""
    config.pop("isolation", None)
    match config.get("command"):
        case {"options": {"further": [*words]} as options}:
            left = iter(words)
            options["further"] = [
                word
                for word in left
                if not (word == "--isolation" and next(left, "")) and not str(word).startswith("--isolation=")
            ]
    return config


def episode_name(instance_id: str, repeat: int | None = None) -> str:
    """Return the name of an episode, which is unique in its run.

    Args:
        instance_id: the id of the task.
        repeat: the zero-based index of the repeat; None if each task is played once.

    >>> episode_name("library_1"), episode_name("library_1", 2)
    ('library_1', 'library_1 repeat 2')
    """
    return instance_id if repeat is None else f"{instance_id} repeat {repeat}"


def name_of(record: Mapping[str, Any]) -> str:
    """Return the `episode_name` of the episode that a record belongs to."""
    return episode_name(record["instance_id"], record.get("repeat"))


def _record(value: Any, stream: str) -> dict[str, Any]:
    """Return the value if it is a record of the stream; otherwise raise a `ValueError` that says why not."""
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    needed = ("instance_id", "status") if stream == "runs" else ("instance_id",)
    for name in needed:
        if not isinstance(value.get(name), str):
            raise ValueError(f"the field `{name}` must be text")
    repeat = value.get("repeat", 0)
    if type(repeat) is not int or repeat < 0:
        raise ValueError("the field `repeat` must be a whole number, 0 or more")
    for name, kind in _TYPES.items():
        if stream == "runs" and name in value and not isinstance(value[name], kind):
            raise ValueError(f"the field `{name}` must be {'an object' if kind is dict else 'a list'}")
    return value


def _append(path: Path, data: bytes) -> None:
    """Append all bytes to a file, or no bytes if the disk is full."""
    with path.open("ab", buffering=0) as file:
        start = file.tell()
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[file.write(rest) :]
        except OSError:
            file.truncate(start)
            raise


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=True, separators=(", ", ": ")) + "\n"


def _point_latest(link: Path, target: Path) -> None:
    """Make `latest` a link to the newest run, unless a real file or folder has that name."""
    if link.exists() and not link.is_symlink():
        return
    temporary = link.with_name(f".latest-{target.name}")
    temporary.symlink_to(target.name)
    temporary.replace(link)
