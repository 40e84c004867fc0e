"""Writing small databases in BIRD's layout, and telling whether a file was touched."""

from __future__ import annotations

import hashlib
from pathlib import Path

from prepared_databases import copy_database

SHOP = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, city TEXT);
CREATE TABLE orders
  (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers, total REAL CHECK (total >= 0));
CREATE INDEX orders_by_customer ON orders (customer);
CREATE VIEW spending AS SELECT name, sum(total) AS total FROM customers JOIN orders ON customer = customers.id
  GROUP BY name;
CREATE VIRTUAL TABLE notes USING fts5 (body);
CREATE VIRTUAL TABLE boxes USING rtree (id, low, high);
INSERT INTO customers VALUES (1, 'Ada', 'London'), (2, 'Kurt', 'Brno'), (3, 'Grace', NULL);
INSERT INTO orders VALUES (1, 1, 10.5), (2, 1, 4.5), (3, 2, 7.0);
INSERT INTO notes VALUES ('late delivery'), ('paid');
INSERT INTO boxes VALUES (1, 0.0, 2.0);
"""


def write_database(root: Path, name: str, script: str = SHOP) -> Path:
    path = root / name / f"{name}.sqlite"
    path.parent.mkdir(parents=True)
    copy_database(path, script)
    return path


def fingerprint(path: Path) -> tuple[str, int, list[str]]:
    """Content and modification time of a file, and what is beside it."""
    beside = sorted(entry.name for entry in path.parent.iterdir())
    return hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns, beside
