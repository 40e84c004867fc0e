"""Private images, made in each of the ways: right answers, an untouched source, and what happens where one
way is impossible."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from database_files import fingerprint, write_database
from image_kinds import ALL, let_images_grow, why_not
from plain_copy import Answer, PlainCopy, answer

from birdenv.databases import DatabaseState, Limits, QueryError, QueryResult, Result, SqliteSource
from birdenv.databases.sqlite import LocalSource, SqliteDatabase, _source
from birdenv.databases.sqlite.images import _image_kinds, _scratch, _sqlite_library, trial
from birdenv.errors import InputError

Opened = Callable[..., SqliteDatabase]

SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, city TEXT COLLATE NOCASE);
CREATE TABLE bills (id INTEGER PRIMARY KEY AUTOINCREMENT, person INT REFERENCES people ON DELETE CASCADE,
  total REAL CHECK (total >= 0), twice REAL AS (total * 2) STORED, half AS (total / 2));
CREATE TABLE codes (code TEXT, part INT, value BLOB, PRIMARY KEY (code, part)) WITHOUT ROWID;
CREATE UNIQUE INDEX big_bills ON bills (person, total) WHERE total > 100;
CREATE VIEW spending AS SELECT name, sum(total) AS total FROM people JOIN bills ON person = people.id
  GROUP BY name;
CREATE TABLE log (what TEXT);
CREATE TRIGGER logged AFTER INSERT ON bills BEGIN INSERT INTO log VALUES ('bill ' || new.id); END;
INSERT INTO people VALUES (1, 'Ada', 'London'), (2, 'Kurt', 'Brno'), (3, 'Größe', NULL);
INSERT INTO bills (person, total) VALUES (1, 10.5), (1, 200), (2, 7);
INSERT INTO codes VALUES ('a', 1, x'00ff'), ('a', 2, NULL), ('b', 1, 'text');
PRAGMA user_version = 3;
"""
SCRIPT = """
CREATE TABLE extra (a INTEGER PRIMARY KEY, b)
INSERT INTO extra (b) VALUES ('x'), (2), (NULL), (x'ff') RETURNING a, b, typeof(b)
SELECT last_insert_rowid(), changes(), total_changes()
UPDATE people SET city = upper(city) WHERE id < 3
BEGIN
DELETE FROM people
SELECT count(*) FROM people
ROLLBACK
SELECT count(*) FROM people
BEGIN IMMEDIATE
INSERT INTO bills (person, total) VALUES (2, 300) RETURNING *
SAVEPOINT one
DELETE FROM bills
SAVEPOINT two
INSERT INTO bills (total) VALUES (1)
RELEASE two
ROLLBACK TO one
COMMIT
COMMIT
SELECT * FROM bills
SELECT * FROM log
SAVEPOINT outer
INSERT INTO extra (b) VALUES ('saved')
RELEASE outer
CREATE TEMP TABLE seen AS SELECT id FROM people
CREATE TEMP VIEW shout AS SELECT upper(name) AS name FROM people
CREATE TEMP TRIGGER watch AFTER DELETE ON extra BEGIN INSERT INTO seen VALUES (old.a * 100); END
DELETE FROM extra WHERE a = 2
SELECT * FROM seen
SELECT name FROM shout
SELECT type, name FROM sqlite_temp_schema
PRAGMA user_version
PRAGMA user_version = 12
PRAGMA application_id = 77
PRAGMA user_version
PRAGMA foreign_keys
INSERT INTO bills (person, total) VALUES (99, 1)
PRAGMA foreign_key_check
PRAGMA foreign_keys = ON
INSERT INTO bills (person, total) VALUES (98, 1)
PRAGMA defer_foreign_keys = ON
DELETE FROM people WHERE id = 1
SELECT person, total FROM bills
DELETE FROM bills WHERE person = 99
PRAGMA foreign_key_check
VACUUM
INSERT INTO people (name) VALUES ('Ada'), ('Kurt')
INSERT OR IGNORE INTO people (name) VALUES ('Ada'), ('Kurt'), ('New')
INSERT INTO people (id, name) VALUES (2, 'K') ON CONFLICT DO UPDATE SET name = excluded.name RETURNING name
INSERT INTO people (name) VALUES ('Ada') ON CONFLICT (name) DO UPDATE SET city = 'Rome' WHERE city IS NULL
REPLACE INTO codes VALUES ('a', 1, 'new')
SELECT * FROM codes
INSERT INTO codes VALUES ('b', 1, 2)
UPDATE bills SET total = -1
UPDATE bills SET twice = 1
ATTACH ':memory:' AS m
CREATE TABLE m.t (a)
INSERT INTO m.t SELECT id FROM people
SELECT count(*) FROM m.t
VACUUM m
DETACH m
SELECT * FROM m.t
SELECT 'a' LIKE 'A'
PRAGMA case_sensitive_like = ON
SELECT 'a' LIKE 'A'
ALTER TABLE people ADD COLUMN age INT DEFAULT 7
ALTER TABLE people RENAME COLUMN city TO place
ALTER TABLE log RENAME TO journal
ALTER TABLE extra DROP COLUMN b
SELECT * FROM people
PRAGMA table_xinfo(bills)
CREATE TABLE depth (n INT)
CREATE TRIGGER deeper AFTER INSERT ON depth WHEN new.n < 5 BEGIN INSERT INTO depth VALUES (new.n + 1); END
INSERT INTO depth VALUES (1)
PRAGMA recursive_triggers = ON
INSERT INTO depth VALUES (1)
SELECT n FROM depth
CREATE VIEW numbers AS WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c
CREATE TABLE big AS SELECT x, x % 97 AS y, 'row ' || x AS t FROM numbers LIMIT 200000
DROP VIEW numbers
CREATE INDEX by_y ON big (y, t)
SELECT y, count(*), max(t) FROM big GROUP BY y ORDER BY 1 LIMIT 5
UPDATE big SET t = NULL WHERE y = 3
DELETE FROM big WHERE y < 90
SELECT count(*), sum(x), count(t) FROM big
ANALYZE
SELECT tbl, idx, stat FROM sqlite_stat1
REINDEX
REINDEX by_y
PRAGMA integrity_check
PRAGMA quick_check(1)
PRAGMA page_count
PRAGMA freelist_count
PRAGMA incremental_vacuum
VACUUM
PRAGMA page_count
PRAGMA encoding
PRAGMA auto_vacuum
PRAGMA page_size
PRAGMA table_list
PRAGMA index_list(bills)
PRAGMA index_xinfo(big_bills)
PRAGMA foreign_key_list(bills)
PRAGMA collation_list
PRAGMA wal_checkpoint
DROP VIEW spending
DROP TABLE codes
DROP TABLE nowhere
DROP INDEX big_bills
SELECT * FROM nowhere
SELEC 1
EXPLAIN QUERY PLAN SELECT * FROM big WHERE y = 95
BEGIN
CREATE TABLE last (a)
"""
BY_COMPILATION = {
    "ENABLE_FTS5": """
CREATE VIRTUAL TABLE notes USING fts5 (body)
INSERT INTO notes VALUES ('late delivery'), ('paid late'), ('paid')
SELECT rowid, body FROM notes WHERE notes MATCH 'late' ORDER BY rank
DELETE FROM notes WHERE rowid = 1
INSERT INTO notes (notes) VALUES ('optimize')
SELECT highlight(notes, 0, '[', ']') FROM notes('late')
""",
    "ENABLE_RTREE": """
CREATE VIRTUAL TABLE boxes USING rtree (id, low, high)
INSERT INTO boxes VALUES (1, 0.0, 2.0), (2, 5.0, 6.0)
SELECT id FROM boxes WHERE low <= 1 AND high >= 1
INSERT INTO boxes VALUES (3, 2.0, 1.0)
""",
}
ASKED_OF_EVERY_EPISODE = (
    "SELECT * FROM sqlite_schema",
    "SELECT * FROM sqlite_temp_schema",
    "SELECT 'a' LIKE 'A', changes(), total_changes(), last_insert_rowid()",
    "SELECT * FROM people",
    "SELECT * FROM bills",
    "SELECT * FROM codes",
    "PRAGMA user_version",
    "PRAGMA foreign_keys",
    "PRAGMA recursive_triggers",
    "PRAGMA application_id",
    "PRAGMA journal_mode",
    "SELECT * FROM extra",
    "SELECT * FROM seen",
    "COMMIT",
)


