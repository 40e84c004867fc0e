"""Find out which methods of isolating episodes work on this machine."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from birdenv.databases._limits import Limits
from birdenv.databases._results import QueryError
from birdenv.databases.sqlite._file import sqlite_file
from birdenv.databases.sqlite._process_database import ProcessDatabase
from birdenv.databases.sqlite.images import trial
from birdenv.databases.sqlite.images._protocol import IMAGE_KINDS, ImageKind
from birdenv.databases.sqlite.images._scratch import scratch_root, sweep
from birdenv.databases.sqlite.images._sqlite_library import library
from birdenv.errors import BirdenvError


@dataclass(frozen=True, slots=True)
class Health:
    """The methods of isolating episodes that work on this machine, found by `examine`.

    Attributes:
        sqlite_version: the version of SQLite.
        reaches_library: whether Python can call functions of the SQLite library directly.
        images: for each kind of image (private copy), the reason why it does not work here; empty if it
            works.
        chosen: the kind of image that `auto` chooses; None if no kind works.
        worker: the reason why worker processes do not work here; empty if they work.
        scratch: the folder for private files of episodes, which may not exist yet.
        swept: the names of folders that killed processes had left behind, and that `examine` removed.
    """

    sqlite_version: str
    reaches_library: bool
    images: dict[ImageKind, str]
    chosen: ImageKind | None
    worker: str
    scratch: Path
    swept: list[str]


def examine(path: Path) -> Health:
    """Test all kinds of images, and a worker process, on the database at `path`.

    Raises `InputError` if the file is not a database.
    """
    file = sqlite_file(path.absolute())
    images = {kind: trial(file.image_path, kind) for kind in IMAGE_KINDS if kind != "auto"}
    try:
        with ProcessDatabase(file, Limits()) as database:
            answer = database.execute("SELECT 1")
        worker = answer.message if isinstance(answer, QueryError) else ""
    except BirdenvError as error:
        worker = str(error)
    return Health(
        sqlite_version=sqlite3.sqlite_version,
        reaches_library=library() is not None,
        images=images,
        chosen=next((kind for kind, fault in images.items() if not fault), None),
        worker=worker,
        scratch=scratch_root(),
        swept=sweep(),
    )
