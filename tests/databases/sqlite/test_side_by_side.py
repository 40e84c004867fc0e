"""An episode beside a private file copy behind plain `sqlite3`: the same answer to every statement.

What is answered in another way on purpose is spelled out here and nowhere else: `REFUSED` (the guard says no)
and `DIFFERENCES` (the guard says yes, but the answer is another).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from database_files import fingerprint, write_database
from hypothesis import example, given, settings
from hypothesis import strategies as st
from image_kinds import ALL, why_not
from plain_copy import Answer, PlainCopy, answer
from samples import examples

from birdenv.databases import Limits, QueryError, QueryResult, SqliteSource

SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT COLLATE NOCASE, age INT UNIQUE);
CREATE TABLE bills (id INTEGER PRIMARY KEY, person INT REFERENCES people ON DELETE CASCADE, total REAL);
CREATE TABLE codes (a TEXT, b INT, c BLOB, PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE INDEX by_person ON bills (person) WHERE total > 1;
CREATE VIEW spending AS SELECT name, sum(total) AS total FROM people JOIN bills ON person = people.id
  GROUP BY name;
CREATE TRIGGER aged AFTER UPDATE OF age ON people BEGIN INSERT INTO codes VALUES ('aged', new.age, NULL); END;
INSERT INTO people VALUES (1, 'Ada', 'London', 36), (2, 'Kurt', 'Brno', 71), (3, 'Größe', NULL, NULL);
INSERT INTO bills VALUES (1, 1, 10.5), (2, 1, 4.5), (3, 2, 7.0);
INSERT INTO codes VALUES ('x', 1, x'00ff'), ('x', 2, 'text'), ('y', 1, 2.5);
CREATE VIRTUAL TABLE notes USING fts5 (body);
CREATE VIRTUAL TABLE boxes USING rtree (id, low, high);
INSERT INTO notes VALUES ('late delivery'), ('paid');
INSERT INTO boxes VALUES (1, 0.0, 2.0);
"""

# --- what differs on purpose -----------------------------------------------------------------------------

REFUSED = """
ATTACH (DATABASE )?'(?!:memory:'|')
VACUUM( \\w+)? INTO
PRAGMA (\\w+\\.)?(cache_size|cache_spill|default_cache_size|max_page_count|mmap_size|page_size) ?[=(]
PRAGMA (\\w+\\.)?(schema_version|temp_store|threads) ?[=(]
PRAGMA (\\w+\\.)?(full_column_names|short_column_names|writable_schema|hard_heap_limit|soft_heap_limit)
PRAGMA (\\w+\\.)?(data_store_directory|temp_store_directory|no_such_pragma)
PRAGMA (\\w+\\.)?journal_mode ?= ?off
CREATE VIRTUAL TABLE (\\w+\\.)?\\w+ USING (?!fts3\\b|fts4\\b|fts5\\b|rtree\\b|rtree_i32\\b)
SELECT .*\\b(load_extension|fts3_tokenizer)\\(
SELECT .*\\bsqlite_dbpage\\b
"""
"""How statements begin that are refused in every episode; one regular expression a line."""

OTHERWISE = """
PRAGMA (\\w+\\.)?(journal_mode|locking_mode|synchronous|wal_checkpoint|temp_store|mmap_size|max_page_count)\\b
PRAGMA (\\w+\\.)?(database_list|function_list)\\b
PRAGMA temp\\.cache_size
"""
"""How statements begin that are answered in another way, by which nothing else becomes different."""


LISTED = "PRAGMA (\\w+\\.)?table_list\\b"


class Difference(NamedTuple):
    """What a script's last statement is answered, here and on a private file copy; None: see the others."""

    script: tuple[str, ...]
    ours: Answer
    plain: Answer
    where: str = "everywhere"
    """Or only: `memory` (the file's pages are in memory), `file` (they are in a file)."""


def cell(name: str, value: object) -> Answer:
    return Answer((name,), ((value,),))


def one(value: object) -> Answer:
    return Answer(("a",), ((value,),))


def error(message: str) -> Answer:
    return Answer(error=message)


CHECKPOINTED = ("busy", "log", "checkpointed")
WRITE = "CREATE TABLE t (a)"
FIVE = tuple(f"ATTACH ':memory:' AS m{i}" for i in range(5))
NUL = "SELECT 1\0"