@pytest.fixture(autouse=True)
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Statements run in the process of the tests here, as they do in a worker."""
    monkeypatch.setattr(_source, "limit_process", lambda *_: None)


@pytest.fixture(params=ALL)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for databases and scratch files."""
    if reason := why_not(kind):
        pytest.skip(reason)
    monkeypatch.setenv("BIRDENV_SCRATCH", str(tmp_path))
    monkeypatch.setattr(_scratch, "_mine", None)
    yield tmp_path


def script() -> list[str]:
    options = {row[0] for row in sqlite3.connect(":memory:").execute("PRAGMA compile_options")}
    texts = [text for option, text in BY_COMPILATION.items() if option in options]
    return "".join([*texts, SCRIPT]).strip().replace("\n\n", "\n").split("\n")


def source_in(place: Path, kind: str, script: str = SCHEMA) -> LocalSource:
    write_database(place / "databases", "town", script)
    return LocalSource(place / "databases", None, kind)  # type: ignore[arg-type]


def rows(result: Result) -> list[tuple[object, ...]]:
    assert isinstance(result, QueryResult), result
    return list(result.rows)


def kind_of(database: SqliteDatabase) -> str:
    assert database._image is not None
    return database._image.kind


# --- the same answers and nothing left -------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.every(4)
@pytest.mark.disk
def test_a_long_script_is_answered_as_on_a_private_copy(kind: str, place: Path) -> None:
    source = source_in(place, kind)
    path = source.path("town")
    before = fingerprint(path)
    plain = PlainCopy(path, place)
    with source.open("town") as untouched, source.open("town") as database:
        fresh = untouched.state()
        first = [answer(untouched.execute(sql)) for sql in ASKED_OF_EVERY_EPISODE]
        for sql in script():
            assert answer(database.execute(sql)) == plain.execute(sql), sql
        assert kind_of(database) == kind
        dirty = database.state()
        assert isinstance(dirty, DatabaseState)
        assert dirty != fresh
        assert isinstance(database.execute("BEGIN"), QueryResult)
    plain.close()
    assert fingerprint(path) == before
    with source.open("town") as following:
        assert following.state() == fresh
        assert [answer(following.execute(sql)) for sql in ASKED_OF_EVERY_EPISODE] == first
    assert fingerprint(path) == before


