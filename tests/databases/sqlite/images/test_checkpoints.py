"""Checkpoints: what an episode has committed, as a value, and put into another episode's database."""

from __future__ import annotations

import pickle
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from database_files import fingerprint, write_database
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from image_kinds import ALL, why_not
from samples import examples

from birdenv.databases import DatabaseState, Limits, QueryError, QueryResult
from birdenv.databases._results import Checkpoint
from birdenv.databases.sqlite import LocalSource, SqliteDatabase, _source
from birdenv.databases.sqlite.images import _image_kinds, _scratch

SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, photo BLOB);
CREATE INDEX by_name ON people (name);
WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 300)
  INSERT INTO people SELECT x, 'person ' || x, zeroblob(1000) FROM c;
"""
PAGE = 4096


@pytest.fixture(autouse=True)
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Statements run in the process of the tests here, as they do in a worker."""
    monkeypatch.setattr(_source, "limit_process", lambda *_: None)


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where images of every kind that the test asks for can be made, with a database `town`."""
    arguments = getattr(request.node, "callspec", None)
    kinds = [value for value in (arguments.params.values() if arguments else ()) if value in ALL]
    for reason in filter(None, map(why_not, kinds)):
        pytest.skip(reason)
    monkeypatch.setenv("BIRDENV_SCRATCH", str(tmp_path))
    monkeypatch.setattr(_scratch, "_mine", None)
    write_database(tmp_path, "town", SCHEMA)
    return tmp_path


def opened(
    place: Path, kind: str = "auto", limits: Limits | None = None, name: str = "town"
) -> SqliteDatabase:
    return LocalSource(place, None, kind).open(name, limits or Limits(seconds=10))  # type: ignore[arg-type]


def checkpoint_of(database: SqliteDatabase) -> Checkpoint:
    checkpoint = database.checkpoint()
    assert isinstance(checkpoint, Checkpoint), checkpoint
    return checkpoint


def state_of(database: SqliteDatabase) -> tuple[DatabaseState, tuple[str, ...], object]:
    """Contents and schema, the definitions letter by letter, and the header's numbers."""
    state = database.state()
    assert isinstance(state, DatabaseState), state
    numbers = [database.execute(f"PRAGMA {name}") for name in ("user_version", "application_id")]
    assert database.execute("PRAGMA integrity_check") == QueryResult(("integrity_check",), [("ok",)])
    return state, state.definitions, numbers


NUMBERS = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 500)"
CHANGES = {
    "small": "INSERT INTO people VALUES (1000, 'new', NULL); PRAGMA user_version = 5",
    "schema": """
        CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (999); DROP INDEX by_name; PRAGMA application_id = 9;
        CREATE TRIGGER g AFTER DELETE ON people BEGIN INSERT INTO t VALUES (old.id); END;
        DELETE FROM people WHERE id < 9; CREATE VIEW v AS SELECT name FROM people;
        ALTER TABLE people ADD COLUMN x DEFAULT 3""",
    "wal": "PRAGMA journal_mode = WAL; UPDATE people SET name = upper(name) WHERE id < 50",
    "vacuumed": "DELETE FROM people WHERE id % 3; VACUUM",
    "shrunk and grown": f"""
        DELETE FROM people; VACUUM; CREATE TABLE u (a); {NUMBERS} INSERT INTO u SELECT zeroblob(2000) FROM c;
        INSERT INTO u VALUES ('x')""",
    "grown, shrunk": "CREATE TABLE u AS SELECT a.id FROM people a, people b; DROP TABLE u; VACUUM",
    "nothing": "BEGIN; ROLLBACK",
}


