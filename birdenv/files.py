"""Read and write whole files. All errors are raised as `InputError` and name the file.

All of birdenv parses JSON with `parse_json`, and writes whole files with `write_text` or `write_bytes`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain, count
from pathlib import Path
from typing import Any

from birdenv.errors import InputError

_LFS = "version https://git-lfs"
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_NESTED = 100
_LONGEST_LINE = 64 * 2**20  # bytes
_LARGEST_TEXT = 2**30  # bytes of a file that is read as a whole

PairsHook = Callable[[list[tuple[str, Any]]], Any]


@contextmanager
def file_errors(path: Path, done: str = "read", hint: str = "") -> Iterator[None]:
    """Convert file errors in the `with` block, such as a missing file or bad UTF-8, to `InputError`.

    Args:
        path: the file that the message names.
        done: the past participle in the message "cannot be ...", such as `written`.
        hint: text to append to the message.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start})") from None
    except UnicodeEncodeError as error:
        held = ascii(error.object[error.start])
        raise InputError(f"{path}: cannot be {done}: UTF-8 cannot encode {held}{hint}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be {done}: {error.strerror or error}{hint}") from None
    except ValueError as error:  # a null character in the path
        raise InputError(f"{path}: cannot be {done}: {error}{hint}") from None


def exists(path: Path) -> bool:
    """Return whether the path exists. Raises `InputError` if that cannot be determined."""
    with file_errors(path):
        return path.exists()


def is_directory(path: Path) -> bool:
    """Return whether the path is a folder. Raises `InputError` if that cannot be determined."""
    with file_errors(path):
        return path.is_dir()


def check_regular(path: Path) -> None:
    """Raise `InputError` for a folder, pipe, socket or device. A path that does not exist is accepted."""
    with file_errors(path):
        if not path.exists() or path.is_file():
            return
    what = "a directory" if is_directory(path) else "a pipe, a socket or a device"
    raise InputError(f"{path} is {what}, not a file")


def check_own(top: Path) -> None:
    """Raise `InputError` if a path is, or as a folder contains, a link or a special file, such as a pipe."""
    inside = (Path(place) / name for place, *names in os.walk(top) for name in chain(*names))
    for path in chain([top], inside):
        if path.is_symlink():
            raise InputError(
                f"{path} is a link, but commands write to a run's files: copy the folder with cp -rL"
            )
        if not path.is_dir():
            check_regular(path)


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the number (from 1) and the bytes of each line in an untrusted file, including the line feed.

    Raises:
        InputError: the path is not a regular file, cannot be read, or has a line longer than 64 MiB.
    """
    check_regular(path)
    with file_errors(path), path.open("rb") as file:
        for number in count(1):
            line = file.readline(_LONGEST_LINE + 1)
            if not line:
                return
            if len(line) > _LONGEST_LINE:
                raise InputError(f"{path}: line {number} is longer than {_LONGEST_LINE >> 20} MiB")
            yield number, line


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    check_regular(path)
    with file_errors(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def path_digest(path: Path) -> str | None:
    """Return the SHA-256 of a file or folder in hexadecimal; None if it is unreadable or has subfolders."""
    try:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        digest = hashlib.sha256()
        for file in files:
            if not file.is_file():
                return None
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    except OSError:
        return None
    return digest.hexdigest()


def cache_folder() -> Path:
    """Return the path of birdenv's cache, in `$XDG_CACHE_HOME` or `~/.cache`. The folder may not exist yet.

    Raises:
        RuntimeError: this user has no home directory.
    """
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "birdenv"


@cache
def code_digest() -> str:
    """Return a single SHA-256 digest for the paths and contents of all Python files in birdenv."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def file_identity(*paths: Path | None) -> Hashable:
    """Return a value that changes when a file or folder changes. The contents of files are not read."""
    found: list[Any] = []
    for path in paths:
        try:
            status = path.stat() if path is not None else None
        except OSError:
            status = None
        if status is not None:
            status_of = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
            found.append((str(path), *status_of))
    return tuple(found)


def read_text(path: Path) -> str:
    """Return the contents of a UTF-8 file as text, minus any byte-order mark.

    Raises:
        InputError: the file does not exist, cannot be read, is not UTF-8, is larger than 1 GiB, or is a Git
            LFS pointer.
    """
    if not exists(path):
        raise InputError(f"{path}: no such file")
    if is_directory(path):
        raise InputError(f"{path} is a directory; specify the file itself")
    if not _is_input(path):
        check_regular(path)
    with file_errors(path):
        size = path.stat().st_size
        if size > _LARGEST_TEXT:
            raise InputError(f"{path} is too large: {size / 2**30:.1f} GiB, but at most 1 GiB is allowed")
        text = path.read_text(encoding="utf-8-sig")
    if text.startswith(_LFS):
        raise InputError(f"{path} is a Git LFS pointer, not the data: run `git lfs pull` in its repository")
    return text


