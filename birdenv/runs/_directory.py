"""The folder of one run: files that survive being killed at any moment."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from birdenv.errors import InputError

__all__ = ["STREAMS", "RunDirectory"]

STREAMS = ("runs", "private", "timings")
"""`<stream>.jsonl`: public records, gold-bearing detail, and durations in seconds."""


class RunDirectory:
    """Appends one line to each stream as an episode finishes; rewrites them in task order at the end.

    Each line carries `instance_id`. An episode counts as recorded once its line is in `runs.jsonl`, which
    is written last.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    @classmethod
    def create(cls, parent: Path) -> RunDirectory:
        """Make `run-<date>-<time>` below `parent`, with a number behind it if that is taken."""
        stamp = datetime.now().strftime("run-%Y%m%d-%H%M%S")
        try:
            parent.mkdir(parents=True, exist_ok=True)
            for number in range(1, 10_000):
                path = parent / (stamp if number == 1 else f"{stamp}-{number}")
                try:
                    path.mkdir()
                except FileExistsError:
                    continue
                _point_latest(parent / "latest", path)
                return cls(path)
        except OSError as error:
            raise InputError(
                f"{parent}: cannot write results there: {error.strerror}; see --output"
            ) from None
        raise InputError(f"{parent}: no free name for a run directory")

    @classmethod
    def existing(cls, path: Path) -> RunDirectory:
        """A run to resume; `InputError` if it is not one."""
        if not (path / "config.json").is_file():
            raise InputError(
                f"{path} is not a run directory (no config.json); --resume takes a run-... folder"
            )
        return cls(path)

    def file(self, stream: str) -> Path:
        return self.path / f"{stream}.jsonl"

    def append(self, records: Mapping[str, Mapping[str, Any]]) -> None:
        """Add one episode: a record for each stream."""
        lines = {stream: _line(records[stream]) for stream in STREAMS}
        with self._lock:
            for stream in reversed(STREAMS):
                with self.file(stream).open("a", encoding="utf-8") as file:
                    file.write(lines[stream])

    def read(self, stream: str) -> dict[str, dict[str, Any]]:
        """Records by `instance_id`; the last of a repeated one. A torn last line is dropped."""
        path = self.file(stream)
        if not path.exists():
            return {}
        records = {}
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        for number, line in enumerate(lines, 1):
            if not line:
                continue
            try:
                record = json.loads(line)
                records[str(record["instance_id"])] = record
            except (json.JSONDecodeError, KeyError, TypeError):
                if number < len(lines):
                    raise InputError(
                        f"{path}: line {number} is damaged; remove it to run its task again"
                    ) from None
        return records

    def rewrite(self, order: Iterable[str]) -> None:
        """Leave exactly the episodes named, in this order, in every stream; each file atomically."""
        wanted = list(order)
        for stream in STREAMS:
            records = self.read(stream)
            text = "".join(_line(records[name]) for name in wanted if name in records)
            self.write_text(f"{stream}.jsonl", text)

    def write_text(self, name: str, text: str) -> None:
        """Write a whole file atomically."""
        target = self.path / name
        temporary = target.with_name(f".{name}.tmp")
        try:
            with temporary.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise InputError(f"{target}: cannot be written: {error.strerror}") from None

    def write_json(self, name: str, value: Any) -> None:
        self.write_text(name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")

    def read_config(self) -> dict[str, Any]:
        try:
            config = json.loads((self.path / "config.json").read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError):
            raise InputError(f"{self.path}/config.json is damaged; start a new run") from None
        if not isinstance(config, dict):
            raise InputError(f"{self.path}/config.json is damaged; start a new run")
        return config


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=True, separators=(", ", ": ")) + "\n"


def _point_latest(link: Path, target: Path) -> None:
    """Let `latest` name the newest run; a real file or folder of that name is left alone."""
    if link.exists() and not link.is_symlink():
        return
    temporary = link.with_name(f".latest-{target.name}")
    temporary.symlink_to(target.name)
    temporary.replace(link)
