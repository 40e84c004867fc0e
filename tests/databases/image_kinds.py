"""The ways to make a private image, and file systems on which to make them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from birdenv.databases.sqlite.images import _memory_image, _protocol, _scratch, trial
from birdenv.databases.sqlite.images import _open as _images
from birdenv.databases.sqlite.images._sqlite_library import library

EVERYWHERE = ("deserialize", "copy")
ANYWHERE_WITH_LINUX = ("memory-map", *EVERYWHERE)
ALL = ("reflink", *ANYWHERE_WITH_LINUX)

_FORMATS = {"xfs": ["mkfs.xfs", "-q", "-m", "reflink=1"], "btrfs": ["mkfs.btrfs", "-q"]}
_IMAGE_BYTES = 512 * 2**20  # sparse; XFS refuses less than 300 MB


def why_not(kind: str) -> str:
    """Why images of a kind cannot be tested on any file system here; empty if they can."""
    if kind == "memory-map" and library() is None:
        return "the functions of this Python's SQLite cannot be reached"
    return ""


def let_images_grow(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By so many bytes and no more."""
    for module in (_protocol, _images, _memory_image):
        monkeypatch.setattr(module, "GROWTH_BYTES", most)


def forget_places() -> None:
    """As if nothing had been written to the scratch folder yet, nor any file system tried."""
    _scratch._mine = None
    _images._clones.clear()


@contextmanager
def cloning_file_system(folder: Path) -> Iterator[Path | str]:
    """A folder on a file system that clones files, or why there is none."""
    probe = folder / "probe.sqlite"
    probe.write_bytes(bytes(4096))
    before = os.environ.get("BIRDENV_SCRATCH")
    os.environ["BIRDENV_SCRATCH"] = str(folder)
    forget_places()
    try:
        if not trial(probe, "reflink"):
            yield folder
            return
    finally:
        probe.unlink(missing_ok=True)
        os.environ.pop("BIRDENV_SCRATCH")
        if before is not None:
            os.environ["BIRDENV_SCRATCH"] = before
        forget_places()
    found = next((name for name, command in _FORMATS.items() if shutil.which(command[0])), "")
    if sys.platform != "linux" or os.getuid() != 0:
        yield "temporary files are on a file system that clones none, and only root can mount another"
    elif not found or not Path("/dev/loop-control").exists():
        yield "no mkfs.xfs or mkfs.btrfs here to make a file system that clones files, or no loop device"
    else:
        with _mounted(folder, found, _FORMATS[found]) as place:
            yield place


@contextmanager
def _mounted(folder: Path, name: str, make: list[str]) -> Iterator[Path | str]:
    image, place = folder / f"{name}.img", folder / name
    with image.open("wb") as file:
        file.truncate(_IMAGE_BYTES)
    place.mkdir()
    for command in ([*make, str(image)], ["mount", "-o", "loop", "-t", name, str(image), str(place)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            yield f"{command[0]} failed: {done.stderr.strip()}"
            return
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)
        image.unlink()