def _is_input(path: Path) -> bool:
    """Return whether the path is an input that a shell provides: `/dev/stdin`, or the file of `<(...)`."""
    return path == Path("/dev/stdin") or path.parent == Path("/dev/fd")


def parse_json(text: str, where: str, *, line: int | None = None, pairs_hook: PairsHook | None = None) -> Any:
    """Parse JSON text and return the value.

    Args:
        text: the JSON text.
        where: the origin of the text for error messages, such as a path.
        line: the line number, if the text is one line of a file.
        pairs_hook: the `object_pairs_hook` of `json.loads`.

    Raises:
        InputError: the text is not valid JSON, is nested too deeply, or has a number with too many digits.
    """
    at = where if line is None else f"{where}: line {line}"
    try:
        return json.loads(text, object_pairs_hook=pairs_hook)
    except json.JSONDecodeError as error:
        number = error.lineno if line is None else line
        fault = f"{error.msg.removesuffix(' at')} at column {error.colno}"
        fault += "; the file may be cut off" if error.pos or not text.strip() else ""
        raise InputError(f"{where}: line {number} is not JSON: {fault}") from None
    except RecursionError:
        raise InputError(f"{at}: the JSON is nested too deeply") from None
    except ValueError:
        raise InputError(f"{at}: the JSON contains a number with too many digits") from None


def check_text(value: Any, where: str, depth: int = 0, most: int = _MOST_NESTED) -> None:
    """Raise `InputError` if a JSON value is nested too deeply, or contains lone surrogates (invalid text).

    Args:
        value: the JSON value.
        where: a description of the value for error messages.
        depth: the nesting depth of the value within a larger value.
        most: the maximum nesting depth.
    """
    if isinstance(value, str):
        half = None if value.isascii() else _SURROGATE.search(value)
        if half is not None:
            raise InputError(f"{where} contains half a character ({half.group()!a}); repair or remove it")
    elif isinstance(value, dict | list):
        if depth >= most:
            raise InputError(f"{where} is nested too deeply")
        pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        for key, item in pairs:
            check_text(key, where, depth + 1, most)
            named = f"{where}: the field {key!a}" if depth == 0 and key is not None else where
            check_text(item, named, depth + 1, most)


def read_json(path: Path) -> Any:
    """Read a JSON file and return its value. Raises `InputError` if the file cannot be read or parsed."""
    value = parse_json(read_text(path), str(path))
    check_text(value, str(path))
    return value


def read_records(path: Path, what: str = "tasks") -> list[dict[str, Any]]:
    """Read a file that contains a JSON list of objects, or one JSON object on each line.

    Args:
        path: the file.
        what: a plural noun that names the records in error messages.

    Raises:
        InputError: the file cannot be read, does not contain objects, or contains invalid text.
    """
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path} is empty: expected a JSON list of {what}, or one JSON object per line")
    records = _records(text, path, what)
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            raise InputError(f"{path}: record {number} is not a JSON object")
        check_text(record, f"{path}: record {number}")
    if not records:
        raise InputError(f"{path} contains no {what}")
    return records


def _records(text: str, path: Path, what: str) -> list[Any]:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    try:
        whole = parse_json(text, str(path))
    except InputError:
        if text.lstrip().startswith("["):
            raise
        return [parse_json(line, str(path), line=number) for number, line in lines]
    if isinstance(whole, list):
        return whole
    if not isinstance(whole, dict):
        raise InputError(f"{path}: expected a JSON list of objects, found {type(whole).__name__}")
    if len(lines) > 1:
        raise InputError(f"{path}: expected a JSON list of {what}, found a single object")
    return [whole]


def check_writable(path: Path) -> None:
    """Raise `InputError` if a path is a folder, is inside a file, or lacks write permission."""
    with file_errors(path, "written"):
        place = Path(os.path.realpath(path))
        if place.is_dir():
            raise InputError(f"{path} is a directory; specify an output file")
        needed = os.W_OK
        while not _there(place):
            place, needed = place.parent, os.W_OK | os.X_OK
            if _there(place) and not place.is_dir():
                raise InputError(f"{path}: cannot be written: {place} is not a directory")
        if not os.access(place, needed, effective_ids=os.access in os.supports_effective_ids):
            raise InputError(f"{path}: cannot be written: no permission to write to {place}")


def write_text(path: Path, text: str) -> None:
    """Write a whole file as UTF-8, atomically, creating its folder if necessary.

    If the path is a link, the target of the link is replaced. Devices and pipes are written to directly.
    """
    with file_errors(path, "written"):
        data = text.encode()
    write_bytes(path, data)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a whole binary file. Atomicity, links and devices are handled as in `write_text`."""
    with file_errors(path, "written"):
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        if _there(target) and not stat.S_ISREG(target.stat().st_mode):
            target.write_bytes(data)
            return
        temporary = target.with_name(f".{uuid.uuid4().hex}.tmp")
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise


def write_records(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write records as one JSON object per line, atomically."""
    write_text(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))


def _there(path: Path) -> bool:
    """Return whether the path exists, even as a broken link. Raises `OSError` if that cannot be found out."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
