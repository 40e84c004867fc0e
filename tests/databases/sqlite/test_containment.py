"""S01-S39 of the specification of containment, as an agent and as a submission to be graded type them.

Whatever is typed: an answer within the deadline and a second, bounded memory, nothing written or read
outside of the episode, and neighbours that notice nothing.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from attacked import LIMITS, NEIGHBOURS, Attacked, kind, listing, rows
from database_files import fingerprint, write_database
from in_a_process import run

from birdenv.databases import Limits, QueryError, QueryResult, SqliteSource
from birdenv.tasks.sql._result_text import result_text

ENDLESS = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
MANY = f"{ENDLESS[:-1]} LIMIT 3000)"
WIDE = ", ".join(f"{i} AS a" for i in range(2000))

# Id, statement, answers allowed for grading, answers allowed for an agent. {shop} is the source's own file,
# {elsewhere} a path where nothing is.
STATEMENTS = [
    ("S01", f"{ENDLESS} SELECT count(*) FROM c", "timeout", "timeout"),
    ("S01", f"{ENDLESS} SELECT x FROM c WHERE x < 0", "timeout", "timeout"),
    ("S02", f"{ENDLESS} SELECT x FROM c", "ok", "ok"),
    ("S02", f"{ENDLESS} SELECT zeroblob(1000000) FROM c", "too_large", "too_large"),
    ("S03", f"{MANY} SELECT count(*) FROM c a, c b, c d, c e, c f", "timeout", "timeout"),
    ("S04", f"{ENDLESS[:-1]} LIMIT 30000000) SELECT x FROM c ORDER BY x % 17", "timeout", "timeout"),
    ("S04", f"{ENDLESS} SELECT group_concat(x) OVER (ORDER BY x) FROM c", "timeout", "timeout"),
    ("S05", "SELECT randomblob(1000000000)", "too_large", "too_large"),
    ("S06", "SELECT hex(zeroblob(400000000))", "too_large", "too_large"),
    ("S07", "SELECT printf('%999999999d', 1)", "denied ok", "denied ok"),
    ("S07", "SELECT format('%.999999999f', 1)", "denied ok", "denied ok"),
    ("S08", "SELECT length(printf('%.*c', 900000000, 'x'))", "denied timeout", "denied timeout"),
    ("S08", "SELECT length(printf('%.*c', '900000000x', 'x'))", "denied timeout", "denied timeout"),
    ("S08", "SELECT length(printf(CAST('%.900000000c' AS BLOB)))", "denied timeout", "denied timeout"),
    (
        "S09",
        "SELECT replace(replace(hex(zeroblob(999)), '0', hex(zeroblob(99))), '0', hex(zeroblob(99)))",
        "too_large",
        "too_large",
    ),
    (
        "S10",
        f"{MANY} SELECT group_concat(hex(zeroblob(500000))) FROM c",
        "too_large timeout",
        "too_large timeout",
    ),
    ("S11", "SELECT length(zeroblob(1000000000))", "too_large", "too_large"),
    ("S12", f"SELECT 'a' LIKE '{'a' * 501}'", "too_large", "too_large"),
    ("S12", f"SELECT 'a' GLOB '{'a' * 501}'", "too_large", "too_large"),
    ("S12", f"SELECT 'a' LIKE '%{'a' * 400}'", "ok", "ok"),
    ("S13", f"SELECT {'(' * 5000}1{')' * 5000}", "too_large", "too_large"),
    ("S13", f"SELECT {'1+' * 300}1", "too_large", "too_large"),
    ("S13", f"SELECT json('{'[' * 100_000}')", "engine too_large", "engine too_large"),
    ("S13", " UNION ALL ".join(["SELECT 1"] * 101), "too_large", "too_large"),
    ("S13", f"SELECT max({','.join('1' * 101)})", "too_large", "too_large"),
    ("S13", f"SELECT '{'a' * 1_000_000}'", "too_large", "too_large"),
    ("S14", "INSERT INTO customers VALUES (7, 'X', NULL)", "denied", "ok"),
    ("S14", "REPLACE INTO customers VALUES (1, 'X', NULL)", "denied", "ok"),
    ("S14", "UPDATE customers SET city = 'X'", "denied", "ok"),
    ("S14", "DELETE FROM customers", "denied", "ok"),
    ("S14", "DROP TABLE orders", "denied", "ok"),
    ("S14", "DROP VIEW spending", "denied", "ok"),
    ("S14", "CREATE TABLE t (a)", "denied", "ok"),
    ("S14", "CREATE INDEX i ON customers (city)", "denied", "ok"),
    ("S14", "ALTER TABLE customers ADD COLUMN a", "denied", "ok"),
    ("S14", "/* SELECT */ DELETE FROM customers", "denied", "ok"),
    ("S14", "INSERT INTO notes (notes) VALUES ('optimize')", "denied", "ok"),
    ("S14", "UPDATE sqlite_schema SET sql = ''", "denied", "engine"),
    ("S15", "ATTACH '{elsewhere}' AS x", "denied", "denied"),
    ("S15", "ATTACH '{elsewhere}' || '' AS x", "denied", "denied"),
    ("S15", 'ATTACH "{elsewhere}" AS x', "denied", "denied"),
    ("S15", "ATTACH 'written.db' AS x", "denied", "denied"),
    ("S15", "ATTACH (SELECT name FROM customers) AS x", "denied", "denied"),
    ("S15", "ATTACH NULL AS x", "denied", "denied"),
    ("S15", "ATTACH ':memory:' AS x", "denied", "ok"),
    ("S15", "ATTACH '' AS x", "denied", "ok"),
    ("S16", "ATTACH '{shop}' AS x", "denied", "denied"),
    ("S17", "ATTACH 'file:{shop}?mode=rw' AS x", "denied", "denied"),
    ("S17", "ATTACH 'file:{elsewhere}?mode=rwc' AS x", "denied", "denied"),
    ("S17", "ATTACH 'file::memory:?cache=shared' AS x", "denied", "denied"),
    ("S18", "VACUUM INTO '{elsewhere}'", "denied", "denied"),
    ("S18", "VACUUM main INTO '{elsewhere}'", "denied", "denied"),
    ("S18", "VACUUM INTO '{elsewhere}' || ''", "denied", "denied"),
    ("S19", "VACUUM", "denied", "ok"),
    ("S19", "REINDEX", "denied", "ok"),
    ("S19", "ANALYZE", "denied", "ok"),
    ("S20", "CREATE TEMP TABLE t (a)", "denied", "ok"),
    ("S20", "CREATE TEMP VIEW v AS SELECT 1", "denied", "ok"),
    (
        "S20",
        "CREATE TEMP TRIGGER t AFTER DELETE ON customers BEGIN SELECT 1; END",
        "denied",
        "ok",
    ),
    ("S21", "PRAGMA table_info(customers)", "denied", "ok"),
    ("S21", "PRAGMA query_only = 0", "denied", "ok"),
    ("S21", "PRAGMA case_sensitive_like = 1", "denied", "ok"),
    ("S21", "PRAGMA journal_mode = wal", "denied", "ok"),
    ("S21", "PRAGMA journal_mode = off", "denied", "denied"),
    ("S21", "PRAGMA journal_mode = 'O'", "denied", "denied"),
    ("S21", "PRAGMA writable_schema = 1", "denied", "denied"),
    ("S21", "PRAGMA temp_store_directory = '{elsewhere}'", "denied", "denied"),
    ("S21", "PRAGMA data_store_directory = '{elsewhere}'", "denied", "denied"),
    ("S21", "PRAGMA mmap_size = 1000000000", "denied", "denied"),
    ("S21", "PRAGMA soft_heap_limit = 1", "denied", "denied"),
    ("S21", "PRAGMA hard_heap_limit = 1", "denied", "denied"),
    ("S21", "PRAGMA max_page_count = 1000000000", "denied", "denied"),
    ("S21", "PRAGMA temp_store = 1", "denied", "denied"),
    ("S21", "PRAGMA cache_size = -10000000", "denied", "denied"),
    ("S21", "PRAGMA page_size = 65536", "denied", "denied"),
    ("S21", "PRAGMA threads = 8", "denied", "denied"),
    ("S21", "PRAGMA schema_version = 1", "denied", "denied"),
    ("S21", "PRAGMA full_column_names = 1", "denied", "denied"),
    ("S21", "PRAGMA no_such_pragma", "denied", "denied"),
    ("S22", "BEGIN IMMEDIATE", "denied", "ok"),
    ("S22", "BEGIN", "denied", "ok"),
    ("S22", "SAVEPOINT s", "denied", "ok"),
    ("S22", "COMMIT", "denied", "engine"),
    ("S22", "ROLLBACK", "denied", "engine"),
    ("S22", "RELEASE s", "denied", "missing"),
    ("S23", "SELECT load_extension('libc.so.6')", "denied", "denied"),
    ("S24", "SELECT fts3_tokenizer('simple')", "denied", "denied"),
    ("S24", "SELECT fts3_tokenizer('simple', x'00')", "denied", "denied"),
    ("S24", "WITH c AS (SELECT fts3_tokenizer('simple') AS a) SELECT a FROM c", "denied", "denied"),
    ("S25", "SELECT readfile('{shop}')", "missing denied", "missing denied"),
    ("S25", "SELECT writefile('{elsewhere}', 'a')", "missing denied", "missing denied"),
    ("S25", "SELECT edit('a')", "missing denied", "missing denied"),
    ("S25", "SELECT * FROM lsdir('/')", "missing denied", "missing denied"),
    ("S26", "SELECT * FROM sqlite_master", "ok", "ok"),
    ("S26", "SELECT value FROM json_each('[1, 2]')", "ok", "ok"),
    ("S26", "SELECT name FROM pragma_table_info('customers')", "ok", "ok"),
    ("S26", "SELECT * FROM pragma_database_list", "denied", "ok"),
    ("S26", "SELECT * FROM dbstat", "denied missing", "ok missing"),
    ("S26", "SELECT * FROM sqlite_dbpage", "denied missing", "denied missing"),
    ("S26", "CREATE VIRTUAL TABLE v USING dbstat", "denied", "denied"),
    ("S26", "CREATE VIRTUAL TABLE v USING fts3tokenize", "denied", "denied"),
    ("S27", "SELECT 1; SELECT 2", "syntax", "syntax"),
    ("S27", "SELECT 1;;", "syntax", "syntax"),
    ("S27", "SELECT 1; DROP TABLE customers", "syntax", "syntax"),
    ("S28", "", "syntax", "syntax"),
    ("S28", " \n", "syntax", "syntax"),
    ("S28", ";", "syntax", "syntax"),
    ("S28", "-- a", "syntax", "syntax"),
    ("S28", "/* a */ ;", "syntax", "syntax"),
    ("S29", "None", "syntax", "syntax"),
    ("S29", "NULL", "syntax", "syntax"),
    ("S30", "SELECT ?", "syntax", "syntax"),
    ("S30", "SELECT :a", "syntax", "syntax"),
    ("S30", "SELECT $x", "syntax", "syntax"),
    ("S30", "SELECT @v", "syntax", "syntax"),
    ("S30", "SELECT ?9999", "syntax", "syntax"),
    ("S31", "SELECT '\0'", "syntax", "syntax"),
    ("S31", "SELECT 1\0", "syntax", "syntax"),
    ("S31", "SELECT '\ud800'", "syntax", "syntax"),
    ("S32", "SELECT CAST(x'ff41' AS TEXT)", "ok", "ok"),
    ("S33", "SELECT 9e999, -9e999, 0.0 / 0", "ok", "ok"),
    ("S34", "EXPLAIN SELECT 1", "denied", "ok"),
    ("S34", "EXPLAIN QUERY PLAN SELECT 1", "denied", "ok"),
    ("S34", "PRAGMA user_version", "denied", "ok"),
    ("S35", "INSERT INTO customers VALUES (7, 'X', NULL) RETURNING id", "denied", "ok"),
    ("S35", "WITH a AS (SELECT 1) DELETE FROM customers", "denied", "ok"),
    ("S35", "WITH a AS (SELECT 1) UPDATE customers SET city = 'X' RETURNING id", "denied", "ok"),
    ("S36", f"SELECT {WIDE}", "ok", "ok"),
    ("S36", f"SELECT {WIDE}, 1", "too_large", "too_large"),
    ("S36", "SELECT 1 AS a, 2 AS a, zeroblob(1000000) AS a", "ok", "ok"),
    ("S37", "SELECT random(), datetime('now')", "ok", "ok"),
]


def named(statement: tuple[str, str, str, str]) -> str:
    return f"{statement[0]} {statement[1][:40]}".encode("ascii", "backslashreplace").decode()


CASES = [
    pytest.param(statement, id=named(statement), marks=pytest.mark.contains(statement[0]))
    for statement in STATEMENTS
]


VARIANTS = [
    pytest.param(door, marks=marks)
    for door, marks in [
        ("grading", ()),
        ("agent", ()),
        ("grading what was written", pytest.mark.hostile_all_doors),
        ("agent that wrote before", pytest.mark.hostile_all_doors),
    ]
]


@pytest.fixture(params=VARIANTS)
def attacked(request: pytest.FixtureRequest, attack: Callable[..., Attacked]) -> Attacked:
    return attack(request.param)


TOO_LATE = f"stopped after ({LIMITS.seconds:g} s of CPU|{LIMITS.wall_seconds:g} s of wall) time"


@pytest.mark.every(2)
@pytest.mark.parametrize("statement", CASES)
def test_statement(
    attacked: Attacked, statement: tuple[str, str, str, str], record_property: Callable[[str, object], None]
) -> None:
    _, sql, grading, agent = statement
    sql = sql.replace("{shop}", str(attacked.shop)).replace("{elsewhere}", str(attacked.elsewhere))
    allowed = (grading if attacked.is_grading else agent).split()
    before = attacked.database.query(NEIGHBOURS)
    result = attacked.run(sql)
    record_property("outcome", kind(result))
    assert kind(result) in allowed, result
    if attacked.is_grading:
        assert attacked.database.query(NEIGHBOURS) == before
    if isinstance(result, QueryError):
        assert result.message
        assert str(attacked.folder) not in result.message
        if result.kind == "timeout":
            assert re.match(TOO_LATE, result.message)
        if result.kind == "denied":
            assert "allowed" in result.message or "can be read but not set" in result.message
    assert len(result_text(result)) < 30_000


# --- what is shown (S02, S32, S33, S36, S37, A06) --------------------------------------------------------


def shown(attacked: Attacked, sql: str) -> list[str]:
    """The lines that an agent sees, or would."""
    return result_text(attacked.run(sql)).split("\n")


@pytest.mark.contains("S02")
def test_s02_rows_are_cut_and_counted(attacked: Attacked) -> None:
    assert shown(attacked, f"{ENDLESS} SELECT x FROM c")[-1] == "(first 100 of more than 1000 rows)"


@pytest.mark.contains("S32")
@pytest.mark.contains("S33")
def test_s32_and_s33_odd_values(attacked: Attacked) -> None:
    sql = "SELECT CAST(x'ff41' AS TEXT), 'a' || char(0) || 'b', 9e999, -9e999, 0.0 / 0, -0.0, x'00ff', ''"
    odd = ("\udcffA", "a\0b", math.inf, -math.inf, None, 0.0, b"\x00\xff", "")
    assert rows(attacked.run(sql)) == [odd]
    assert shown(attacked, sql)[2] == r"\xffA | a\x00b | inf | -inf | NULL | -0.0 | X'00ff' | ''"


@pytest.mark.contains("S36")
def test_s36_wide_rows_and_equal_names(attacked: Attacked) -> None:
    result = attacked.run(f"SELECT {WIDE}")
    assert isinstance(result, QueryResult)
    assert result.columns == ("a",) * 2000
    assert rows(result) == [tuple(range(2000))]
    header, _, row, count = shown(attacked, f"SELECT {WIDE}")
    assert header.startswith("a | a | a | ")
    assert row.startswith("0 | 1 | 2 | ")
    assert count == "(1 row)"


@pytest.mark.contains("S37")
def test_s37_each_run_is_a_new_one(attacked: Attacked) -> None:
    assert attacked.run("SELECT random()") != attacked.run("SELECT random()")


def test_a06_huge_and_odd_results(attacked: Attacked) -> None:
    _, _, row, _ = shown(attacked, "SELECT hex(zeroblob(2500000)) AS a")
    assert row == f"{'0' * 200}… (4999800 more characters)"
    lines = shown(attacked, f"{MANY} SELECT {', '.join(['NULL AS a'] * 50)} FROM c LIMIT 100")
    assert set(lines[2:-1]) == {" | ".join(["NULL"] * 50)}
    assert lines[-1] in ("(100 rows)", f"(first {len(lines) - 3} of 100 rows)")
    escapes = "SELECT char(27) || '[31m' || char(10, 13, 9, 8, 7, 127, 155, 8238) AS \"\x1b[0m\nname\""
    header, _, row, _ = shown(attacked, escapes)
    assert header == r"\x1b[0m\nname"
    assert row == r"\x1b[31m\n\r\t\x08\x07\x7f\x9b\u202e"


# --- memory (S02, S05-S11, S36) --------------------------------------------------------------------------

HOGS = [
    *(sql for name, sql, *_ in STATEMENTS if name in ("S05", "S06", "S07", "S09", "S10", "S11")),
    f"SELECT {', '.join(['randomblob(9000000)'] * 250)}",
    f"{ENDLESS} SELECT zeroblob(9000000) FROM c",
]
STARS = ", ".join("*" * 21)
LONG_HOGS = {
    "distinct": f"{ENDLESS} SELECT count(DISTINCT hex(zeroblob(40000)) || x) FROM c",
    "sort": f"{ENDLESS} SELECT x FROM c ORDER BY hex(zeroblob(40000)) || x",
    "group": f"{ENDLESS} SELECT group_concat(hex(zeroblob(40000))) FROM c GROUP BY x",
    "queue": f"{ENDLESS.replace('1', 'zeroblob(99999)', 1).replace('+ 1', '|| 1')} SELECT count(*) FROM c",
    "table": f"CREATE TABLE big AS {ENDLESS} SELECT zeroblob(900000) FROM c",
    "temporary table": f"CREATE TEMP TABLE big AS {ENDLESS} SELECT zeroblob(900000) FROM c",
    "stars": f"SELECT {STARS[:28]} FROM (SELECT {STARS} FROM (SELECT randomblob(9000000) LIMIT 1) LIMIT 1)",
}
FEED = """
import json, resource, sys
from birdenv.databases import Limits, SqliteSource
from birdenv.databases.sqlite._process_database import workers