DIFFERENCES: dict[str, Difference] = {
    "journal_mode is memory": Difference(
        (WRITE, "PRAGMA journal_mode"),
        cell("journal_mode", "memory"),
        cell("journal_mode", "delete"),
        "memory",
    ),
    "no log to be checkpointed": Difference(
        ("PRAGMA journal_mode = WAL", "PRAGMA wal_checkpoint(TRUNCATE)"),
        Answer(CHECKPOINTED, ((0, -1, -1),)),
        Answer(CHECKPOINTED, ((0, 0, 0),)),
    ),
    "synchronous says nothing in memory": Difference(
        ("PRAGMA synchronous = 1", "PRAGMA synchronous"),
        cell("synchronous", 1),
        cell("synchronous", 1),
        "memory",
    ),
    "synchronous is off in a file": Difference(
        (WRITE, "PRAGMA synchronous"), cell("synchronous", 0), cell("synchronous", 2), "file"
    ),
    "mmap_size has no answer": Difference(
        ("PRAGMA mmap_size",), Answer(("mmap_size",)), cell("mmap_size", 0), "memory"
    ),
    "a text without a statement is an error": Difference(
        ("-- nothing",), error("there is no SQL statement in this text"), Answer()
    ),
    "a NUL character": Difference(
        (NUL,), error("the text contains a NUL character"), error("the query contains a null character")
    ),
    "an unknown pragma": Difference(("PRAGMA foo",), error("PRAGMA foo is not allowed"), Answer()),
    "values above 10 MB": Difference(
        ("SELECT length(zeroblob(10000001)) AS a",), error("string or blob too big"), one(10000001)
    ),
    "nesting above 200": Difference(
        ("SELECT " + "1+" * 250 + "1 AS a",),
        error("Expression tree is too large (maximum depth 200)"),
        one(251),
    ),
    "more than 100 compound SELECTs": Difference(
        ("SELECT count(*) AS a FROM (" + " UNION ALL ".join(["SELECT 1"] * 101) + ")",),
        error("too many terms in compound SELECT"),
        one(101),
    ),
    "more than 100 arguments": Difference(
        (f"SELECT max({','.join('1' * 101)}) AS a",), error("too many arguments on function max"), one(1)
    ),
    "LIKE patterns above 500": Difference(
        (f"SELECT 'a' LIKE '{'a' * 501}' AS a",), error("LIKE or GLOB pattern too complex"), one(0)
    ),
    "more than 4 attached databases": Difference(
        FIVE, error("too many attached databases - max 4"), Answer()
    ),
}

PLACES = {"memory-map": "memory", "copy": "file"}


@pytest.mark.parametrize("kind", [kind for kind in ALL if not why_not(kind)])
@pytest.mark.parametrize("name", DIFFERENCES)
def test_what_differs(tmp_path: Path, name: str, kind: str) -> None:
    script, ours, expected, where = DIFFERENCES[name]
    path = write_database(tmp_path, "town", SCHEMA)
    plain = PlainCopy(path, tmp_path, synchronous=True)
    with SqliteSource(tmp_path, image=kind).open("town") as database:
        for sql in script:
            found = answer(database.execute(sql)), plain.execute(sql)
    plain.close()
    applies = where in ("everywhere", PLACES[kind])
    assert found == (ours if applies else expected, expected)


@pytest.mark.parametrize("kind", [kind for kind in ALL if not why_not(kind)])
def test_no_image_has_a_write_ahead_log(tmp_path: Path, kind: str) -> None:
    write_database(tmp_path, "town", "PRAGMA journal_mode = WAL;" + SCHEMA)
    with SqliteSource(tmp_path, image=kind).open("town") as database:
        found = answer(database.execute(WRITE)), answer(database.execute("PRAGMA journal_mode = WAL"))
    assert found[1] == cell("journal_mode", {"memory": "memory", "file": "delete"}[PLACES[kind]])


def test_the_columns_of_a_view_that_a_temporary_table_hides(tmp_path: Path) -> None:
    """SQLite counts them when it first looks at the view."""
    path = write_database(tmp_path, "town", SCHEMA)
    plain = PlainCopy(path, tmp_path)
    script = ("PRAGMA table_list", "CREATE TEMP TABLE spending AS SELECT * FROM codes", "PRAGMA table_list")
    with SqliteSource(tmp_path).open("town") as database:
        for sql in script:
            found, theirs = answer(database.execute(sql)), plain.execute(sql)
    plain.close()
    late = {("main", "spending", "view", 2, 0, 0), ("main", "notes", "virtual", 3, 0, 0)}
    assert {row for row in theirs.rows if row not in found.rows} == late
    assert {(*row[:3], 0, *row[4:]) for row in late} == set(found.rows) - set(theirs.rows)
    assert without_hidden_views(found) == without_hidden_views(theirs)


