"""Dumps become templates whole or not at all."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from birdenv.databases.postgres import (
    PostgresServer,
    find_dumps,
    find_server,
    find_template,
    load_dump,
    templates,
    verify_template,
)
from birdenv.databases.postgres.loading._dumps import Dump
from birdenv.databases.postgres.loading._templates import LONGEST_NAME, database_name
from birdenv.databases.postgres.server._paths import ADMIN
from birdenv.databases.postgres.server._programs import find_binaries
from birdenv.errors import InputError

PREAMBLE = """--
-- PostgreSQL database dump
--
\\restrict h7Kq

SET statement_timeout = 0;
SET some_setting_of_another_version = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET default_table_access_method = heap;

"""

FILES = {
    "author": PREAMBLE
    + """CREATE TABLE public.author (id integer NOT NULL, name text);
ALTER TABLE public.author OWNER TO root;
COPY public.author (id, name) FROM stdin;
1\tAda
2\tIt's; two
\\.
ALTER TABLE ONLY public.author ADD CONSTRAINT author_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.author
    ADD CONSTRAINT author_first_fkey FOREIGN KEY (id) REFERENCES public.chapter(id);
""",
    "book": PREAMBLE
    + """CREATE TABLE public.book (id integer PRIMARY KEY, author integer REFERENCES public.writer(id));
INSERT INTO public.book VALUES (1, 1); INSERT INTO public.book VALUES (2, NULL);
GRANT SELECT ON public.book TO somebody;
""",
    "chapter": PREAMBLE
    + """CREATE TABLE public.chapter (id integer PRIMARY KEY);
INSERT INTO public.chapter VALUES (1), (2);
ALTER TABLE public.chapter ADD CONSTRAINT by FOREIGN KEY (id) REFERENCES public.author;
""",
    "writer": "CREATE TABLE writer (id integer PRIMARY KEY);\nINSERT INTO writer VALUES (1);\n",
}
FOUR_ROWS = "CREATE TABLE IF NOT EXISTS book (id integer);\n" + "INSERT INTO book VALUES (1);\n" * 4
COUNTS = {"author": 2, "book": 2, "chapter": 2, "writer": 1}


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """An official folder, whose name is the test's; its tables refer to tables of later files, and back."""
    made = tmp_path / f"{request.node.originalname[5:45]}_template"
    made.mkdir()
    for name, text in FILES.items():
        (made / f"{name}.sql").write_text(text)
    return made


@pytest.fixture
def dump(folder: Path) -> Dump:
    (found,) = find_dumps(folder)
    return found


@pytest.fixture(autouse=True)
def _nothing_half_loaded(database_names: Callable[[], set[str]]) -> Iterator[None]:
    yield
    assert not [name for name in database_names() if "loading" in name and name.startswith("birdenv_loading")]


def contents(server: PostgresServer, db_id: str, query: str) -> list[tuple[object, ...]]:
    with server.connect(find_template(server, db_id).name, ADMIN) as connection:
        return connection.execute(query.encode()).fetchall()


def test_an_official_folder(server: PostgresServer, dump: Dump) -> None:
    loaded = load_dump(server, dump)
    assert loaded.tables == COUNTS
    assert not loaded.skipped
    template = find_template(server, dump.db_id)
    assert template.stamp.tables == COUNTS
    assert template.stamp.source == "dump"
    assert verify_template(server, template) == []
    assert contents(server, dump.db_id, "SELECT name FROM author ORDER BY id") == [("Ada",), ("It's; two",)]
    keys = "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND convalidated"
    assert contents(server, dump.db_id, keys) == [(3,)]
    is_template = "SELECT datistemplate FROM pg_database WHERE datname = current_database()"
    assert contents(server, dump.db_id, is_template) == [(True,)]


def test_tables_belong_to_a_role_that_can_do_nothing_else(server: PostgresServer, dump: Dump) -> None:
    load_dump(server, dump)
    owners = (
        "SELECT DISTINCT r.rolname, r.rolsuper FROM pg_class AS c JOIN pg_roles AS r ON r.oid = c.relowner"
        " WHERE c.relnamespace = 'public'::regnamespace"
    )
    assert contents(server, dump.db_id, owners) == [("birdenv_owner", False)]