@pytest.mark.every(4)
@pytest.mark.parametrize("there", ALL)
@pytest.mark.parametrize("here", ALL)
def test_a_checkpoint_fits_into_images_of_every_kind(place: Path, here: str, there: str) -> None:
    path = place / "town" / "town.sqlite"
    before = fingerprint(path)
    for name, script in CHANGES.items():
        with opened(place, here) as first, opened(place, there) as second:
            assert isinstance(first.run([script]), QueryResult), name
            checkpoint = checkpoint_of(first)
            expected = state_of(first)
            second.run(["DROP TABLE people; CREATE TABLE instead (a)"])
            assert second.restore(checkpoint) is None
            assert checkpoint_of(second).size == checkpoint.size, name
            assert state_of(second) == expected, name
            more = "INSERT INTO people (name) VALUES ('later') RETURNING name; "
            results = [each.run([more]) for each in (first, second)]
            assert results[0] == results[1], name
            again = checkpoint_of(second)  # of an image that began with one
            expected = state_of(second)
        with opened(place, here) as third:
            assert third.restore(again) is None
            assert state_of(third) == expected, name
    assert fingerprint(path) == before


@pytest.mark.parametrize("kind", ALL)
def test_what_is_not_committed_is_rolled_back(place: Path, kind: str) -> None:
    with opened(place, kind) as first, opened(place, kind) as second:
        first.run(
            ["DELETE FROM people WHERE id > 5; BEGIN; DELETE FROM people; CREATE TABLE t (a); SAVEPOINT s"]
        )
        checkpoint = checkpoint_of(first)
        assert second.restore(checkpoint) is None
        for database in (first, second):
            assert database.query("SELECT count(*) FROM people").rows == [(5,)]  # type: ignore[union-attr]
            assert isinstance(database.execute("COMMIT"), QueryError)
        assert state_of(first) == state_of(second)


@pytest.mark.parametrize("kind", ALL)
def test_before_any_write_it_is_empty_and_restoring_it_starts_afresh(place: Path, kind: str) -> None:
    with opened(place, kind) as database:
        database.execute("SELECT * FROM people")
        checkpoint = checkpoint_of(database)
        assert (checkpoint.size, checkpoint.pages) == (0, {})
        fresh = database.state()
        database.run(["CREATE TEMP TABLE seen (a); PRAGMA foreign_keys = ON; BEGIN; DROP TABLE people"])
        assert database.restore(checkpoint) is None
        assert not database.is_private
        assert database.state() == fresh
        assert database.execute("PRAGMA foreign_keys") == QueryResult(("foreign_keys",), [(0,)])
        assert database.execute("SELECT count(*) FROM sqlite_temp_schema").rows == [(0,)]  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ALL)
def test_temporary_tables_and_pragmas_are_not_part_of_it(place: Path, kind: str) -> None:
    with opened(place, kind) as database:
        database.run(["CREATE TEMP TABLE seen (a); PRAGMA foreign_keys = ON; CREATE TABLE kept (a)"])
        assert database.restore(checkpoint_of(database)) is None
        assert database.execute("SELECT a FROM kept") == QueryResult(("a",), [])
        assert isinstance(database.execute("SELECT a FROM seen"), QueryError)
        assert database.execute("PRAGMA foreign_keys") == QueryResult(("foreign_keys",), [(0,)])
        counters = database.execute("SELECT changes(), total_changes(), last_insert_rowid()")
        assert counters.rows == [(0, 0, 0)]  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ALL)
def test_it_is_a_branch_that_can_be_taken_more_than_once(place: Path, kind: str) -> None:
    with opened(place, kind) as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS a")
        checkpoint = checkpoint_of(database)
        for _ in range(3):
            assert database.restore(checkpoint) is None
            assert database.execute("UPDATE t SET a = a + 1 RETURNING a").rows == [(2,)]  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ALL)
def test_its_size_is_that_of_the_changed_pages(place: Path, kind: str) -> None:
    with opened(place, kind) as database:
        database.execute("UPDATE people SET name = 'x' WHERE id = 7")
        checkpoint = checkpoint_of(database)
    size = (place / "town" / "town.sqlite").stat().st_size
    assert checkpoint.size == size
    held = sum(map(len, checkpoint.pages.values()))
    assert 0 < held <= (8 * PAGE if kind == "memory-map" else size)