@pytest.mark.disk
def test_no_file_is_left_by_an_episode(kind: str, place: Path) -> None:
    source = source_in(place, kind)
    files = [path for path in place.rglob("*") if path.is_file() and path.name != "lock"]
    with source.open("town") as database:
        database.run(["BEGIN; DELETE FROM people; CREATE TEMP TABLE t AS SELECT * FROM bills"])
    assert [path for path in place.rglob("*") if path.is_file() and path.name != "lock"] == files


@pytest.mark.disk
def test_a_source_in_wal_format(kind: str, place: Path) -> None:
    source = source_in(place, kind, "PRAGMA journal_mode = WAL;" + SCHEMA)
    path = source.path("town")
    assert path.read_bytes()[18:20] == b"\2\2"
    before = fingerprint(path)
    with source.open("town") as database:
        assert rows(database.execute("DELETE FROM people WHERE id = 2 RETURNING name")) == [("Kurt",)]
        result = database.run(["BEGIN; INSERT INTO log VALUES ('x'); COMMIT; VACUUM; SELECT * FROM log"])
        assert ("x",) in rows(result)
        assert kind_of(database) == kind
    assert fingerprint(path) == before


@pytest.mark.parametrize("page", [512, 65536])
def test_pages_of_any_size(kind: str, place: Path, page: int) -> None:
    source = source_in(place, kind, f"PRAGMA page_size = {page};" + SCHEMA)
    with source.open("town") as database:
        assert rows(database.execute("UPDATE people SET city = 'x' RETURNING id")) == [(1,), (2,), (3,)]
        assert rows(database.run(["VACUUM; PRAGMA integrity_check"])) == [("ok",)]


