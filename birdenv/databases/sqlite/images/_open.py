"""Open a private image of a database file: in the best way that works here.

There are two ways to make one; both start from the same bytes and never write to the file:

* `memory-map`: the file mapped privately into memory and handed to SQLite; pages are copied when written.
* `copy`: a plain copy in the scratch folder.

`auto` takes the first that works here. What an image has changed can be taken out as a `Checkpoint` and put
into another image of the same file, made in either way.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from birdenv.databases._results import Checkpoint
from birdenv.databases.sqlite.images._copied_image import CopiedImage
from birdenv.databases.sqlite.images._mapped_image import MappedImage
from birdenv.databases.sqlite.images._protocol import GROWTH_BYTES, LARGEST_PAGE, Image, ImageKind
from birdenv.errors import InputError


def open_image(path: Path, kind: ImageKind = "auto", start: Checkpoint | None = None) -> Image:
    """Open a private image of a file, as it is or as `start` says.

    Raises:
        OSError, sqlite3.Error: it cannot be made.
        InputError: there is no room for its file.
        ValueError: the start does not fit.
    """
    size = path.stat().st_size
    if start is not None and start.size > size + GROWTH_BYTES + LARGEST_PAGE:
        raise ValueError(f"a checkpoint of {start.size} bytes does not fit into an image of {path.name}")
    if kind == "copy":
        return CopiedImage(path, start)
    try:
        return MappedImage(path, start)
    except (OSError, sqlite3.OperationalError):
        if kind != "auto":
            raise
    return CopiedImage(path, start)  # SQLite's functions or memory maps are out of reach on this platform


def trial(path: Path, kind: ImageKind) -> str:
    """Return why images of `path` cannot be made this way here, in a few words; empty if they can."""
    try:
        image = open_image(path, kind)
    except (OSError, sqlite3.Error, InputError) as error:
        return str(error)
    image.close()
    return ""
