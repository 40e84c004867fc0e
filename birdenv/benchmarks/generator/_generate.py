"""Making a benchmark of families, and writing it down as an ordinary c-Interact folder."""

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
from birdenv.tasks.c_interact import read_notes

NEW_FORMS_FILE: Final = "new_forms.jsonl"
"""The same families in sentence forms that the task file does not have."""

_OPENED: Final = (0, 1, 2, 3, 2)
"""How many points the families leave open, in turn."""
_MANAGEMENT: Final = 0.1
_TRIES: Final = 400  # draws for one family
_TRAIN, _DEV = 0.8, 0.1  # shares of the families; the rest is for testing

Progress = Callable[[int], object]


@dataclass
class Generated:
    """What was made.

    Attributes:
        records: the tasks.
        new_forms: the tasks in held-out sentence forms.
        families: the names of the families.
        dropped: how many families were left out, by reason.
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
    """Make a benchmark of at least this many tasks, and write it to a new folder.

    On every database, of five families one each has no, one and three open points, and two have two.
    Families are kept or left out whole; kept are those whose tasks pass all checks (`Checker.fault`).

    Args:
        out: the folder to write; it must not exist, or be empty.
        tasks: how many tasks at least.
        seed: the same seed makes the same bytes.
        folder: a benchmark folder with the databases; without it, the demo's.
        concepts: the databases' concepts; without them, the demo's.
        progress: called with the number of tasks so far.

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
    """Makes families on one database, one after the other."""

    def __init__(self, concepts: Concepts, checker: Checker, seed: int, made: Generated) -> None:
        self._concepts, self._checker, self._made, self._seed = concepts, checker, made, seed
        self._texts: set[str] = set()

    def make(self, number: int) -> None:
        """Make the next family."""
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
        raise InputError(
            f"{database}: {_TRIES} draws gave no family with {opened} open points that passes the checks "
            f"({self._made.dropped}); describe more concepts"
        )

    def _accept(self, family: Family, name: str, rng: Random) -> bool:
        if not self._checker.are_distinct(family):
            return self._drop("candidates find nothing, or the same")
        text = request(family, rng)
        if text in self._texts:
            return self._drop("the request was there before")
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
    """Write beside the target and rename, so that nobody ever sees half of it."""
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
    """Yield splits by name: `families`, and `without_<database>` for each database.

    A split maps `train`, `test` (and `dev`) to instance ids. No family is on two sides.
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