# --- any statements --------------------------------------------------------------------------------------

number = st.integers(-1, 5).map(str)
schema = st.sampled_from(["", "", "", "main.", "temp.", "m."])
table = st.sampled_from(
    ["people", "bills", "codes", "one", "two", "spending", "notes", "boxes", "sqlite_schema", "nowhere"]
)
column = st.sampled_from(["id", "name", "city", "age", "person", "total", "a", "b", "c", "rowid", "nonesuch"])
literal = number | st.sampled_from(
    ["NULL", "'x'", "'ADA'", "2.5", "x'00ff'", "'Größe'", "''", "1e999", "'7'"]
)
function = st.sampled_from(
    "abs count sum min max avg length upper typeof hex quote total group_concat coalesce trim printf".split()
)
expression = st.recursive(
    literal | column,
    lambda inner: st.one_of(
        st.builds(
            "({} {} {})".format,
            inner,
            st.sampled_from("+ - * / % || < = <> IS AND OR LIKE GLOB IN -> &".split()),
            inner,
        ),
        st.builds("{}({})".format, function, inner),
        st.builds("CASE WHEN {} THEN {} ELSE {} END".format, inner, inner, inner),
        st.builds("CAST({} AS {})".format, inner, st.sampled_from(["TEXT", "INT", "REAL", "BLOB"])),
        st.builds("(SELECT {} FROM {})".format, inner, table),
        st.builds("({} IN ({}, {}))".format, inner, inner, inner),
        st.builds("count(*) OVER (ORDER BY {})".format, inner),
    ),
    max_leaves=4,
)
condition = st.just("") | expression.map(" WHERE {}".format)
source_name = st.builds("{}{}".format, schema, table)
select = st.one_of(
    st.builds("SELECT {} FROM {}{} ORDER BY 1".format, expression, source_name, condition),
    st.builds("SELECT * FROM {}{}".format, source_name, condition),
    st.builds("SELECT {}, {} FROM {} GROUP BY {}".format, expression, expression, source_name, column),
    st.builds("SELECT * FROM {} a JOIN {} b ON a.{} = b.{}".format, table, table, column, column),
    st.builds("WITH w (x) AS (SELECT {} FROM {}) SELECT x, count(*) FROM w".format, expression, table),
    st.builds("SELECT {} UNION SELECT {} EXCEPT SELECT {}".format, literal, literal, literal),
    st.builds("VALUES ({}, {}), ({}, 1)".format, literal, literal, literal),
    st.builds("EXPLAIN QUERY PLAN SELECT * FROM {}{}".format, source_name, condition),
    st.builds("SELECT * FROM pragma_table_info('{}')".format, table),
    st.builds("SELECT {} FROM {} LIMIT {} OFFSET {}".format, column, table, number, number),
)
conflict = st.sampled_from(["", " OR IGNORE", " OR REPLACE", " OR ROLLBACK", " OR FAIL", " OR ABORT"])
returning = st.just("") | expression.map(" RETURNING {}".format) | st.just(" RETURNING *")
upsert = st.sampled_from(["", " ON CONFLICT DO NOTHING", " ON CONFLICT (id) DO UPDATE SET age = age + 1"])
change = st.one_of(
    st.builds(
        "INSERT{} INTO {} VALUES ({}, {}, {}, {}){}".format,
        conflict, source_name, literal, literal, literal, literal, returning,
    ),
    st.builds(
        "INSERT{} INTO {} ({}) VALUES ({}){}{}".format,
        conflict, source_name, column, literal, upsert, returning,
    ),
    st.builds("INSERT INTO {} SELECT * FROM {} LIMIT {}".format, source_name, source_name, number),
    st.builds("REPLACE INTO people (id, name, age) VALUES ({}, {}, {})".format, literal, literal, literal),
    st.builds(
        "UPDATE{} {} SET {} = {}{}{}".format, conflict, source_name, column, expression, condition, returning
    ),
    st.builds("DELETE FROM {}{}{}".format, source_name, condition, returning),
    st.builds("WITH w AS (SELECT 1 AS x) DELETE FROM {} WHERE {} IN w".format, source_name, column),
)  # fmt: skip
new = st.builds("{}{}".format, schema, st.sampled_from(["one", "two", "people"]))
kind = st.sampled_from(["TABLE", "TEMP TABLE", "TABLE IF NOT EXISTS"])
schema_change = st.one_of(
    st.builds("CREATE {} {} (id INTEGER PRIMARY KEY, name UNIQUE, a AS (id + {}))".format, kind, new, number),
    st.builds("CREATE {} {} (a PRIMARY KEY, b CHECK (b <> {})) WITHOUT ROWID".format, kind, new, number),
    st.builds("CREATE {} {} AS {}".format, kind, table, select),
    st.builds("CREATE VIEW {}{} AS {}".format, schema, table, select),
    st.builds("CREATE TEMP VIEW {} AS {}".format, table, select),
    st.builds("CREATE INDEX {}i{} ON {} ({}){}".format, schema, number, table, column, condition),
    st.builds("CREATE UNIQUE INDEX i{} ON {} (lower({}))".format, number, table, column),
    st.builds(
        "CREATE {}TRIGGER g{} {} ON {} BEGIN {}; END".format,
        st.sampled_from(["", "TEMP "]),
        number,
        st.sampled_from(["AFTER INSERT", "BEFORE DELETE", "AFTER UPDATE", "INSTEAD OF INSERT"]),
        table,
        change,
    ),
    st.builds("DROP {} {}{}".format, st.sampled_from(["TABLE", "VIEW", "TABLE IF EXISTS"]), schema, table),
    st.builds("DROP INDEX i{}".format, number),
    st.builds("DROP TRIGGER {}".format, st.sampled_from(["aged", "g1", "g2"])),
    st.builds("ALTER TABLE {} ADD COLUMN {} DEFAULT {}".format, source_name, column, literal),
    st.builds("ALTER TABLE {} RENAME COLUMN {} TO {}".format, table, column, column),
    st.builds("ALTER TABLE {} DROP COLUMN {}".format, table, column),
    st.builds("ALTER TABLE {} RENAME TO {}".format, table, table),
    st.builds("CREATE VIRTUAL TABLE {}{} USING {}".format, schema, table, st.sampled_from(
        ["fts5 (a, b)", "fts4 (a)", "rtree (id, a, b)", "dbstat", "fts5vocab ('one', 'row')"])),
)  # fmt: skip
CONTROL = """
BEGIN; BEGIN IMMEDIATE; BEGIN EXCLUSIVE; COMMIT; ROLLBACK; END; SAVEPOINT s; SAVEPOINT r; ROLLBACK TO s;
ROLLBACK TO r; RELEASE s; RELEASE r; VACUUM; VACUUM main; VACUUM m; ANALYZE; ANALYZE people; REINDEX;
REINDEX NOCASE; ATTACH ':memory:' AS m; ATTACH '' AS m; DETACH m; ATTACH '/nowhere/x' AS x; DETACH main;
VACUUM INTO '/nowhere/x'; SELECT load_extension('x'); SELECT * FROM sqlite_dbpage
"""
control = st.sampled_from([text.strip() for text in CONTROL.split(";")])
pragma = st.one_of(
    st.builds(
        "PRAGMA {}{} = {}".format,
        st.sampled_from(["", "main.", "temp."]),
        st.sampled_from(
            """user_version application_id foreign_keys recursive_triggers case_sensitive_like
            defer_foreign_keys ignore_check_constraints reverse_unordered_selects count_changes
            automatic_index query_only legacy_alter_table secure_delete cell_size_check auto_vacuum
            journal_size_limit analysis_limit max_page_count page_size temp_store schema_version
            writable_schema no_such_pragma full_column_names cache_size""".split()
        ),
        st.sampled_from(["0", "1", "2", "ON", "'x'", "-5"]),
    ),
    st.builds(
        "PRAGMA {}{}".format,
        st.sampled_from(["", "main.", "temp."]),
        st.sampled_from(
            """user_version application_id foreign_keys foreign_key_check integrity_check quick_check
            page_count freelist_count encoding collation_list compile_options table_list
            incremental_vacuum(2) optimize auto_vacuum page_size schema_version secure_delete
            table_info(people) table_xinfo(one) index_list(bills) index_info(by_person)
            index_xinfo(by_person) foreign_key_list(bills) shrink_memory cache_size query_only
            count_changes wal_checkpoint journal_mode synchronous""".split()
        ),
    ),
    st.builds(
        "PRAGMA journal_mode = {}".format, st.sampled_from("WAL DELETE MEMORY TRUNCATE PERSIST off".split())
    ),
)
NONSENSE = """
SELEC 1
SELECT
SELECT 'a
SELECT (1
SELECT ?
SELECT :a
SELECT 1; SELECT 2
(SELECT 1)
SELECT 1;
/* a */ SELECT 1 -- b
None
SELECT * FROM
CREATE
INSERT INTO people
@
"""
nonsense = st.sampled_from(NONSENSE.strip().split("\n"))
counters = st.just("SELECT changes(), total_changes(), last_insert_rowid(), 'a' LIKE 'A'")
statement = st.one_of(select, change, change, schema_change, control, control, pragma, counters, nonsense)
scripts = st.lists(statement, min_size=1, max_size=12)

