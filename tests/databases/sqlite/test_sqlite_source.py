"""Finding and opening database files: every unusable id or file is an `InputError` that says why."""

from __future__ import annotations

import gc
import hashlib
import os
import shutil
import sqlite3
import threading
from pathlib import Path

import pytest
from database_files import fingerprint, write_database

from birdenv.databases import Checkpoint, Limits, QueryError, QueryResult, SqliteSource
from birdenv.databases.sqlite import is_database_name
from birdenv.databases.sqlite.images._scratch import scratch_root
from birdenv.errors import InputError


def rows(source: SqliteSource, name: str, sql: str) -> list[tuple[object, ...]]:
    with source.open(name) as database:
        result = database.execute(sql)
    assert isinstance(result, QueryResult), result
    return list(result.rows)


def test_names_are_sorted_directories_that_hold_a_file_of_their_name(
    source: SqliteSource, tmp_path: Path
) -> None:
    write_database(tmp_path / "databases", "alpha")
    (tmp_path / "databases" / "no_file").mkdir()
    (tmp_path / "databases" / "README.md").write_text("hello")
    assert source.names() == ["alpha", "shop"]
    assert source.dialect == "sqlite"
    assert source.engine == f"SQLite {sqlite3.sqlite_version}"


def test_path_digest_and_check(source: SqliteSource, tmp_path: Path) -> None:
    path = source.path("shop")
    assert path == tmp_path / "databases" / "shop" / "shop.sqlite"
    source.check("shop")
    assert source.digest("shop") == hashlib.sha256(path.read_bytes()).hexdigest()
    before = source.digest("shop")
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO customers VALUES (9, 'New', NULL)")
    connection.close()
    assert source.digest("shop") != before, "a changed file has another digest"


def test_root_must_be_a_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no database directory"):
        SqliteSource(tmp_path / "missing")


@pytest.mark.parametrize(
    "db_id",
    [
        "",
        ".",
        "..",
        "../shop",
        "shop/../shop",
        "/etc",
        "shop/shop",
        "a\\b",
        "a\0b",
        "a\nb",
        " shop",
        ".hidden",
        "x" * 300,
        "é" * 150,
        "c:shop",
        "\ud800",
        None,
        3,
    ],
)
def test_odd_ids_are_refused(source: SqliteSource, db_id: str) -> None:
    for use in (source.path, source.check, source.digest, source.open):
        with pytest.raises(InputError, match="not a database id"):
            use(db_id)


def test_names_that_no_file_system_takes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="File name too long"):
        SqliteSource(tmp_path / ("x" * 300))
    assert not is_database_name("é" * 150)
    assert is_database_name("two words")


def test_an_unknown_id_says_what_the_directory_holds(source: SqliteSource, tmp_path: Path) -> None:
    for number in range(10):
        write_database(tmp_path / "databases", f"extra{number}", "CREATE TABLE t (a)")
    with pytest.raises(
        InputError, match=r"no database 'shoop' in .*, which contains extra0, .*extra7 and 3 more"
    ):
        source.path("shoop")
    (tmp_path / "databases" / "empty").mkdir()
    with pytest.raises(InputError, match=r"contains no empty\.sqlite"):
        source.path("empty")


def test_a_directory_in_place_of_the_file(source: SqliteSource, tmp_path: Path) -> None:
    (tmp_path / "databases" / "folder" / "folder.sqlite").mkdir(parents=True)
    with pytest.raises(InputError, match="is not a file"):
        source.check("folder")
    (tmp_path / "databases" / "pipe").mkdir()
    os.mkfifo(tmp_path / "databases" / "pipe" / "pipe.sqlite")
    with pytest.raises(InputError, match="is not a file"):
        source.check("pipe")


def test_links(source: SqliteSource, tmp_path: Path) -> None:
    (tmp_path / "databases" / "linked").mkdir()
    link = tmp_path / "databases" / "linked" / "linked.sqlite"
    link.symlink_to(source.path("shop"))
    assert rows(source, "linked", "SELECT count(*) FROM customers") == [(3,)]
    link.unlink()
    link.symlink_to(tmp_path / "gone")
    with pytest.raises(InputError, match="cannot be read"):
        source.check("linked")


