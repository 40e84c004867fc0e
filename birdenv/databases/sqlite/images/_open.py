"""Open a private image of a database file: in the best way that works here.

Four ways to make one, in the order of preference; all start from the same bytes and never write to the file:

* `reflink`: a clone of the file by the file system (XFS, btrfs), in the scratch folder on that file system.
* `memory-map`: the file mapped privately into memory and handed to SQLite; pages are copied when written.
* `deserialize`: the file read into memory; by itself only for files up to 16 MB.
* `copy`: a plain copy in the scratch folder.

`auto` takes the first that works here. What an image has changed can be taken out as a `Checkpoint` and put
into another image of the same file, made in any of these ways.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from birdenv.databases._results import Checkpoint
from birdenv.databases.sqlite.images._file import FileImage, copy, reflink
from birdenv.databases.sqlite.images._memory_image import DeserializedImage, MappedImage
from birdenv.databases.sqlite.images._protocol import GROWTH_BYTES, LARGEST_PAGE, Image, ImageKind
from birdenv.databases.sqlite.images._scratch import scratch_root
from birdenv.errors import InputError

_SMALL_FILE = 16 * 2**20


def open_image(path: Path, kind: ImageKind = "auto", start: Checkpoint | None = None) -> Image:
    """A private image of a file, as it is or as `start` says.

    Raises `OSError` or `sqlite3.Error` if it cannot be made, `InputError` if there is no room for its file,
    and `ValueError` for a start that does not fit.
    """
    size = path.stat().st_size
    if start is not None and start.size > size + GROWTH_BYTES + LARGEST_PAGE:
        raise ValueError(f"a checkpoint of {start.size} bytes does not fit into an image of {path.name}")
    if kind != "auto":
        return _OPENERS[kind](path, start)
    for name in _ORDER:
        if _is_worth_trying(name, path, size):
            try:
                return _OPENERS[name](path, start)
            except (OSError, sqlite3.OperationalError, InputError):
                continue  # not on this platform or file system: the next way
    return _OPENERS["copy"](path, start)


def trial(path: Path, kind: ImageKind) -> str:
    """Whether images of `path` can be made this way here: empty if so, else why not, in a few words."""
    try:
        image = open_image(path, kind)
    except (OSError, sqlite3.Error, InputError) as error:
        return str(error)
    image.close()
    return ""


_Opener: TypeAlias = Callable[[Path, Checkpoint | None], Image]

_OPENERS: dict[ImageKind, _Opener] = {
    "reflink": lambda path, start: FileImage(path, start, "reflink", reflink),
    "memory-map": MappedImage,
    "deserialize": DeserializedImage,
    "copy": lambda path, start: FileImage(path, start, "copy", copy),
}
_ORDER: tuple[ImageKind, ...] = ("reflink", "memory-map", "deserialize")
_clones: dict[int, bool] = {}  # whether files of a device can be cloned into the scratch folder


def _is_worth_trying(kind: ImageKind, path: Path, size: int) -> bool:
    if kind == "deserialize":
        return size <= _SMALL_FILE
    if kind != "reflink":
        return True
    return _can_clone(path)


def _can_clone(path: Path) -> bool:
    """Whether the file system clones files into the scratch folder; tried once for each device."""
    device = path.stat().st_dev
    if device not in _clones:
        scratch = scratch_root()
        try:
            there = scratch if scratch.exists() else scratch.parent
            _clones[device] = there.stat().st_dev == device and not trial(path, "reflink")
        except OSError:
            return False
    return _clones[device]