AT_THE_END = (
    "SELECT changes(), total_changes(), last_insert_rowid()",
    "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema",
    "SELECT type, name, tbl_name, sql FROM sqlite_temp_schema",
    "SELECT * FROM people",
    "SELECT * FROM bills",
    "SELECT * FROM codes",
    "SELECT * FROM one",
    "SELECT * FROM two",
    "SELECT * FROM notes WHERE notes MATCH 'late OR paid'",
    "SELECT * FROM boxes WHERE low < 1",
    "PRAGMA user_version",
    "PRAGMA integrity_check",
    "PRAGMA page_count",
    "COMMIT",
    "SELECT * FROM people",
)


CAREFUL_CALL = re.compile(r"\b(printf|trim)\(")
"""What a script holds if a refusal may be the difference of "trim of text that is no UTF-8"."""


def begins(patterns: str, sql: str) -> bool:
    return any(re.match(pattern, sql, re.IGNORECASE) for pattern in patterns.strip().split("\n"))


def without_hidden_views(listed: Answer) -> Answer:
    """An answer to `PRAGMA table_list` without what SQLite counts late, if something temporary hides a view.

    A list of one schema does not say whether that is so.
    """
    temporary = {name for schema, name, *_ in listed.rows if schema == "temp"}
    if temporary and not any(kind == "view" and name in temporary for _, name, kind, *_ in listed.rows):
        return listed
    rows = [
        (schema, name, kind, None if kind in ("view", "virtual") else columns, *rest)
        for schema, name, kind, columns, *rest in listed.rows
    ]
    return listed._replace(rows=tuple(rows))