def test_a_relative_root_outlives_a_change_of_directory(
    source: SqliteSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    relative = SqliteSource("databases")
    monkeypatch.chdir("/")
    assert rows(relative, "shop", "SELECT count(*) FROM customers") == [(3,)]


@pytest.mark.disk
def test_a_journal_is_settled_in_a_copy_that_goes_with_the_file(source: SqliteSource) -> None:
    path = source.path("shop")
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL").fetchall()
    source = SqliteSource(source.root)
    mine = f"{os.getpid()}-*/*/shop.sqlite"
    for number in range(4, 7):
        writer.execute(f"INSERT INTO customers VALUES ({number}, 'Guest {number}', NULL)")
        before = fingerprint(path)
        assert before[2] == ["shop.sqlite", "shop.sqlite-shm", "shop.sqlite-wal"]
        assert rows(source, "shop", "SELECT count(*) FROM customers") == [(number,)]
        assert len(rows(source, "shop", "DELETE FROM customers RETURNING id")) == number
        assert source.digest("shop") != hashlib.sha256(path.read_bytes()).hexdigest()
        assert fingerprint(path) == before
    assert len(list(scratch_root().glob(mine))) == 1, "the copy of the latest version only"
    writer.close()
    assert rows(source, "shop", "SELECT count(*) FROM customers") == [(6,)]
    assert source.digest("shop") == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_journal_that_is_not_hot_does_not_count(source: SqliteSource) -> None:
    path = source.path("shop")
    path.with_name("shop.sqlite-journal").write_bytes(bytes(28))
    assert rows(source, "shop", "SELECT count(*) FROM customers") == [(3,)]


@pytest.mark.disk
def test_a_file_that_goes_on_being_written_to_is_an_error(
    source: SqliteSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = source.path("shop")
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL").fetchall()
    copied = shutil.copyfile

    def copy_while_writing(*arguments: str) -> str:
        writer.execute("INSERT INTO orders (customer) VALUES (1)")
        return str(copied(*arguments))

    writer.execute("INSERT INTO orders (customer) VALUES (1)")
    monkeypatch.setattr(shutil, "copyfile", copy_while_writing)
    with pytest.raises(InputError, match="is being written to: close the program that writes to it"):
        SqliteSource(source.root).open("shop")
    monkeypatch.undo()
    assert rows(source, "shop", "SELECT count(*) FROM customers") == [(3,)]
    writer.close()


def test_episodes_in_many_threads_do_not_meet(source: SqliteSource) -> None:
    counts: list[object] = []

    def episode(number: int) -> None:
        with source.open("shop") as database:
            for _ in range(number):
                database.execute("INSERT INTO orders (customer, total) VALUES (1, 1)")
            result = database.query("SELECT count(*) FROM orders")
            counts.append((number, result.rows[0][0]) if isinstance(result, QueryResult) else result)

    opened_here = source.open("shop")
    threads = [threading.Thread(target=episode, args=(number,)) for number in range(20)]
    threads.append(threading.Thread(target=lambda: counts.append(opened_here.execute("SELECT 1").rows)))  # type: ignore[union-attr]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    opened_here.close()
    assert [(1,)] in counts
    assert sorted(count for count in counts if isinstance(count, tuple)) == [(n, n + 3) for n in range(20)]


@pytest.mark.parametrize(
    ("field", "value"),
    [("seconds", 0), ("seconds", -1), ("seconds", float("nan")), ("rows", -1), ("bytes", -1)],
)
def test_limits_that_let_nothing_run(field: str, value: float) -> None:
    with pytest.raises(InputError):
        Limits(**{field: value})


@pytest.mark.disk
def test_a_journal_that_was_empty_is_looked_at_again(tmp_path: Path) -> None:
    path = write_database(tmp_path, "shop")
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("UPDATE customers SET city = 'Oslo'")
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    source = SqliteSource(tmp_path)
    assert rows(source, "shop", "SELECT count(*) FROM customers") == [(3,)]
    writer.execute("INSERT INTO customers (name) VALUES ('Alan')")
    assert rows(source, "shop", "SELECT count(*) FROM customers") == [(4,)]
    writer.close()


@pytest.mark.disk
@pytest.mark.parametrize("mode_before", ["DELETE", "WAL"])
def test_a_journal_that_comes_later_is_looked_at(tmp_path: Path, mode_before: str) -> None:
    path = write_database(tmp_path, "shop")
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute(f"PRAGMA journal_mode = {mode_before}").fetchall()
    writer.close()  # and with it the journal
    source = SqliteSource(tmp_path)
    assert rows(source, "shop", "SELECT count(*) FROM customers") == [(3,)]
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL").fetchall()
    writer.execute("INSERT INTO customers (name) VALUES ('Alan')")
    assert rows(source, "shop", "SELECT count(*) FROM customers") == [(4,)]
    writer.close()


@pytest.mark.disk
def test_a_forked_child_leaves_the_settled_copy_of_its_parent(tmp_path: Path) -> None:
    path = write_database(tmp_path, "shop")
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("INSERT INTO customers (name) VALUES ('Alan')")
    with SqliteSource(tmp_path).open("shop") as database:
        assert not isinstance(database.query("SELECT 1"), QueryError)
        child = os.fork()
        if not child:
            del database
            gc.collect()
            os._exit(0)
        os.waitpid(child, 0)
        assert not isinstance(database.execute("DELETE FROM orders"), QueryError)
    writer.close()


def test_a_new_file_beside_a_database_does_not_make_it_another(source: SqliteSource) -> None:
    with source.open("shop") as first:
        first.execute("DELETE FROM orders")
        left = first.checkpoint()
    (source.root / "shop" / "notes.txt").write_text("new")
    with source.open("shop") as second:
        assert isinstance(left, Checkpoint) and second.restore(left) is None
        assert second.query("SELECT count(*) FROM orders") == QueryResult(("count(*)",), [(0,)])


def test_connections_to_what_nobody_uses_any_more_are_closed(tmp_path: Path) -> None:
    path = write_database(tmp_path, "shop")
    gc.collect()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for second in range(20):
        os.utime(path, (second, second))
        assert rows(SqliteSource(tmp_path), "shop", "SELECT count(*) FROM customers") == [(3,)]
    gc.collect()
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 1