root, statements = sys.argv[1:]
source = SqliteSource(root)
for sql in json.loads(statements):
    with source.open("shop", Limits(seconds=2)) as database:
        database.execute(sql)
workers.close_idle()
print(max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
"""
MOST_KIB = 2 * 2**20 + 2**19
"""1 GiB that SQLite may take, 1 GiB that an image may grow, and the rows of one result in Python."""


def peak_kib(root: Path, statements: list[str]) -> int:
    write_database(root, "shop")
    return int(run(FEED, root, json.dumps(statements)))


@pytest.mark.slow
def test_memory_is_bounded(tmp_path: Path) -> None:
    assert peak_kib(tmp_path, HOGS) < MOST_KIB


@pytest.mark.slow
@pytest.mark.contains("S04")
@pytest.mark.parametrize("sql", LONG_HOGS.values(), ids=LONG_HOGS)
def test_memory_of_what_takes_long_to_fill_is_bounded(tmp_path: Path, sql: str) -> None:
    assert peak_kib(tmp_path, [sql]) < MOST_KIB


# --- files (S38) -----------------------------------------------------------------------------------------

COUNT = "SELECT count(*) FROM customers"


def in_wal_mode(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    return connection


def closed_wal(path: Path) -> None:
    in_wal_mode(path).close()


def pending_wal(path: Path) -> sqlite3.Connection:
    """The fourth customer is in the `-wal` only."""
    connection = in_wal_mode(path)
    connection.execute("INSERT INTO customers VALUES (4, 'Alan', NULL)")
    return connection


def orphaned_wal(path: Path) -> None:
    """As it is after a crash or a copy: no `-shm`, and nobody who holds it."""
    writer = pending_wal(path)
    left = [Path(f"{path}{suffix}").read_bytes() for suffix in ("", "-wal")]
    writer.close()
    path.write_bytes(left[0])
    Path(f"{path}-wal").write_bytes(left[1])


def empty_wal(path: Path) -> None:
    closed_wal(path)
    Path(f"{path}-wal").touch()


def locked(path: Path) -> sqlite3.Connection:
    """A writer in the midst of a transaction that changed every page."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA cache_size = 1").fetchall()
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute("DELETE FROM customers")
    return connection


