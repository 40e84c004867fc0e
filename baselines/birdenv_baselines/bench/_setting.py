"""What every group of lines is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from birdenv_baselines.bench._databases import Size, database_file
from birdenv_baselines.bench._measure import Effort

__all__ = ["Setting"]


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
