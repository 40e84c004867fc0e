"""F10: files that are no database, or no longer one. An error says so; nothing crashes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attacked import rows
from database_files import SHOP, fingerprint, write_database
from in_a_process import run

from birdenv.databases import QueryError, QueryResult, SqliteSource
from birdenv.errors import InputError

PAGE = 4096
FILLED = f"""{SHOP}
INSERT INTO orders (customer, total)
  SELECT 1, value FROM json_each('[{",".join(map(str, range(2000)))}]');
INSERT INTO notes SELECT 'word' || id || ' and more' FROM orders;
CREATE TABLE long (id INTEGER PRIMARY KEY, body);
INSERT INTO long SELECT id, hex(zeroblob(id * 9)) FROM orders WHERE id % 20 = 0;
CREATE INDEX long_by_body ON long (body);
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_database(tmp_path, "shop", FILLED)


def pointer(size: int) -> bytes:
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize {size}\n".encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (pointer(12_345), "is a Git LFS pointer, not the database: run `git lfs pull`"),
        (pointer(12_345_678), "is a Git LFS pointer"),
        (b"hello", "is not an SQLite database"),
        (bytes(8192), "is not an SQLite database"),
        (b"SQLite format 2\0" * 9, "is not an SQLite database"),
        (b"PK\3\4" + bytes(4096), "is not an SQLite database"),
    ],
)
def test_files_that_are_no_database(path: Path, content: bytes, message: str) -> None:
    path.write_bytes(content)
    source = SqliteSource(path.parent.parent)
    for use in (source.path, source.check, source.digest, source.open):
        with pytest.raises(InputError, match=message) as error:
            use("shop")
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)


def test_a_pointer_of_lfs_has_the_length_that_is_seen_in_the_wild() -> None:
    assert (len(pointer(1_234_567)), len(pointer(1_234_567_890))) == (132, 135)


# Where in the header, and what is written there.
@pytest.mark.parametrize(
    ("offset", "value"),
    [
        (16, b"\0\0"),  # page size
        (16, b"\xff\xff"),
        (16, b"\x02\0"),
        (18, b"\x09\x09"),  # formats of writing and reading
        (21, b"\0\0\0"),  # payload fractions
        (44, b"\xff\xff\xff\xff"),  # format of the schema
        (100, b"\xff" * 8),  # the page of the schema
    ],
)
def test_an_unusable_header_is_an_error(path: Path, offset: int, value: bytes) -> None:
    content = bytearray(path.read_bytes())
    content[offset : offset + len(value)] = value
    path.write_bytes(content)
    source = SqliteSource(path.parent.parent)
    for use in (source.check, source.open):
        with pytest.raises(InputError, match="cannot be opened by SQLite"):
            use("shop")


@pytest.mark.parametrize("length", [100, 1_000, PAGE + 1])
def test_a_file_cut_off_near_its_beginning_is_an_error(path: Path, length: int) -> None:
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(InputError, match="cannot be opened by SQLite"):
        SqliteSource(path.parent.parent).open("shop")


SCAN = "SELECT length(group_concat(body)) FROM long"


@pytest.mark.parametrize("damage", ["cut in a page", "cut between pages", "pages of garbage"])
def test_damage_in_the_middle_is_an_error_where_it_is_read(path: Path, damage: str) -> None:
    content = path.read_bytes()
    middle = len(content) // (2 * PAGE) * PAGE
    if damage == "pages of garbage":
        content = content[:middle] + os.urandom(len(content) - middle)
    else:
        content = content[: middle + (1_000 if damage == "cut in a page" else 0)]
    path.write_bytes(content)
    before = fingerprint(path)
    try:
        database = SqliteSource(path.parent.parent).open("shop")
    except InputError as error:
        assert "cannot be opened by SQLite" in str(error)
        return
    with database:
        assert isinstance(database.query(SCAN), QueryError)
        assert isinstance(database.execute("DELETE FROM long"), QueryError)
        assert isinstance(database.query(SCAN), QueryError)
        assert rows(database.execute("SELECT 1")) == [(1,)]
    assert fingerprint(path) == before


