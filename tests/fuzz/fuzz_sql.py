"""Feeds SQL that nobody would write to episodes, guided by the code that it reaches (Atheris, libFuzzer).

    pip install -e '.[fuzz]' && python tests/fuzz/fuzz_sql.py --seconds 60

Whatever the text, an answer is a `QueryResult` or a `QueryError`, in time; the source's bytes and folder stay
as they are, an episode beside sees nothing, and no file appears anywhere. Ends with 0 if that held. Otherwise
the input is kept as `crash-...` (or `timeout-...`, `oom-...`) in the working directory: give its name as an
argument to run it alone.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT COLLATE NOCASE, age INT UNIQUE);
CREATE TABLE bills (id INTEGER PRIMARY KEY, person INT REFERENCES people ON DELETE CASCADE, total REAL);
CREATE INDEX by_person ON bills (person) WHERE total > 1;
CREATE VIEW spending AS SELECT name, sum(total) AS total FROM people JOIN bills ON person = people.id
  GROUP BY name;
CREATE TRIGGER aged AFTER UPDATE OF age ON people BEGIN INSERT INTO bills (person) VALUES (new.id); END;
CREATE VIRTUAL TABLE notes USING fts5 (body);
CREATE VIRTUAL TABLE boxes USING rtree (id, low, high);
INSERT INTO people VALUES (1, 'Ada', 'London', 36), (2, 'Kurt', 'Brno', 71), (3, 'Größe', NULL, NULL);
INSERT INTO bills VALUES (1, 1, 10.5), (2, 1, 4.5), (3, 2, 7.0);
INSERT INTO notes VALUES ('late delivery'), ('paid');
INSERT INTO boxes VALUES (1, 0.0, 2.0);
"""
SEEDS = """
SELECT name, count(*) FROM people JOIN bills ON person = people.id GROUP BY name ORDER BY 2 DESC LIMIT 3
SELECT * FROM people WHERE city LIKE 'l%' AND age BETWEEN 30 AND 40 OR name IN (SELECT name FROM spending)
WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT sum(x) OVER (ORDER BY x) FROM c
WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c
CREATE TABLE t (a INTEGER PRIMARY KEY, b UNIQUE, c AS (a + 1)); INSERT INTO t VALUES (1, 2) RETURNING *
BEGIN; UPDATE people SET age = age + 1; SAVEPOINT s; DELETE FROM bills; ROLLBACK TO s; COMMIT; VACUUM
CREATE TEMP TABLE seen AS SELECT 1; CREATE TEMP TRIGGER w AFTER DELETE ON people BEGIN SELECT 1; END
INSERT INTO people (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING id
ALTER TABLE people ADD COLUMN x DEFAULT 1; ALTER TABLE people RENAME x TO y; ALTER TABLE bills DROP total
PRAGMA foreign_keys = ON; DELETE FROM people; PRAGMA foreign_key_check; PRAGMA user_version = 7
PRAGMA table_info(people); SELECT * FROM pragma_index_list('bills'); PRAGMA integrity_check
ATTACH ':memory:' AS m; CREATE TABLE m.t AS SELECT 1; DETACH m; ATTACH '/tmp/x' AS x; VACUUM INTO '/tmp/x'
SELECT highlight(notes, 0, '[', ']') FROM notes('late'); INSERT INTO notes (notes) VALUES ('optimize')
SELECT id FROM boxes WHERE low <= 1 AND high >= 1; CREATE VIRTUAL TABLE v USING fts4 (a); DROP TABLE v
SELECT json_extract('{"a": [1]}', '$.a[0]'), json_group_array(name) FROM people, json_each('[1, 2]')
SELECT printf('%5.2f|%s', total, person), trim(' a ', ' a'), hex(zeroblob(9)) FROM spending, bills
SELECT CASE WHEN age > 40 THEN 'old' ELSE 'young' END, CAST(age AS TEXT) || 'x', date('now') FROM people
EXPLAIN QUERY PLAN SELECT * FROM people; EXPLAIN SELECT 1; ANALYZE; REINDEX; SELECT * FROM sqlite_schema
PRAGMA journal_mode = WAL; PRAGMA wal_checkpoint; PRAGMA locking_mode = 1; PRAGMA auto_vacuum = 2; VACUUM
SELECT 'unterminated; -- comment /* "quoted" [name] `tick` x'00' ?1 :a @b $c 1e999 0x1F
"""
WORDS = """
ABORT ADD AFTER ALL ALTER ANALYZE AND AS ATTACH BEFORE BEGIN BETWEEN CASCADE CASE CAST CHECK COLLATE COLUMN
COMMIT CONFLICT CREATE CROSS DEFAULT DEFERRED DELETE DETACH DISTINCT DROP ELSE END ESCAPE EXCEPT EXCLUSIVE
EXISTS EXPLAIN FILTER FOREIGN FROM FULL GENERATED GLOB GROUP HAVING IGNORE IMMEDIATE IN INDEX INDEXED INSERT
INSTEAD INTERSECT INTO IS ISNULL JOIN KEY LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL NOCASE NOT NULL OFFSET
ON OR ORDER OUTER OVER PARTITION PLAN PRAGMA PRIMARY QUERY RAISE RECURSIVE REFERENCES REGEXP REINDEX RELEASE
RENAME REPLACE RETURNING ROLLBACK ROW ROWS SAVEPOINT SELECT SET STRICT TABLE TEMP THEN TO TRANSACTION
TRIGGER UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH WITHOUT ROWID
sqlite_schema sqlite_master sqlite_sequence sqlite_stat1 sqlite_dbpage pragma_table_info journal_mode
writable_schema user_version foreign_keys case_sensitive_like wal_checkpoint table_list integrity_check
people bills spending notes boxes id name city age person total body low high main temp load_extension(
printf( trim( replace( group_concat( randomblob( zeroblob( hex( json_each( json_tree( like( instr(
row_number() ':memory:' fts5 fts4 rtree count(*) x'00' 9223372036854775807 1e999 ; ( ) , . * || -> ->> << ==
!= -- /* */ ? :a @a $a ' `
"""
LIMIT_SECONDS = 0.2
"""The deadline of a statement; that of the fuzzer for one input is far above that of all its statements."""
STATEMENT_TIMEOUT = 60
CHECK_EVERY = 200  # inputs
READ_STATE, KEEP_CHECKPOINT, START_FROM_CHECKPOINT = 0x10, 0x20, 0x40


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("inputs", nargs="*", type=Path, help="run only these files")
    parser.add_argument("--seconds", type=int, default=60, help="how long (default: 60)")
    parser.add_argument(
        "--corpus", type=Path, help="a folder where interesting inputs are kept for the next time"
    )
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="birdenv-fuzz-"))
    try:
        return run(folder, arguments)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(folder: Path, arguments: argparse.Namespace) -> int:
    """The fuzzer in a process of its own: it never returns, and may be killed by what it finds."""
    corpus = arguments.corpus or folder / "corpus"
    write_seeds(corpus)
    words = folder / "words"
    words.write_text("".join(f'"{as_dictionary(word)}"\n' for word in WORDS.split()))
    options = [f"-max_total_time={arguments.seconds}", f"-timeout={STATEMENT_TIMEOUT}", "-rss_limit_mb=4096"]
    options += [f"-dict={words}", "-max_len=4096", "-print_final_stats=1", "-close_fd_mask=0"]
    targets = [*arguments.inputs] or [corpus]
    scratch = folder / "scratch"
    for made in (folder / "databases" / "town", scratch, folder / "empty"):
        made.mkdir(parents=True)
    write_source(folder / "databases" / "town" / "town.sqlite")
    environment = {
        **os.environ,
        "BIRDENV_FUZZ_FOLDER": str(folder),
        "BIRDENV_SCRATCH": str(scratch),
        "TMPDIR": str(scratch),
    }
    here = f"-artifact_prefix={Path.cwd()}/"
    command = [sys.executable, __file__, "--fuzz", *options, here, *(str(t.absolute()) for t in targets)]
    return subprocess.run(command, env=environment, cwd=folder / "empty", check=False).returncode


