"""Generate the benchmark for training policies, and split it by database."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from rich.progress import Progress

from birdenv.benchmarks.generator import NEW_FORMS_FILE, generate
from birdenv.demo import demo_folder
from birdenv.envs.candidates import CInteractCandidatesVectorEnv
from birdenv.errors import InputError
from birdenv.files import cache_folder, code_digest
from birdenv.tasks.c_interact import find_task_file, read_task_records

TASKS: Final = 2500
ENVIRONMENT: Final = "birdenv/CInteractCandidates-v0"

_GENERATED: Final = re.compile(r"(.+_\d{4,})_\d+(?:_new)?")

HELD_OUT: Final = "held out"
NEW_FORMS: Final = "new forms"
DEMO: Final = "demo"
"""The tests of a policy: generated tasks of the held-out database, the same tasks in sentence forms that no
training task has, and tasks of that database that people wrote."""


def benchmark_folder(folder: Path | None = None) -> Path:
    """Return `folder`, or by default a folder in the user's cache.

    If the benchmark in the cache is missing, it is generated. Each version of birdenv's code has its own
    benchmark there, because the simulated user may answer differently.
    """
    if folder is not None:
        return folder
    made = cache_folder() / f"families-{TASKS}-{code_digest()[:8]}"
    if not made.exists():
        print(f"Generating {TASKS} tasks in {made}: this takes two minutes or more, once.", flush=True)
        with Progress(transient=True) as bar:
            line = bar.add_task("tasks", total=TASKS)
            generate(made, tasks=TASKS, progress=lambda done: bar.update(line, completed=done))
    return made


def family_of(instance_id: str) -> str:
    """Return the family of a generated task, which is the task's id without the number of its meaning.

    The tasks in a family share a request, but the request has a different meaning in each. Other ids are
    returned unchanged.
    """
    found = _GENERATED.fullmatch(instance_id)
    return found.group(1) if found else instance_id


class Split:
    """The tasks of a benchmark, split into one database for testing and all others for training.

    Args:
        folder: the folder of the benchmark.
        held_out: the database for testing.
        refusals: the probability that the user does not know the answer to a question about an ambiguity.
        train_tasks: the maximum number of training tasks, in whole families chosen at random; None for all.

    Raises:
        InputError: the database is not in the benchmark, or is the only database.
    """

    def __init__(
        self, folder: Path, held_out: str, *, refusals: float = 0.0, train_tasks: int | None = None
    ) -> None:
        self.folder, self.held_out, self.refusals = folder, held_out, refusals
        file = find_task_file(folder)
        of_task = {record.instance_id: record.selected_database for record in read_task_records(file)}
        self.databases = tuple(sorted(set(of_task.values())))
        if held_out not in self.databases or len(self.databases) < 2:
            raise InputError(f"{held_out!r} cannot be held out: {file} has {', '.join(self.databases)}")
        self.training = [name for name, database in of_task.items() if database != held_out]
        if train_tasks is not None:
            self.training = _some_families(self.training, train_tasks)

    def train_envs(self, count: int) -> CInteractCandidatesVectorEnv:
        """Return a vector environment of `count` episodes that plays the training tasks."""
        databases = [name for name in self.databases if name != self.held_out]
        return self._envs(count, databases=databases, instances=self.training)

    @property
    def tests(self) -> tuple[str, ...]:
        """Return the available tests: `held out`, and `new forms` and `demo` if there are tasks for them."""
        new_forms = (NEW_FORMS,) if (self.folder / NEW_FORMS_FILE).exists() else ()
        demo = (DEMO,) if (demo_folder() / self.held_out).is_dir() else ()
        return (HELD_OUT, *new_forms, *demo)

    def test_envs(self, count: int, test: str = HELD_OUT) -> CInteractCandidatesVectorEnv:
        """Return a vector environment of `count` episodes for one of `tests` on the held-out database."""
        more = {"data": str(self.folder / NEW_FORMS_FILE)} if test == NEW_FORMS else {}
        if test == DEMO:
            more = {"data_dir": str(demo_folder())}
        return self._envs(count, databases=[self.held_out], **more)

    def _envs(self, count: int, **settings: Any) -> CInteractCandidatesVectorEnv:
        chosen = {"data_dir": str(self.folder), "refusals": self.refusals, **settings}
        return CInteractCandidatesVectorEnv(count, **chosen)


def _some_families(names: Sequence[str], most: int) -> list[str]:
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(family_of(name), []).append(name)
    order = sorted(families)
    Random(0).shuffle(order)
    chosen: list[str] = []
    for family in order:
        if len(chosen) + len(families[family]) <= most:
            chosen += families[family]
    return chosen
