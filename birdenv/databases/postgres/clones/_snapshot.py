"""What an episode's database holds at one moment, kept as a database of its own that nobody works in."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field

from birdenv.databases._results import Checkpoint
from birdenv.databases.postgres.clones._clone_factory import Clone
from birdenv.databases.postgres.clones._clone_pool import ClonePool
from birdenv.databases.postgres.clones._template_copies import TemplateCopies


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Snapshot(Checkpoint):
    """A checkpoint on PostgreSQL, for any episode of this process on the same template.

    The database that it stands for is dropped when nothing refers to the value any more; so it cannot be
    pickled. `pages` is empty, and `size` is that of the database on the server's disk.
    """

    version: TemplateCopies
    clone: Clone | None = field(default=None, repr=False, compare=False)

    def __reduce__(self) -> str:
        raise TypeError("a checkpoint of a PostgreSQL database belongs to the process that made it")


def snapshot(copies: TemplateCopies, clone: Clone | None, size: int, pool: ClonePool) -> Snapshot:
    """The checkpoint that a clone, in which nobody works any more, stands for; without one, the template."""
    made = Snapshot(copies, size, {}, clone)
    if clone is not None:
        weakref.finalize(made, pool.leave, clone).atexit = False  # the pool drops everything at its end
    return made