def write_seeds(corpus: Path) -> None:
    """The corpus to start from: each seed as one script and as its statements."""
    corpus.mkdir(parents=True, exist_ok=True)
    for line in SEEDS.strip().split("\n"):
        for text in (line, *line.split("; ")):
            for way in (0, 1 | READ_STATE, 2 | KEEP_CHECKPOINT, 1 | START_FROM_CHECKPOINT):
                data = bytes([way]) + text.encode()
                (corpus / hashlib.sha1(data).hexdigest()).write_bytes(data)


def as_dictionary(word: str) -> str:
    return "".join(c if c.isalnum() or c in " _(" else f"\\x{ord(c):02x}" for c in word)


def write_source(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA)
    connection.close()


def fuzz() -> None:
    import atheris

    with atheris.instrument_imports(include=["birdenv.databases"]):
        import birdenv.databases  # noqa: F401
    target = Target(Path(os.environ["BIRDENV_FUZZ_FOLDER"]))
    atheris.Setup([sys.argv[0], *sys.argv[2:]], target.one_input)
    atheris.Fuzz()


class Target:
    """One source; `one_input` is an episode on it, and now and then a look at everything around."""

    def __init__(self, folder: Path) -> None:
        from birdenv.databases import Limits, QueryResult, SqliteSource

        self._folder = folder
        self._source = SqliteSource(folder / "databases")
        self._path = self._source.path("town")
        self._limits = Limits(seconds=LIMIT_SECONDS, rows=1000, bytes=2**22)
        self._calm = Limits(seconds=60)  # the checks must not fail because the machine is busy
        self._neighbour = self._source.open("town", self._calm)
        self._kept: Any = None
        self._inputs = 0
        self._before, self._expected = self._outside(), _seen_by(self._neighbour)
        assert all(isinstance(result, QueryResult) for result in self._expected), self._expected

    def one_input(self, data: bytes) -> None:
        """Bits of the first byte say how the text that follows is cut, and what is done besides."""
        self._inputs += 1
        way, text = (data[0] if data else 0), data[1:].decode("utf-8", "surrogateescape")
        with self._source.open("town", self._limits) as database:
            if way & START_FROM_CHECKPOINT and self._kept is not None:
                self._restore(database, self._kept)
            for piece in _pieces(text, way % 3):
                self._check(database.query(piece))
                self._check(database.execute(piece))
            self._check(database.run([text]))
            if way & KEEP_CHECKPOINT:
                self._keep(database)
                self._check(database.execute(text))
            if way & READ_STATE:
                database.state()
        if self._inputs % CHECK_EVERY == 1:
            self._look_around()

    def _check(self, result: object) -> None:
        from birdenv.databases import QueryError, QueryResult

        assert isinstance(result, QueryResult | QueryError), result
        if isinstance(result, QueryError):
            assert result.message, result
            assert str(self._folder) not in result.message, result

    def _keep(self, database: Any) -> None:
        from birdenv.databases import QueryError

        checkpoint = database.checkpoint()
        if isinstance(checkpoint, QueryError):
            self._check(checkpoint)
        else:
            self._kept = checkpoint
            self._restore(database, checkpoint)

    def _restore(self, database: Any, checkpoint: Any) -> None:
        failure = database.restore(checkpoint)
        if failure is not None:
            self._check(failure)

    def _look_around(self) -> None:
        _equal(self._outside(), self._before)
        _equal(_seen_by(self._neighbour), self._expected)
        with self._source.open("town", self._calm) as fresh:
            _equal(_seen_by(fresh), self._expected)

    def _outside(self) -> list[object]:
        """The source's bytes, and every file where one could have appeared."""
        places = (self._path.parent, self._folder / "scratch", self._folder / "empty")
        files = [entry for place in places for entry in place.rglob("*") if entry.is_file()]
        digest = hashlib.sha256(self._path.read_bytes()).hexdigest()
        return [digest, self._path.stat().st_mtime_ns, sorted(f for f in files if f.name != "lock")]


def _pieces(text: str, way: int) -> list[str]:
    return [[text], text.split(";")[:20], text.split("\n")[:20]][way]


def _seen_by(database: Any) -> list[object]:
    names = ("people", "bills", "spending", "notes", "boxes", "sqlite_schema")
    return [database.query(f"SELECT * FROM {name}") for name in names]


def _equal(found: list[object], expected: list[object]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one == other, f"{one} is no longer {other}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fuzz"]:
        fuzz()
    else:
        sys.exit(main())