@pytest.mark.parametrize("kind", ["memory-map"])
def test_where_the_system_does_not_show_its_page_tables(
    place: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(place, kind) as database, opened(place, kind) as other:
        database.run([CHANGES["shrunk and grown"]])
        by_tables = checkpoint_of(database)
        monkeypatch.setattr(_image_kinds.PrivateMemory, "_marked", lambda *_: None)
        compared = checkpoint_of(database)
        assert compared.pages.items() <= by_tables.pages.items()
        assert other.restore(compared) is None
        assert state_of(other) == state_of(database)
        small = "SELECT 1"
        other.restore(Checkpoint(compared.version, 0, {}))
        other.run(["BEGIN; ROLLBACK", small])
        assert checkpoint_of(other).pages == {}, "the file as it is"


@pytest.mark.parametrize("kind", ALL)
def test_over_the_limit_on_bytes_it_is_an_error_and_the_episode_goes_on(place: Path, kind: str) -> None:
    with opened(place, kind, Limits(bytes=100_000)) as database:
        grow = "CREATE TABLE t AS SELECT a.id, b.name FROM people a, people b LIMIT 20000"
        assert isinstance(database.execute(grow), QueryResult)
        error = database.checkpoint()
        assert isinstance(error, QueryError)
        assert (error.kind, error.message) == (
            "too_large",
            "cannot create a checkpoint: the changes take more than 100000 bytes",
        )
        assert database.execute("SELECT count(*) FROM t").rows == [(20000,)]  # type: ignore[union-attr]


def test_another_file_or_version_is_refused(place: Path) -> None:
    path = write_database(place, "other", SCHEMA)
    with opened(place) as database, opened(place, name="other") as other:
        database.execute("CREATE TABLE t (a)")
        checkpoint = checkpoint_of(database)
        for wrong in (checkpoint, Checkpoint(checkpoint.version, 0, {})):
            with pytest.raises(
                ValueError, match="a different database, or to a different version of its file"
            ):
                other.restore(wrong)
        old = checkpoint_of(other)
    path.write_bytes(path.read_bytes() + bytes(PAGE))
    with opened(place, name="other") as changed, pytest.raises(ValueError, match="a different version"):
        changed.restore(old)


def test_a_closed_database_has_none(place: Path) -> None:
    database = opened(place)
    checkpoint = checkpoint_of(database)
    database.close()
    with pytest.raises(ValueError, match="closed"):
        database.checkpoint()
    with pytest.raises(ValueError, match="closed"):
        database.restore(checkpoint)


def test_one_that_does_not_fit_is_an_error_or_a_damaged_database_and_nothing_worse(place: Path) -> None:
    """A checkpoint comes from our own hands, but may have been kept by somebody who cut it."""
    path = place / "town" / "town.sqlite"
    before = fingerprint(path)
    with opened(place) as database:
        database.execute("DELETE FROM people")
        good = checkpoint_of(database)
        for bad in (
            replace(good, pages={2**40: b"x" * PAGE}),
            replace(good, pages={-PAGE: b"x" * PAGE}),
            replace(good, size=1),
            replace(good, size=2**45),
            replace(good, pages={0: b"\xff" * PAGE}),
        ):
            for kind in ALL:
                with opened(place, kind) as other:
                    with suppress(ValueError):
                        other.restore(bad)
                    assert isinstance(other.execute("SELECT count(*) FROM people"), QueryResult | QueryError)
                    assert isinstance(other.execute("DELETE FROM people"), QueryResult | QueryError)
    assert fingerprint(path) == before


def test_it_can_be_pickled(place: Path) -> None:
    with opened(place, "auto") as database, opened(place, "copy") as other:
        database.run([CHANGES["schema"]])
        checkpoint = checkpoint_of(database)
        again = pickle.loads(pickle.dumps(checkpoint))
        assert again == checkpoint
        assert other.restore(again) is None
        assert state_of(other) == state_of(database)
        assert "person" not in repr(checkpoint), "its contents are not shown where it is logged"


# --- any script at all -----------------------------------------------------------------------------------

number = st.integers(0, 400)
table = st.sampled_from(["people", "one", "two"])
CONTROL = """
BEGIN
COMMIT
ROLLBACK
SAVEPOINT s
ROLLBACK TO s
RELEASE s
VACUUM
ANALYZE
REINDEX
PRAGMA journal_mode = WAL
PRAGMA journal_mode = DELETE
PRAGMA secure_delete = 0
PRAGMA auto_vacuum = 2
PRAGMA incremental_vacuum
CREATE TEMP TABLE one (id INTEGER PRIMARY KEY, name, photo)
DROP TABLE temp.one
"""
writes = st.one_of(
    st.builds("INSERT INTO {} (name) VALUES ('{}')".format, table, number),
    st.builds(
        "INSERT INTO {} (name, photo) VALUES ({}, randomblob({}))".format,
        table,
        number,
        st.integers(0, 9_000),
    ),
    st.builds("UPDATE {} SET name = name || '!' WHERE rowid % 7 = {}".format, table, st.integers(0, 6)),
    st.builds("DELETE FROM {} WHERE rowid > {}".format, table, number),
    st.builds(
        "CREATE TABLE {} (id INTEGER PRIMARY KEY, name UNIQUE ON CONFLICT REPLACE, photo)".format, table
    ),
    st.builds("CREATE INDEX i{} ON {} (name)".format, st.integers(0, 2), table),
    st.builds("INSERT INTO {} (name, photo) SELECT name, photo FROM people LIMIT {}".format, table, number),
    st.builds("DROP TABLE {}".format, table),
    st.builds("ALTER TABLE {} ADD COLUMN c{}".format, table, st.integers(0, 2)),
    st.builds("PRAGMA user_version = {}".format, number),
    st.sampled_from(CONTROL.strip().split("\n")),
)
kinds = st.sampled_from([kind for kind in ALL if not why_not(kind)])


def check_any_script(place: Path, script: list[str], more: list[str], here: str, there: str) -> None:
    with opened(place, here) as first, opened(place, there) as second, opened(place, here) as third:
        for sql in script:
            first.execute(sql)
        assert second.restore(checkpoint_of(first)) is None
        expected = state_of(first)
        assert state_of(second) == expected
        for sql in more:
            second.execute(sql)
        assert third.restore(checkpoint_of(second)) is None
        assert state_of(third) == state_of(second)
        assert state_of(first) == expected


@pytest.mark.parametrize("kind", ALL)
def test_what_stands_in_a_wal_file_that_is_in_use_is_part_of_it(place: Path, kind: str) -> None:
    """Here the full-text index keeps a statement open, and SQLite does not empty the -wal file."""
    with opened(place, kind) as first, opened(place, kind) as second:
        for sql in ("PRAGMA integrity_check", "PRAGMA journal_mode = WAL", "DELETE FROM people"):
            assert isinstance(first.execute(sql), QueryResult)
        assert second.restore(checkpoint_of(first)) is None
        assert state_of(second) == state_of(first)
        assert second.query("SELECT count(*) FROM people") == QueryResult(("count(*)",), [(0,)])


ANY_SCRIPT = given(st.lists(writes, max_size=12), st.lists(writes, max_size=5), kinds, kinds)
SHARED_PLACE = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@settings(SHARED_PLACE, max_examples=examples(100))
@ANY_SCRIPT
def test_after_any_script_the_state_travels(
    place: Path, script: list[str], more: list[str], here: str, there: str
) -> None:
    check_any_script(place, script, more, here, there)


@pytest.mark.slow
@settings(SHARED_PLACE, max_examples=3000, derandomize=False)
@ANY_SCRIPT
def test_after_many_scripts_the_state_travels(
    place: Path, script: list[str], more: list[str], here: str, there: str
) -> None:
    check_any_script(place, script, more, here, there)