def hot_journal(path: Path) -> None:
    """The writer died before it could commit."""
    writer = locked(path)
    writer.execute("CREATE TABLE filler AS SELECT randomblob(200000)")
    left = [Path(f"{path}{suffix}").read_bytes() for suffix in ("", "-journal")]
    writer.close()
    path.write_bytes(left[0])
    Path(f"{path}-journal").write_bytes(left[1])


def read_only(path: Path) -> None:
    path.chmod(0o444)
    path.parent.chmod(0o555)


def linked(path: Path) -> None:
    path.rename(path.parent.parent / "real file")
    path.symlink_to("../real file")


@pytest.mark.disk
@pytest.mark.contains("S38")
@pytest.mark.parametrize(
    ("shape", "customers"),
    [
        (closed_wal, 3),
        (pending_wal, 4),
        (orphaned_wal, 4),
        (empty_wal, 3),
        (locked, 3),
        (hot_journal, 3),
        (read_only, 3),
        (linked, 3),
    ],
)
def test_s38_files_in_every_state_are_read(
    folder: Path, shape: Callable[[Path], object], customers: int
) -> None:
    path = write_database(folder, "shop")
    kept = shape(path)
    before = fingerprint(path)
    for _ in range(2):
        with SqliteSource(folder).open("shop") as database:
            assert rows(database.query(COUNT)) == [(customers,)]
            assert len(rows(database.execute("DELETE FROM customers RETURNING 1"))) == customers
            assert rows(database.query(COUNT)) == [(0,)]
            assert fingerprint(path) == before
    assert fingerprint(path) == before
    path.parent.chmod(0o755)
    assert listing(folder / "temporary") == listing(folder / "here") == []
    if isinstance(kept, sqlite3.Connection):
        kept.close()