def test_damaged_pages_do_not_keep_others_from_being_read(path: Path) -> None:
    with SqliteSource(path.parent.parent).open("shop") as whole:
        assert isinstance(whole.execute(SCAN), QueryResult)
    content = path.read_bytes()
    path.write_bytes(content[: -5 * PAGE] + b"\xff" * 5 * PAGE)
    with SqliteSource(path.parent.parent).open("shop") as database:
        assert isinstance(database.execute("SELECT body FROM long ORDER BY body"), QueryError)
        assert rows(database.execute("SELECT count(*) FROM customers")) == [(3,)]


def test_a_file_that_must_not_be_read(path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    path.chmod(0)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        SqliteSource(path.parent.parent).open("shop")


RANDOM_DAMAGES = """
import random, sys
from pathlib import Path
from birdenv.databases import DatabaseState, Limits, QueryError, QueryResult, SqliteSource
from birdenv.errors import InputError

path, image, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
whole = path.read_bytes()
chance = random.Random(2026)
source = SqliteSource(path.parent.parent, image=image)
SCRIPT = [
    "SELECT * FROM orders JOIN customers ON customer = customers.id ORDER BY total",
    "SELECT count(*), max(length(body)) FROM long", "SELECT * FROM long ORDER BY body DESC",
    "SELECT * FROM notes WHERE notes MATCH 'word* AND more'", "SELECT * FROM boxes WHERE low < 1",
    "SELECT * FROM spending", "PRAGMA table_info(orders)", "PRAGMA integrity_check",
    "UPDATE long SET body = body || 'x'", "DELETE FROM orders WHERE id % 3 = 0",
    "INSERT INTO notes SELECT body FROM long", "CREATE INDEX i ON orders (total)",
    "BEGIN", "DELETE FROM long", "ROLLBACK", "REINDEX", "ANALYZE", "VACUUM", "DROP TABLE long",
    "ALTER TABLE orders RENAME TO sold",
]
unusable = errors = results = 0
for turn in range(number):
    damaged = bytearray(whole)
    for _ in range(chance.choice([1, 3, 30, 300])):
        start = chance.randrange(chance.choice([100, 4096, len(damaged)]))
        damaged[start : start + chance.choice([1, 1, 4, 64])] = chance.randbytes(chance.choice([1, 1, 4, 64]))
    if turn % 3 == 0:
        page = chance.randrange(1, len(damaged) // 4096) * 4096
        damaged[page : page + 4096] = chance.randbytes(4096)
    damaged[:16] = whole[:16]
    fresh = path.with_name("fresh")
    fresh.write_bytes(damaged[: len(whole)])
    fresh.replace(path)
    try:
        database = source.open("shop", Limits(seconds=0.5, rows=5000))
    except InputError as error:
        assert chr(10) not in str(error)
        unusable += 1
        continue
    with database:
        found = [database.query(sql) for sql in SCRIPT] + [database.state()]
        found += [database.execute(sql, 5000) for sql in SCRIPT] + [database.state(), database.checkpoint()]
        found += [database.query(sql) for sql in SCRIPT]
    for one in found:
        errors += isinstance(one, QueryError)
        results += not isinstance(one, QueryError)
    assert path.read_bytes() == bytes(damaged[: len(whole)])
assert unusable and errors and results
print("done", unusable, errors, results)
"""


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("image", "number"),
    [
        ("memory-map", 10),
        pytest.param("memory-map", 200, marks=pytest.mark.slow),
        pytest.param("copy", 40, marks=pytest.mark.slow),
    ],
)
def test_random_damage_never_ends_the_process(path: Path, image: str, number: int) -> None:
    assert run(RANDOM_DAMAGES, path, image, number).startswith("done")