def test_a_dump_cannot_run_programs_on_the_server(
    server: PostgresServer, dump: Dump, folder: Path, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    (folder / "author.sql").write_text(f"COPY (SELECT 1) TO PROGRAM 'touch {told}';")
    with pytest.raises(InputError, match="permission denied"):
        load_dump(server, dump)
    assert not told.exists()


def test_what_pg_dump_writes_comes_back_equal(server: PostgresServer, dump: Dump, tmp_path: Path) -> None:
    load_dump(server, dump)
    program = find_binaries().folder / "pg_dump"
    if not program.exists():
        pytest.skip("no pg_dump here")
    written = tmp_path / "again.sql"
    where = server.conninfo(database_name(dump.db_id))
    subprocess.run([program, "--create", "--clean", "--if-exists", "-f", written, "-d", where], check=True)
    (again,) = find_dumps(written)
    assert load_dump(server, again).tables == COUNTS
    for query in ("SELECT * FROM author ORDER BY 1", "SELECT * FROM book ORDER BY 1"):
        assert contents(server, "again", query) == contents(server, dump.db_id, query)


@pytest.mark.slow
def test_what_is_loaded_is_skipped_until_the_dump_changes(
    server: PostgresServer, dump: Dump, folder: Path
) -> None:
    first = find_template_after(server, dump)
    assert load_dump(server, dump).skipped
    (folder / "writer.sql").write_text(
        "CREATE TABLE writer (id integer PRIMARY KEY); INSERT INTO writer VALUES (1), (7);"
    )
    assert load_dump(server, dump).tables["writer"] == 2
    assert find_template(server, dump.db_id).stamp.digest != first
    assert not load_dump(server, dump, again=True).skipped


def find_template_after(server: PostgresServer, dump: Dump) -> str:
    load_dump(server, dump)
    return find_template(server, dump.db_id).stamp.digest


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "book",
            "CREATE TABLE book (id integer);\n\nINSERT INTO book VALUES ('x');",
            r"book\.sql: line 3: .*integer",
        ),
        (
            "book",
            "CREATE TABLE book (id integer);\nCOPY book FROM stdin;\n1\nx\n\\.\n",
            r"book\.sql: line 4: ",
        ),
        (
            "book",
            "CREATE TABLE book (id integer);\nselect\nnonsense from book;",
            r"book\.sql: line 3: .*nonsense",
        ),
        ("book", "CREATE TABLE book (x integer REFERENCES nowhere);", r"book\.sql: line 1: .*nowhere.*42P01"),
        ("book", "CREATE TABLE book (id integer);\nCOPY book FROM stdin;\n1\n", "the dump is truncated"),
        ("book", "CREATE TABLE book (id integer);\n\\! touch x\n", r"line 2: .* this psql command: .*touch"),
        ("book", "CREATE TABLE book (x integer);\nCOPY book TO STDOUT;", r"book\.sql: line 2: .*COPY"),
        ("book", FOUR_ROWS + "INSERT INTO book VALUES (x);\n" + FOUR_ROWS, r"book\.sql: line 6: .*x"),
        ("book", "CREATE TABLE another (id integer);", r"be incomplete.*do not create a table: book"),
        ("book", "", r"do not create a table: book\.sql"),
        ("chapter", "CREATE TABLE chapter (id integer PRIMARY KEY);", "violates foreign key"),
    ],
)
def test_a_faulty_dump_leaves_the_old_database_as_it_was(
    server: PostgresServer, dump: Dump, folder: Path, name: str, text: str, message: str
) -> None:
    before = find_template_after(server, dump)
    (folder / f"{name}.sql").write_text(text)
    with pytest.raises(InputError, match=message) as failure:
        load_dump(server, dump)
    assert repr(dump.db_id) in str(failure.value) or str(folder) in str(failure.value)
    assert find_template(server, dump.db_id).stamp.digest == before
    shutil.copytree(folder, folder.with_name("new_template"))
    with pytest.raises(InputError):
        load_dump(server, find_dumps(folder.with_name("new_template"))[0])
    assert "new" not in templates(server)


def test_text_in_another_encoding_is_refused(server: PostgresServer, dump: Dump, folder: Path) -> None:
    (folder / "writer.sql").write_bytes("-- é\nCREATE TABLE writer (id integer);".encode("latin-1"))
    with pytest.raises(InputError, match=r"writer\.sql: line 1 is not valid UTF8"):
        load_dump(server, dump)
    assert dump.db_id not in templates(server)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT 1;", "it has no tables"),
        ("CREATE TABLE a (x text); CREATE TABLE b (x text);", "its tables contain no rows"),
    ],
)
def test_an_empty_database_is_refused_by_name(
    server: PostgresServer, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "hollow.sql").write_text(text)
    (found,) = find_dumps(tmp_path / "hollow.sql")
    with pytest.raises(InputError, match=f"'hollow' was not loaded .* incomplete.*{message}"):
        load_dump(server, found)
    assert "hollow" not in templates(server)


def test_a_partial_database_is_refused_by_name(server: PostgresServer, dump: Dump) -> None:
    expected = {**COUNTS, "author": 3, "genre": 8}
    with pytest.raises(InputError, match=r"'author' has 2 rows, expected 3; table 'genre' is missing"):
        load_dump(server, dump, expected=expected)
    load_dump(server, dump, expected=COUNTS)
    with pytest.raises(InputError, match="'genre' is missing"):
        load_dump(server, dump, expected=expected)  # though one is there, with the same digest
    assert find_template(server, dump.db_id).stamp.tables == COUNTS