@pytest.mark.contains("S38")
@pytest.mark.parametrize("name", ["a?mode=rwc", "a#b", "50%20", "two words", "é", "it's", "a&b;c"])
def test_s38_names_that_mean_something_in_a_uri(folder: Path, name: str) -> None:
    path = write_database(folder / "odd #?% names", name)
    before = fingerprint(path)
    with SqliteSource(path.parent.parent).open(name) as database:
        assert rows(database.query(COUNT)) == [(3,)]
        assert len(rows(database.execute("DELETE FROM customers RETURNING 1"))) == 3
    assert fingerprint(path) == before


# --- many at once (S39) ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.contains("S39")
@pytest.mark.parametrize("turns", [2, pytest.param(4, marks=pytest.mark.hostile_all_doors)])
def test_s39_many_episodes_on_one_database(folder: Path, turns: int) -> None:
    path = write_database(folder / "databases", "shop")
    source = SqliteSource(folder / "databases")
    before, fresh = fingerprint(path), [(1, "Ada", "London"), (2, "Kurt", "Brno"), (3, "Grace", None)]
    found: list[object] = []

    def episode(number: int) -> None:
        for turn in range(turns):
            with source.open("shop", LIMITS) as database:
                seen = [rows(database.query(NEIGHBOURS))]
                if number % 4 == 0:
                    database.execute(f"{ENDLESS} SELECT count(*) FROM c")
                if number % 2 == 0:
                    database.execute(f"UPDATE customers SET city = 'town {number}.{turn}'")
                    seen.append(rows(database.query("SELECT DISTINCT city FROM customers")))
            found.append(seen == [fresh, [(f"town {number}.{turn}",)]][: len(seen)] or seen)

    threads = [threading.Thread(target=episode, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [True] * 12 * turns
    assert fingerprint(path) == before


@pytest.mark.slow
@pytest.mark.contains("S39")
def test_s39_a_neighbour_answers_during_an_attack(folder: Path) -> None:
    write_database(folder / "databases", "shop")
    source = SqliteSource(folder / "databases")
    with source.open("shop", Limits(seconds=1.2)) as attacked, source.open("shop") as neighbour:
        answers: list[object] = []
        attack = f"{ENDLESS} SELECT count(*) FROM c"
        thread = threading.Thread(target=lambda: answers.append(kind(attacked.execute(attack))))
        thread.start()
        assert len(rows(neighbour.query(NEIGHBOURS))) == 3
        assert len(rows(neighbour.execute("DELETE FROM customers RETURNING 1"))) == 3
        assert answers == [], "the attack still goes on"
        thread.join(60)
        assert answers == ["timeout"]


OPENING_AT_ONCE = """
import sqlite3, sys, threading
from birdenv.databases import SqliteSource

source, times = SqliteSource(sys.argv[1], image="memory-map"), int(sys.argv[2])

def episodes():
    for _ in range(times):
        with source.open("shop") as database:
            database.execute("DELETE FROM orders")

def others():
    for _ in range(10 * times):
        sqlite3.connect(":memory:").close()

threads = [threading.Thread(target=work) for work in [episodes, others] * 6]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.slow
@pytest.mark.contains("S39")
@pytest.mark.parametrize("times", [100, pytest.param(300, marks=pytest.mark.slow)])
def test_s39_images_are_made_while_others_open_connections(tmp_path: Path, times: int) -> None:
    write_database(tmp_path, "shop")
    assert run(OPENING_AT_ONCE, tmp_path, times) == ""
