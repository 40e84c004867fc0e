"""Build the databases for the benchmark: a shop in four sizes, with identical bytes on every machine.

Each database is built once and kept in the user's cache folder, in BIRD's layout `<db_id>/<db_id>.sqlite`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from birdenv import files

__all__ = ["SIZES", "Size", "build", "cache_folder", "database_file"]

_DAY = 24 * 3600


@dataclass(frozen=True, slots=True)
class Size:
    """A benchmark database, described by its size.

    Attributes:
        db_id: the name of the database.
        label: the approximate size of the file, as the table shows it.
        orders: the number of orders. The numbers of customers and products are fixed fractions of it.
    """

    db_id: str
    label: str
    orders: int

    @property
    def customers(self) -> int:
        return self.orders // 10

    @property
    def products(self) -> int:
        return self.orders // 50


SIZES = (
    Size("shop_2mb", "2 MB", 8_000),
    Size("shop_20mb", "20 MB", 80_000),
    Size("shop_300mb", "300 MB", 1_190_000),
    Size("shop_1400mb", "1,400 MB", 5_500_000),
)

_TABLES = """
CREATE TABLE customers
  (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, city TEXT, joined TEXT NOT NULL,
   credit REAL);
CREATE TABLE products
  (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, price REAL NOT NULL, weight REAL,
   stock INTEGER NOT NULL);
CREATE TABLE orders
  (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers,
   product_id INTEGER NOT NULL REFERENCES products, placed TEXT NOT NULL, status TEXT NOT NULL,
   quantity INTEGER NOT NULL, total REAL NOT NULL, note TEXT);
"""

# `r` is a pseudorandom number that depends only on the row number `n`.
_NUMBERED = """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :rows),
  seeded (n, r) AS (SELECT n, (n * 2654435761 + 40503) % 4294967291 FROM numbers)
"""
_ROWS = {
    "customers": """
SELECT n, 'Customer ' || n, 'customer' || n || '@example.org',
  CASE r % 7 WHEN 0 THEN NULL WHEN 1 THEN 'Brno' WHEN 2 THEN 'Lyon' WHEN 3 THEN 'Porto' WHEN 4 THEN 'Oslo'
    WHEN 5 THEN 'Graz' ELSE 'Zürich' END,
  date('2015-01-01', '+' || (r / 7 % 2000) || ' days'), round(r / 14000 % 100000 / 7.0, 2)
FROM seeded""",
    "products": """
SELECT n, 'Product ' || n,
  CASE r % 5 WHEN 0 THEN 'books' WHEN 1 THEN 'garden' WHEN 2 THEN 'kitchen' WHEN 3 THEN 'music'
    ELSE 'toys' END,
  round(1 + r / 5 % 20000 / 100.0, 2), CASE WHEN r % 11 = 0 THEN NULL ELSE r / 11 % 5000 / 1000.0 END, r % 500
FROM seeded""",
    "orders": """
SELECT n, 1 + r % :customers, 1 + r / 31 % :products, date('2020-01-01', '+' || (r / 997 % 1500) || ' days'),
  CASE r / 101 % 5 WHEN 0 THEN 'new' WHEN 1 THEN 'paid' WHEN 2 THEN 'sent' WHEN 3 THEN 'returned'
    ELSE 'done' END,
  1 + r / 103 % 9, round(r / 1009 % 100000 / 100.0, 2),
  CASE WHEN r / 107 % 10 = 0 THEN NULL ELSE substr(:words, 1 + r / 109 % 400, 120 + r / 113 % 160) END
FROM seeded""",
}
_INDEX = "CREATE INDEX orders_by_customer ON orders (customer_id)"

_WORDS = " ".join(
    f"{adverb} {verb} the {adjective} {noun}"
    for adverb, verb, adjective, noun in zip(
        "soon later today rarely often never always maybe again twice once perhaps".split() * 2,
        "leave bring wrap paint return lend borrow carry weigh open hide sell".split() * 2,
        "green heavy wooden broken second silver folded round empty narrow gentle quiet".split() * 2,
        "lamp river basket letter garden window violin teapot ladder blanket lantern engine".split() * 2,
        strict=True,
    )
)


def cache_folder() -> Path:
    """Return the folder for the databases in the user's cache.

    The folder's name contains a digest of everything that determines the content of the databases.
    """
    content = repr((SIZES, _TABLES, _NUMBERED, _ROWS, _INDEX, _WORDS, sqlite3.sqlite_version))
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    return files.cache_folder() / f"bench-{digest}"


def database_file(folder: Path, size: Size) -> Path:
    return folder / size.db_id / f"{size.db_id}.sqlite"


def build(folder: Path, size: Size) -> None:
    """Build a database in `folder` unless it exists.

    The database appears in `folder` only when it is complete.

    Raises:
        OSError: the database cannot be written.
        sqlite3.Error: SQLite cannot build the database, for example because the disk is full.
    """
    target = database_file(folder, size)
    with suppress(OSError):
        os.utime(folder)
    if target.is_file():
        return
    folder.mkdir(parents=True, exist_ok=True)
    _remove_old(folder)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".building-") as scratch:
        made = Path(scratch) / target.parent.name
        made.mkdir()
        _write(made / target.name, size)
        with suppress(OSError):  # another run may have been faster
            made.rename(target.parent)


def _remove_old(current: Path) -> None:
    """Remove databases of other versions of the benchmark that have not been used for a day."""
    for folder in current.parent.glob("bench-*"):
        with suppress(OSError):
            if folder != current and time.time() - folder.stat().st_mtime > _DAY:
                shutil.rmtree(folder)


def _write(path: Path, size: Size) -> None:
    rows = {"customers": size.customers, "products": size.products, "orders": size.orders}
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(
            "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            " PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;"
        )
        connection.executescript(_TABLES)
        connection.execute("BEGIN")
        for table, select in _ROWS.items():
            values = {"rows": rows[table], "words": _WORDS, **rows}
            connection.execute(f"INSERT INTO {table} {_NUMBERED} {select}", values)
        connection.execute(_INDEX)
        connection.execute("COMMIT")
    with path.open("rb") as file:
        os.fsync(file.fileno())  # so that the disk is not busy with it during a measurement
