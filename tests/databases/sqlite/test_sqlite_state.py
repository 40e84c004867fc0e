"""`state()`: equal for two spellings of one thing, different where the thing differs."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from birdenv.databases import QueryError, QueryResult, Result
from birdenv.databases.sqlite import SqliteDatabase

Opened = Callable[[str], SqliteDatabase]

PLAIN = """
CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(10) NOT NULL DEFAULT (1+1) COLLATE NOCASE,
  price REAL CHECK (price > 0), twice REAL AS (price * 2) STORED, UNIQUE (name), CHECK (price <> 7));
CREATE TABLE b (x TEXT, y TEXT, a INT REFERENCES a ON DELETE CASCADE, PRIMARY KEY (x, y)) WITHOUT ROWID;
CREATE UNIQUE INDEX by_lower ON a (lower(name) DESC, price) WHERE price > 1;
CREATE VIEW cheap AS SELECT id, price FROM a WHERE price < 5;
CREATE TRIGGER log AFTER DELETE ON a BEGIN DELETE FROM b WHERE a = old.id; END;
INSERT INTO a (name, price) VALUES ('n', 2);
"""
RESPELLED = """
create table "A" ( -- the same
  [ID] integer not null  primary key autoincrement, `Name` varchar( 10 ) default ( 1 + 1 ) not null
    collate nocase unique,
  "price" real constraint positive check ( "price">0 ), twice real generated always as (price*2) stored,
  check (price/* */!=7) );
create table if not exists b (x text, y text, a int, foreign key (a) references A (id) on delete cascade,
  constraint pk primary key (x, y)) without rowid;
create unique index if not exists by_lower on "a" ( LOWER ( "name" ) desc , price asc ) where "price" > 1;
create view cheap (id, price) as select a.id, a.price from a where price < 5.0;
create trigger log after delete on "a" begin delete from b where a=OLD.id; end;
insert into a (id, price, name) values (1, 2.0, 'n');
"""


def rows(result: Result) -> list[tuple[object, ...]]:
    assert isinstance(result, QueryResult), result
    return list(result.rows)


def test_two_spellings_give_one_state(opened: Opened) -> None:
    plain = PLAIN.replace("id INTEGER PRIMARY", "id INTEGER NOT NULL PRIMARY")
    first, second = opened(plain).state(), opened(RESPELLED).state()
    assert first.schema == second.schema
    assert [rows(result) for result in first.contents.values()] == [
        rows(result) for result in second.contents.values()
    ]
    assert sorted(first.contents) == ["a", "b", "cheap", "sqlite_sequence"]
    json.dumps(first.schema)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("CREATE UNIQUE INDEX by_lower", "CREATE INDEX by_lower"),
        ("price > 1;", "price > 2;"),
        ("lower(name) DESC", "lower(name)"),
        ("lower(name) DESC", "upper(name) DESC"),
        ("CREATE UNIQUE INDEX by_lower ON a (lower(name) DESC, price) WHERE price > 1;", ""),
        (", UNIQUE (name)", ""),
        (" AUTOINCREMENT", ""),
        (" NOT NULL", ""),
        ("(1+1)", "(1+2)"),
        ("VARCHAR(10)", "VARCHAR(11)"),
        (" COLLATE NOCASE", ""),
        (" CHECK (price > 0)", ""),
        ("price > 0", "price >= 0"),
        (", CHECK (price <> 7)", ""),
        ("price * 2", "price * 3"),
        ("STORED", "VIRTUAL"),
        (" ON DELETE CASCADE", ""),
        (" WITHOUT ROWID", ""),
        ("PRIMARY KEY (x, y)", "PRIMARY KEY (y, x)"),
        ("x TEXT, y TEXT", "x TEXT, y TEXT, z TEXT"),
        ("REFERENCES a ", "REFERENCES b "),
        ("CREATE TRIGGER log AFTER DELETE ON a BEGIN DELETE FROM b WHERE a = old.id; END;", ""),
        ("a = old.id", "a = old.id + 1"),
        ("SELECT id, price FROM", "SELECT id, price AS cost FROM"),
        ("price < 5", "price < 1"),
        ("('n', 2)", "('n', 3)"),
        ("('n', 2)", "('N', 2)"),
        (") WITHOUT ROWID;", ") STRICT, WITHOUT ROWID;"),
    ],
)
def test_a_difference_is_seen(opened: Opened, old: str, new: str) -> None:
    assert old in PLAIN
    changed = PLAIN.replace(old, new)
    assert opened(PLAIN).state() == opened(PLAIN).state()
    assert opened(changed).state() != opened(PLAIN).state()


def test_state_follows_the_episode_and_leaves_out_temporary_and_internal_tables(
    database: SqliteDatabase,
) -> None:
    before = database.state()
    assert sorted(before.contents) == ["boxes", "customers", "notes", "orders", "spending"]
    assert set(before.schema) == {f"table {n}" for n in ("boxes", "customers", "notes", "orders")} | {
        "view spending"
    }
    database.run(["CREATE TEMP TABLE customers (fake)", "ANALYZE", "DELETE FROM main.customers WHERE id = 3"])
    after = database.state()
    assert after.schema == before.schema
    customers = after.contents["customers"]
    assert isinstance(customers, QueryResult)
    assert list(customers.rows) == [(1, "Ada", "London"), (2, "Kurt", "Brno")]


def test_odd_names_and_broken_views(opened: Opened) -> None:
    database = opened(
        """CREATE TABLE "a ""b"" (c), d" ("x (" INT COLLATE nocase, 'check' INT CHECK ("check" > 0),
          "y)" AS ("x (" + 1));
        CREATE INDEX "i (" ON "a ""b"" (c), d" ("x (" || ')', 'check' COLLATE nocase) WHERE "x (" <> '(';
        CREATE TABLE gone (a); CREATE VIEW broken AS SELECT a FROM gone; DROP TABLE gone;"""
    )
    state = database.state()
    broken = state.contents["broken"]
    assert isinstance(broken, QueryError)
    assert broken.kind == "missing"
    table = state.schema['table a "b" (c), d']
    assert table["checks"] == ["check > 0"]
    assert [column["collation"] for column in table["columns"]] == ["nocase", "binary", "binary"]
    assert table["columns"][2]["generated_as"] == '"x (" + 1'
    assert table["indexes"][0]["where"] == "\"x (\" != '('"
    json.dumps(state.schema)


def test_renamed_and_added_columns_are_as_if_created_so(opened: Opened) -> None:
    altered = opened("CREATE TABLE t (a INT, b TEXT)")
    altered.run(
        [
            "ALTER TABLE t RENAME COLUMN b TO c",
            "ALTER TABLE t ADD COLUMN d REAL DEFAULT 1",
            "ALTER TABLE t RENAME TO u",
        ]
    )
    assert altered.state().schema == opened("CREATE TABLE u (a INT, c TEXT, d REAL DEFAULT 1)").state().schema
