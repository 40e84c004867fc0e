"""Reading benchmark files: a JSON list or one JSON object a line, with errors that say what to do."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from birdenv.errors import InputError

__all__ = ["file_digest", "read_records", "read_text"]

_LFS = "version https://git-lfs"


def file_digest(path: Path) -> str:
    """SHA-256 of the file's bytes, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_text(path: Path) -> str:
    """The file as UTF-8 text without a byte-order mark; `InputError` where that cannot be."""
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.is_dir():
        raise InputError(f"{path} is a directory; give the file itself")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if text.startswith(_LFS):
        raise InputError(f"{path} is a Git LFS pointer, not the data: run `git lfs pull` in its repository")
    return text


def read_records(path: Path) -> list[dict[str, Any]]:
    """All objects of a `.json` list or a `.jsonl` file; which of the two is seen from the content.

    Raises `InputError` naming the file and the line for anything that is not a list of objects.
    """
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path} is empty: expected a JSON list of tasks, or one task a line")
    whole = _parse(text)
    if isinstance(whole, list):
        records = whole
    elif whole is not None and not isinstance(whole, dict):
        raise InputError(f"{path}: expected a JSON list of objects, found {type(whole).__name__}")
    elif text.lstrip().startswith("["):
        raise InputError(f"{path}: {_fault(text)}; the file may be cut off: fetch it again")
    elif isinstance(whole, dict) and text.strip().count("\n"):
        raise InputError(f"{path}: expected a JSON list of tasks, found a single object")
    else:
        records = [_line(path, number, line) for number, line in _lines(text)]
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            raise InputError(f"{path}: record {number} is not a JSON object")
    if not records:
        raise InputError(f"{path} holds no tasks")
    return records


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None


def _fault(text: str) -> str:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"line {error.lineno} is not JSON: {error.msg}"
    except RecursionError:
        return "nested too deeply"
    return "not JSON"


def _lines(text: str) -> list[tuple[int, str]]:
    return [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]


def _line(path: Path, number: int, line: str) -> Any:
    record = _parse(line)
    if record is None:
        raise InputError(f"{path}: line {number} is not JSON; the file may be cut off: fetch it again")
    return record