def test_growth_has_a_bound_and_the_episode_goes_on(
    kind: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_images_grow(2**20, monkeypatch)
    with source_in(place, kind).open("town", Limits(seconds=10)) as database:
        fill = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT zeroblob(999) FROM c"
        error = database.execute(f"CREATE TABLE big AS {fill}")
        assert isinstance(error, QueryError)
        assert (error.kind, error.message) == ("too_large", "database or disk is full")
        assert isinstance(database.execute("CREATE TABLE small AS SELECT zeroblob(900000) AS a"), QueryResult)
        assert rows(database.execute("PRAGMA integrity_check")) == [("ok",)]
        denied = database.execute("PRAGMA max_page_count = 1000000000")
        assert isinstance(denied, QueryError)


# --- which way is taken ----------------------------------------------------------------------------------


def test_the_environment_variable_stands_in_for_auto(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_database(tmp_path, "town", SCHEMA)
    monkeypatch.setenv("BIRDENV_SQLITE_IMAGE", "copy")
    for setting, expected in (("auto", "copy"), ("memory-map", "memory-map")):
        with LocalSource(tmp_path, None, setting).open("town") as database:  # type: ignore[arg-type]
            database.execute("CREATE TABLE t (a)")
            assert kind_of(database) == expected
    monkeypatch.setenv("BIRDENV_SQLITE_IMAGE", "nonsense")
    with pytest.raises(InputError, match="'nonsense' is unknown; choose from auto, memory-map"):
        SqliteSource(tmp_path)


MAPPED = pytest.mark.skipif(bool(why_not("memory-map")), reason=why_not("memory-map") or "can be")


def test_without_the_library_files_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_image_kinds, "library", lambda: None)
    path = write_database(tmp_path, "town", SCHEMA)
    assert "this Python cannot call" in trial(path, "memory-map")
    with LocalSource(tmp_path, None, "auto").open("town") as database:
        database.execute("DELETE FROM people")
        assert kind_of(database) == "copy"
        assert rows(database.execute("SELECT count(*), (SELECT count(*) FROM codes) FROM people")) == [(0, 3)]


@MAPPED
def test_the_library_is_found_by_its_functions_and_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> object:
        _sqlite_library.library.cache_clear()
        return _sqlite_library.library()

    try:
        assert found() is not None
        with monkeypatch.context() as patch:
            patch.setattr(_sqlite_library, "_NEEDED", ("sqlite3_no_such_function",))
            assert found() is None, "a Python that hides SQLite's functions"
        with monkeypatch.context() as patch:
            patch.setattr(sqlite3, "sqlite_version", "3.0.0")
            assert found() is None, "another SQLite than the one that Python uses"
        with monkeypatch.context() as patch:
            patch.setattr("sys.modules", {})
            assert found() is None or found().sqlite3_libversion().decode() == sqlite3.sqlite_version  # type: ignore[attr-defined]
    finally:
        _sqlite_library.library.cache_clear()


# --- the source changes ----------------------------------------------------------------------------------


def _update(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("UPDATE people SET name = 'Eve' WHERE id = 1")
    connection.commit()
    connection.close()


def _in_place(path: Path) -> None:
    """Of the same size, by a program that needs no journal: only the file's time says it."""
    time = path.stat().st_mtime_ns + 1000
    with path.open("r+b") as file:
        content = file.read().replace(b"Ada", b"Eve")
        file.seek(0)
        file.write(content)
    os.utime(path, ns=(time, time))


def _replaced(path: Path) -> None:
    """By another file of the same size and time, in a folder of the same time."""
    status, folder = path.stat(), path.parent.stat()
    other = path.parent.with_name("other")
    shutil.copyfile(path, other)
    _in_place(other)
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)
    os.utime(path.parent, ns=(folder.st_atime_ns, folder.st_mtime_ns))


def _grown(path: Path) -> None:
    _update(path)
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO codes VALUES ('grown', 1, zeroblob(100000))")
    connection.commit()
    connection.close()


def _in_a_wal(path: Path) -> None:
    """As a process leaves it that was killed: the change is in the journal only, and the file as it was."""
    modified, copy = path.stat().st_mtime_ns, path.parent.with_name("copy")
    shutil.copyfile(path, copy)
    writer = sqlite3.connect(copy)
    writer.execute("UPDATE people SET name = 'Eve' WHERE id = 1")
    writer.commit()
    shutil.copyfile(f"{copy}-wal", f"{path}-wal")
    writer.close()
    assert path.stat().st_mtime_ns == modified


@pytest.mark.disk
@pytest.mark.parametrize("change", [_update, _in_place, _replaced, _grown, _in_a_wal])
def test_a_changed_source_is_noticed_at_the_next_open(
    kind: str, place: Path, change: Callable[[Path], None]
) -> None:
    format = "WAL" if change is _in_a_wal else "DELETE"
    source = source_in(place, kind, f"PRAGMA journal_mode = {format};" + SCHEMA)
    asked = "SELECT name FROM people WHERE id = 1"
    for expected in ("Ada", "Eve"):
        with source.open("town") as reading, source.open("town") as writing:
            writing.execute("CREATE TABLE t (a)")
            assert [rows(each.execute(asked)) for each in (reading, writing)] == [[(expected,)]] * 2
        if expected == "Ada":
            change(source.path("town"))


# --- errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_a_file_that_is_gone_is_an_error_of_that_episode_only(kind: str, tmp_path: Path) -> None:
    source = source_in(tmp_path, kind)
    with source.open("town") as database:
        database.execute("SELECT 1")
        source.path("town").unlink()
        error = database.execute("CREATE TABLE t (a)")
        assert isinstance(error, QueryError)
        assert "cannot create a private image" in error.message
        assert rows(database.execute("SELECT count(*) FROM people")) == [(3,)], "what is open can be read"


def test_a_plain_answer_compares_rows_columns_counts_and_messages(tmp_path: Path) -> None:
    """What this file rests on."""
    plain = PlainCopy(write_database(tmp_path, "town", SCHEMA), tmp_path)
    assert plain.execute("SELECT id AS a FROM people ORDER BY 1") == Answer(("a",), ((1,), (2,), (3,)), -1)
    assert plain.execute("DELETE FROM people") == Answer((), (), 3)
    assert plain.execute("DELETE FROM nowhere") == Answer(error="no such table: nowhere")
    plain.close()
