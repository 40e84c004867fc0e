"""The databases on which scoring is measured: BIRD mini-dev's schemas, filled by the benchmark itself.

The real ones are too large to be had everywhere. What makes scoring slow or quick is the queries and the
sizes of the tables: the schemas, the golds and the predictions are real, the rows are made (`_filled_rows`).
Verdicts on them say nothing about the systems that made the predictions.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from birdenv_baselines.bench._filled_rows import FilledRows
from birdenv_baselines.bench._gold_literals import demands
from birdenv_baselines.bench._schemas import Schema, quoted

__all__ = ["FILLINGS", "Filling", "build_filled"]


@dataclass(frozen=True, slots=True)
class Filling:
    """How large a database is made: about `megabytes`, with `rows` in these tables (a few hundred in others)
    and texts of these `lengths` in these columns, named as `table.column`."""

    db_id: str
    megabytes: float
    rows: Mapping[str, int]
    lengths: Mapping[str, int] = field(default_factory=dict)


FILLINGS: Final = (
    Filling("superhero", 0.2, {"superhero": 750, "hero_attribute": 3_700, "hero_power": 5_800}),
    Filling("student_club", 0.4, {"attendance": 400, "expense": 400, "member": 300}),
    Filling("toxicology", 1.5, {"atom": 6_000, "bond": 6_000, "connected": 12_000, "molecule": 340}),
    Filling("thrombosis_prediction", 3, {"Patient": 1_200, "Examination": 800, "Laboratory": 14_000}),
    Filling("debit_card_specializing", 9, {"customers": 32_000, "gasstations": 5_700, "yearmonth": 170_000}),
    Filling("california_schools", 7, {"frpm": 5_000, "satscores": 2_300, "schools": 9_000}),
    Filling(
        "financial", 12, {"account": 4_500, "client": 5_400, "disp": 5_400, "order": 6_500, "trans": 150_000}
    ),
    Filling(
        "formula_1",
        11,
        {
            "constructorResults": 11_000,
            "constructorStandings": 12_000,
            "driverStandings": 31_000,
            "drivers": 850,
            "lapTimes": 150_000,
            "pitStops": 6_000,
            "qualifying": 7_400,
            "races": 980,
            "results": 24_000,
        },
    ),
    Filling(
        "card_games",
        25,
        {
            "cards": 4_000,
            "foreign_data": 10_000,
            "legalities": 20_000,
            "rulings": 9_000,
            "sets": 550,
            "set_translations": 1_200,
        },
        {"cards.text": 900, "cards.originalText": 900, "foreign_data.text": 700, "rulings.text": 400},
    ),
    Filling(
        "european_football_2",
        320,
        {
            "Match": 13_000,
            "Player": 11_000,
            "Player_Attributes": 45_000,
            "Team_Attributes": 1_450,
            "Team": 300,
        },
        {f"Match.{column}": 3_750 for column in ("goal", "shoton", "shotoff", "foulcommit", "card", "cross")},
    ),
    Filling(
        "codebase_community",
        380,
        {
            "badges": 30_000,
            "comments": 36_000,
            "postHistory": 36_000,
            "postLinks": 11_000,
            "posts": 20_000,
            "tags": 1_000,
            "users": 16_000,
            "votes": 20_000,
        },
        {"comments.Text": 200, "postHistory.Text": 8_700, "posts.Body": 900, "users.AboutMe": 150},
    ),
)


def build_filled(target: Path, filling: Filling, schema: Schema, golds: Sequence[str]) -> None:
    """Build the database of this schema in the file `target`, with rows for `golds`, unless it is there.

    The same bytes come of the same arguments. It is built beside its place and renamed. Raises `OSError` or
    `sqlite3.Error` where there is no room for it.
    """
    if target.is_file():
        return
    root = target.parent.parent
    root.mkdir(parents=True, exist_ok=True)
    lengths = {
        (table, column): n for name, n in filling.lengths.items() for table, column in [name.split(".")]
    }
    rows = FilledRows(schema, [demands(gold, schema) for gold in golds], filling.rows, lengths)
    with tempfile.TemporaryDirectory(dir=root, prefix=".building-") as scratch:
        made = Path(scratch) / target.parent.name
        made.mkdir()
        _write(made / target.name, schema, rows)
        with suppress(OSError):  # another run may have been faster
            made.rename(target.parent)


def copy_real(target: Path, database: Path) -> None:
    """Put a copy of a real database in the file `target`, unless it is there."""
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(database, target)


def _write(file: Path, schema: Schema, rows: FilledRows) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.executescript(
            "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            " PRAGMA cache_size = -65536;"
        )
        connection.execute("BEGIN")
        for table in schema.tables:
            connection.execute(table.definition())
            marks = ", ".join("?" * len(table.columns))
            # A composite key may be drawn twice.
            connection.executemany(
                f"INSERT OR IGNORE INTO {quoted(table.name)} VALUES ({marks})", rows.of(table)
            )
        connection.execute("COMMIT")
    with file.open("rb") as written:
        os.fsync(written.fileno())  # or the disk would be writing it while something is measured
