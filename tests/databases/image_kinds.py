"""The ways to make a private image."""

from __future__ import annotations

import pytest

from birdenv.databases.sqlite.images import _image_kinds, _protocol
from birdenv.databases.sqlite.images import _image_kinds as _images
from birdenv.databases.sqlite.images._sqlite_library import library

ALL = ("memory-map", "copy")


def why_not(kind: str) -> str:
    """Why images of a kind cannot be tested here; empty if they can."""
    if kind == "memory-map" and library() is None:
        return "the functions of this Python's SQLite cannot be reached"
    return ""


def let_images_grow(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By so many bytes and no more."""
    for module in (_protocol, _images, _image_kinds):
        monkeypatch.setattr(module, "GROWTH_BYTES", most)