def test_changes_after_loading_are_seen(server: PostgresServer, dump: Dump) -> None:
    load_dump(server, dump)
    with server.connect(database_name(dump.db_id), ADMIN) as connection:
        connection.execute("DELETE FROM book WHERE id = 2; CREATE TABLE extra (x integer)")
    assert verify_template(server, find_template(server, dump.db_id)) == [
        "table 'book' has 1 rows, expected 2",
        "table 'extra' is not expected",
    ]
    assert load_dump(server, dump, again=True).tables == COUNTS


@pytest.mark.slow
def test_a_database_in_use_is_not_replaced(server: PostgresServer, dump: Dump) -> None:
    load_dump(server, dump)
    with (
        server.connect(database_name(dump.db_id), ADMIN) as reader,
        pytest.raises(InputError, match=r"is in use.*end the runs that use it"),
    ):
        load_dump(server, dump, again=True)
    assert reader.closed
    assert find_template(server, dump.db_id).stamp.tables == COUNTS
    assert contents(server, dump.db_id, "SELECT count(*) FROM book") == [(2,)]


def test_long_names_do_not_meet(server: PostgresServer, folder: Path) -> None:
    long = "labor_certification_applications_" * 3
    names = [long + "a", long + "b", "short"]
    names.append(database_name(names[0]).removeprefix(database_name("")))  # one that looks cut already
    made = {database_name(name) for name in names}
    assert len(made) == len(names)
    assert all(len(name.encode()) < LONGEST_NAME for name in made)
    for name in names[:2]:
        (found,) = find_dumps(folder.rename(folder.with_name(f"{name}_template")))
        load_dump(server, found)
        folder = folder.with_name(f"{name}_template")
    assert {names[0], names[1]} <= set(templates(server))


@pytest.mark.slow
def test_a_killed_loader_leaves_nothing_that_is_found(
    server: PostgresServer, server_cache: Path, tmp_path: Path, wait_until: Callable[..., None]
) -> None:
    slow = tmp_path / "slow.sql"
    slow.write_text("CREATE TABLE a AS SELECT 1 AS x;\nSELECT pg_sleep(600);\n")
    program = (
        "import sys; from pathlib import Path; from birdenv.databases.postgres import *;"
        "load_dump(find_server(), find_dumps(Path(sys.argv[1]))[0])"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(server_cache)}
    loader = subprocess.Popen([sys.executable, "-c", program, slow], env=environment)
    sleeping = "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()"
    with server.connect() as connection:
        wait_until(lambda: bool(connection.execute(sleeping.encode()).fetchall()))
        loader.send_signal(signal.SIGKILL)
        loader.wait()
        assert "slow" not in templates(server)
        slow.write_text("CREATE TABLE a AS SELECT 1 AS x;")
        wait_until(lambda: load_dump(server, find_dumps(slow)[0]).tables == {"a": 1})


@pytest.mark.slow
def test_a_full_disk_is_told_and_nothing_is_kept(
    cache: Path, as_root: None, tmp_path: Path, folder: Path
) -> None:
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=120m", "none", cache], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.decode()}")
    try:
        big = tmp_path / "big.sql"
        big.write_text(
            "CREATE TABLE big (x text);\n"
            "INSERT INTO big SELECT repeat(md5(i::text), 30) FROM generate_series(1, 300000) AS i;\n"
        )
        with find_server() as server:
            load_dump(server, find_dumps(folder)[0])
            with pytest.raises(
                InputError, match=r"'big' cannot be loaded, because the disk .* is full; nothing was left"
            ):
                load_dump(server, find_dumps(big)[0])
            with server.connect() as connection:
                names = connection.execute("SELECT datname FROM pg_database").fetchall()
            assert not [name for (name,) in names if "loading" in name]
            assert [*templates(server)] == [folder.name.removesuffix("_template")]
            server._cluster.stop(force=True)  # type: ignore[union-attr]
    finally:
        subprocess.run(["umount", "-l", cache], check=True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "contains no dumps: expected folders named <db>_template"),
        (lambda path: (path / "a_template").mkdir(), "contains no .sql files: the dump is incomplete"),
    ],
)
def test_a_folder_without_dumps_says_what_is_expected(
    tmp_path: Path, make: Callable[[Path], None], message: str
) -> None:
    make(tmp_path)
    with pytest.raises(InputError, match=message):
        find_dumps(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        find_dumps(tmp_path / "nowhere")


def test_a_folder_of_dumps(tmp_path: Path) -> None:
    (tmp_path / "b_template").mkdir()
    (tmp_path / "b_template" / "t.sql").touch()
    (tmp_path / "a.sql").touch()
    (tmp_path / "README.md").touch()
    found = find_dumps(tmp_path)
    assert [(dump.db_id, dump.one_table_each) for dump in found] == [("a", False), ("b", True)]