class Beside:
    """A source with one database, and a folder for copies of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.path = write_database(folder / "databases", "town", SCHEMA)
        self.source = SqliteSource(folder / "databases")
        self.before = fingerprint(self.path)

    def check(self, script: list[str]) -> None:
        plain = PlainCopy(self.path, self._folder)
        try:
            with self.source.open("town", Limits(seconds=20)) as database:
                for sql in (*script, *AT_THE_END):
                    result = database.execute(sql)
                    if begins(REFUSED, sql):
                        assert isinstance(result, QueryError), sql
                        if result.kind == "denied":
                            continue  # else another error was found first, and must be the plain one's
                    theirs = plain.execute(sql)
                    found = answer(result)
                    if begins(LISTED, sql):
                        found, theirs = without_hidden_views(found), without_hidden_views(theirs)
                    assert found == theirs or begins(OTHERWISE, sql), sql
        finally:
            plain.close()
            for leftover in self._folder.glob("plain.sqlite*"):
                leftover.unlink()
        assert fingerprint(self.path) == self.before


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beside]:
    folder = tmp_path_factory.mktemp("beside")
    yield Beside(folder)
    shutil.rmtree(folder, ignore_errors=True)


MOVES_THE_EPISODE = """
VACUUM; REINDEX; ANALYZE; BEGIN; SAVEPOINT s; ATTACH ':memory:' AS m; DROP TABLE people;
CREATE TEMP TABLE one (a); PRAGMA optimize;
PRAGMA case_sensitive_like = ON; PRAGMA foreign_keys = ON; PRAGMA reverse_unordered_selects = ON;
PRAGMA recursive_triggers = ON; PRAGMA query_only = ON; PRAGMA count_changes = ON; PRAGMA user_version = 9;
PRAGMA legacy_alter_table = ON; PRAGMA empty_result_callbacks = ON; PRAGMA automatic_index = 0
"""
ASKED = (
    "SELECT 'a' LIKE 'A', changes(), total_changes(), last_insert_rowid()",
    "SELECT body FROM notes",
    "SELECT id FROM boxes",
    "SELECT name FROM people",
    "SELECT * FROM sqlite_schema",
    "SELECT * FROM sqlite_temp_schema",
    "SELECT value FROM json_each('[1, 2]')",
    "SELECT * FROM pragma_table_list",
)


def test_nothing_sticks_to_the_connections_that_episodes_share(beside: Beside) -> None:
    """Every statement refused there is run again on an image; SQLite may have begun it all the same."""
    with beside.source.open("town") as first:
        expected = [first.query(sql) for sql in ASKED]
    assert all(isinstance(result, QueryResult) for result in expected)
    for sql in map(str.strip, MOVES_THE_EPISODE.split(";")):
        beside.check([sql])
        with beside.source.open("town") as following:
            assert [following.query(asked) for asked in ASKED] == expected, sql


REFUSED_EXAMPLES = (
    "ATTACH '/nowhere/x' AS x",
    "VACUUM INTO '/nowhere/x'",
    "PRAGMA page_size = 512",
    "PRAGMA main.temp_store = 1",
    "PRAGMA writable_schema",
    "PRAGMA no_such_pragma",
    "PRAGMA journal_mode = OFF",
    "CREATE VIRTUAL TABLE v USING dbstat",
    "SELECT load_extension('x')",
    "SELECT * FROM sqlite_dbpage",
)


def test_what_is_refused_is_refused_on_every_connection(beside: Beside) -> None:
    for pattern, sql in zip(REFUSED.strip().split("\n"), REFUSED_EXAMPLES, strict=True):
        assert begins(pattern, sql)
        with beside.source.open("town") as database:
            for _ in range(2):  # at first on a shared connection
                error = database.execute(sql)
                assert isinstance(error, QueryError), sql
                assert error.kind == "denied" or error.message == "no such table: sqlite_dbpage", (sql, error)
                database.execute("CREATE TABLE IF NOT EXISTS moved (a)")


@settings(max_examples=examples(100))
@example(
    [
        "SELECT 0 FROM people ORDER BY 1",
        "PRAGMA table_list",
        "CREATE TEMP VIEW spending AS SELECT * FROM pragma_table_info('boxes')",
        "PRAGMA main.table_list",
    ]
)
@example(["BEGIN", "INSERT OR ROLLBACK INTO people VALUES (1, 'x', 'x', 1)", "COMMIT"])
@example(["PRAGMA journal_mode = WAL", "DELETE FROM people RETURNING *", "VACUUM", "PRAGMA schema_version"])
@example(["SELECT printf(CAST('%5d|' AS BLOB), 4), printf(x'', 4), format(CAST(0 AS BLOB))"])
@example(["SELECT printf(CAST(x'00ff' AS TEXT)) FROM people", "SELECT trim(x'00ff')"])
@example(["CREATE TABLE one AS SELECT hex(zeroblob(1000000)) AS a", "SELECT max(a LIKE '%1') FROM one"])
@example([f"SELECT '{'a' * 40}b' LIKE '%' || '{'A' * 40}%'", f"SELECT 'b' GLOB '*{'[a-c]' * 40}'"])
@example(
    [
        "CREATE VIRTUAL TABLE one USING fts4 (a)",
        "INSERT INTO one SELECT name FROM people WHERE name LIKE 'A%'",
    ]
)
@example(["DROP TABLE people", "ALTER TABLE notes RENAME TO people"])
@example(["BEGIN", "CREATE VIRTUAL TABLE one USING fts4 (a)", "PRAGMA integrity_check"])
@example(["PRAGMA foreign_keys = 1", "PRAGMA defer_foreign_keys = 1", "BEGIN", "UPDATE bills SET person = 9"])
@example(
    [f"EXPLAIN SELECT '{'a' * 5000}'", f"/* a */ EXPLAIN INSERT INTO people (name) VALUES ('{'a' * 5000}')"]
)
@given(scripts)
def test_every_answer_is_that_of_a_private_copy(beside: Beside, script: list[str]) -> None:
    beside.check(script)


@pytest.mark.slow
@settings(max_examples=6000, deadline=None, derandomize=False)
@given(scripts)
def test_many_answers_are_those_of_a_private_copy(beside: Beside, script: list[str]) -> None:
    beside.check(script)
