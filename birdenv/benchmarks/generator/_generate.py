"""Generate a benchmark and write it as a c-Interact folder."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from birdenv.benchmarks.generator._checks import Checker
from birdenv.benchmarks.generator._families import Concepts, Family, demo_concepts, draw_family
from birdenv.benchmarks.generator._task_records import counting, family_records, narrowing
from birdenv.benchmarks.generator._wording import request
from birdenv.databases import SqliteSource
from birdenv.demo import DEMO_C_INTERACT_FILE, demo_folder
from birdenv.errors import InputError
from birdenv.files import write_records, write_text
from birdenv.statistics import counted
from birdenv.tasks.c_interact import read_notes

NEW_FORMS_FILE: Final = "new_forms.jsonl"
"""The file with the same tasks, worded in sentence forms that do not occur in the task file."""

_OPENED: Final = (0, 1, 2, 3, 2)
"""How many ambiguous points successive families have."""
_MANAGEMENT: Final = 0.1  # the share of Management families
_TRIES: Final = 400  # the number of draws for one family
_TRAIN, _DEV = 0.8, 0.1  # shares of the families; the others are for testing

Progress = Callable[[int], object]


@dataclass
class Generated:
    """The result of generating a benchmark.

    Attributes:
        records: the records of the tasks.
        new_forms: records of the same tasks, worded in the sentence forms held out for testing.
        families: the names of the families.
        dropped: the number of rejected families, keyed by reason.
    """

    records: list[dict[str, Any]] = field(default_factory=list)
    new_forms: list[dict[str, Any]] = field(default_factory=list)
    families: list[str] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)


def generate(
    out: Path,
    *,
    tasks: int,
    seed: int = 0,
    folder: Path | None = None,
    concepts: Sequence[Concepts] | None = None,
    progress: Progress | None = None,
) -> Generated:
    """Generate a benchmark and write it to a new folder.

    The successive families for a database have 0, 1, 2, 3, 2, 0, 1, ... ambiguous points. A family is
    included only if all of its tasks pass all checks (`Checker.fault`).

    Args:
        out: the folder to write; it must be empty or not exist yet.
        tasks: the minimum number of tasks.
        seed: the random seed. The same seed gives identical files.
        folder: a benchmark folder with the databases; by default, the demo's folder.
        concepts: the concepts in the databases; by default, the demo's concepts.
        progress: a function that is called with the number of tasks generated so far.

    Raises:
        InputError: a folder, a database or a concept cannot be used, or too few families pass the checks.
    """
    folder = folder or demo_folder()
    described = tuple(concepts) if concepts is not None else demo_concepts()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} already exists; name a new folder")
    made = Generated()
    with ExitStack() as stack:
        source = stack.enter_context(closing(SqliteSource(folder)))
        makers = []
        for each in described:
            source.check(each.database)
            checker = stack.enter_context(closing(Checker(each, source, read_notes(folder, each.database))))
            makers.append(_Maker(each, checker, seed, made))
        turn = 0
        while len(made.records) < tasks:
            makers[turn % len(makers)].make(turn // len(makers))
            turn += 1
            if progress is not None:
                progress(len(made.records))
    _write(out, folder, described, made, seed)
    return made


class _Maker:
    """Generates the families of tasks on one database."""

    def __init__(self, concepts: Concepts, checker: Checker, seed: int, made: Generated) -> None:
        self._concepts, self._checker, self._made, self._seed = concepts, checker, made, seed
        self._texts: set[str] = set()

    def make(self, number: int) -> None:
        database = self._concepts.database
        rng = Random(f"{self._seed} {database} {number}")
        opened = _OPENED[number % len(_OPENED)]
        management = opened < max(_OPENED) and rng.random() < _MANAGEMENT
        name = f"{database}_{'M_' if management else ''}{number:04d}"
        for _ in range(_TRIES):
            entity = rng.choice(self._concepts.entities)
            values = self._checker.values[entity.table]
            family = draw_family(database, entity, values, opened, management, rng)
            if family is not None and self._accept(family, name, rng):
                return
        rejected = "; ".join(f"{why} ({count} times)" for why, count in self._made.dropped.items())
        raise InputError(
            f"{database}: no family with {counted(opened, 'ambiguous point')} passed the checks in {_TRIES} "
            f"attempts; describe more concepts (families rejected so far: {rejected or 'none'})"
        )

    def _accept(self, family: Family, name: str, rng: Random) -> bool:
        if not self._checker.are_distinct(family):
            return self._drop("two candidates return the same rows, or a candidate returns no rows")
        text = request(family, rng)
        if text in self._texts:
            return self._drop("an earlier family has the same request")
        values = self._checker.values[family.entity.table]
        order = rng.random()
        for attempt in range(3):
            later = narrowing(family, values, rng) if attempt < 2 and family.change is None else None
            later = later or counting(family, rng)
            records = family_records(family, name, text, later, Random(order))
            fault = self._checker.fault(records)
            if not fault:
                break
        else:
            return self._drop(fault.partition(": ")[2])
        other = family_records(
            family, name, request(family, rng, held_out=True), later, Random(order), suffix="_new"
        )
        if fault := self._checker.fault(other):
            return self._drop(fault.partition(": ")[2])
        self._texts.add(text)
        self._made.records += records
        self._made.new_forms += other
        self._made.families.append(name)
        return True

    def _drop(self, why: str) -> bool:
        self._made.dropped[why] = self._made.dropped.get(why, 0) + 1
        return False


def _write(out: Path, folder: Path, described: Sequence[Concepts], made: Generated, seed: int) -> None:
    """Write the benchmark to a temporary folder and rename it, so that nobody sees an incomplete folder."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".generated-") as scratch:
        new = Path(scratch) / "benchmark"
        (new / "splits").mkdir(parents=True)
        for each in described:
            shutil.copytree(folder / each.database, new / each.database)
        for name, ids in splits(made.records, seed):
            write_text(new / "splits" / f"{name}.json", json.dumps(ids, indent=1) + "\n")
        write_records(new / NEW_FORMS_FILE, made.new_forms)
        write_records(new / DEMO_C_INTERACT_FILE, made.records)
        new.rename(out)


def splits(records: Sequence[Mapping[str, Any]], seed: int) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield the name and the content of each split: `families`, and `without_<database>` for each database.

    A split maps `train` and `test` to lists of instance ids. The split `families` also has `dev`, and keeps
    all tasks of a family in the same list.
    """
    families = sorted({str(record["family"]) for record in records})
    Random(f"{seed} splits").shuffle(families)
    first, second = round(_TRAIN * len(families)), round((_TRAIN + _DEV) * len(families))
    parts = {"train": families[:first], "dev": families[first:second], "test": families[second:]}
    part_of = {family: part for part, members in parts.items() for family in members}
    by_family: dict[str, list[str]] = {part: [] for part in parts}
    for record in records:
        by_family[part_of[str(record["family"])]].append(str(record["instance_id"]))
    yield "families", by_family
    databases = sorted({str(record["selected_database"]) for record in records})
    for left_out in databases:
        sides: dict[str, list[str]] = {"train": [], "test": []}
        for record in records:
            side = "test" if record["selected_database"] == left_out else "train"
            sides[side].append(str(record["instance_id"]))
        yield f"without_{left_out}", sides
