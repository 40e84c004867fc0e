"""What every group of lines is given."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from birdenv_baselines.bench._databases import Size, database_file
from birdenv_baselines.bench._measure import Effort
from birdenv_baselines.bench._mini_dev import MiniDev

__all__ = ["MINI_DEV", "Setting"]

MINI_DEV: Final = "mini-dev"
"""Among what a line `needs`: the databases of `Setting.mini_dev`."""

_MINI_DEV_MEGABYTES: Final = {1: 1.0, 2: 30.0}  # by the number of sizes; beyond: all of them


@dataclass(frozen=True, slots=True)
class Setting:
    """Where things are, and how thoroughly to measure.

    `folder` holds the databases of `sizes` (ascending; those a line needs are there when it is measured);
    `scratch` is for what the run itself writes.
    """

    folder: Path
    sizes: tuple[Size, ...]
    scratch: Path
    effort: Effort

    def file(self, size: Size) -> Path:
        return database_file(self.folder, size)

    def files(self, sizes: tuple[Size, ...]) -> dict[str, Path]:
        """The database files by id."""
        return {size.db_id: self.file(size) for size in sizes}

    @property
    def quick_sizes(self) -> tuple[Size, ...]:
        """The sizes small enough that copying the file takes milliseconds."""
        return self.sizes[:2]

    @property
    def mini_dev(self) -> MiniDev:
        """Real questions and answers, on databases about as large as those of `sizes`, up to 400 MB."""
        return _mini_dev(self.folder, _MINI_DEV_MEGABYTES.get(len(self.sizes), float("inf")))


@cache
def _mini_dev(folder: Path, megabytes: float) -> MiniDev:
    return MiniDev(folder, megabytes)
