"""Feeds random statements to episodes and graders, and compares the answers with those of another way.

    python tests/fuzz/fuzz_answers.py statements --seconds 60

* `statements`: scripts in an episode against plain `sqlite3` on a copy: the same answers, or a refusal.
* `remembered`: the same query from the cache and executed: the same rows.
* `memory`: episodes that fill temporary and attached tables: a value each time, and golds still run.
* `undecodable`: functions and table functions of SQLite, all of them, with arguments that are no UTF-8,
  against plain `sqlite3`; and such text in a full-text index.
* `verdicts`: pairs of queries; every grader has a verdict, a query agrees with itself, and EX is symmetric.
* `outside`: long texts of few pieces to what reads models, endpoints, agents and files: an answer in time.

Ends with 0 if all held; otherwise prints the seed and the script, and `--seed` runs it again.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from operator import methodcaller
from pathlib import Path
from typing import Any

from fuzz_sql import SCHEMA, SEEDS

from birdenv.databases import Limits, QueryError, QueryResult, SqliteSource
from birdenv.databases.cache import ResultCache
from birdenv.databases.postgres.loading._column_types import column_type
from birdenv.errors import BirdenvError
from birdenv.grading import ExGrader, PairGrader, reads_no_table
from birdenv.grading._answer_cleaning import clean_sql
from birdenv.llm._completion import read_completion
from birdenv.llm._errors import TransientError, without_key
from birdenv.runs.blame._readings import bare_snippet, tokens
from birdenv.sql import at_date, first_keyword, split_statements
from birdenv.tasks.sql.markup_reading import read_output
from birdenv.users.model_user._encoder import makes_the_choice, read_choice
from birdenv.users.understanding._message import pieces_of

VALUES = [
    value.replace("_", " ")
    for value in """1 -1 0 0.5 1e999 NULL '' 'x' 'é' '12abc' x'ff' CAST(x'ff41'_AS_TEXT)
    9223372036854775807 name city
age id total body zeroblob(9)
    'a%' '%5d' printf('%s',age) (SELECT_max(age)_FROM_people) rowid""".split()
]
FUNCTIONS = """abs upper lower length hex quote typeof trim ltrim rtrim replace instr substr round coalesce
nullif unicode char printf format like glob max min json json_array json_type soundex date strftime sum total
count group_concat avg unhex ifnull sign""".split()
SOURCES = """people bills spending notes boxes people,bills pragma_table_info('people')
pragma_table_info(x'ff')
json_each('[1,[2]]') (SELECT*FROM(people))""".split()
WRITES = """
INSERT INTO notes SELECT {v} FROM {s}
INSERT INTO people (id, name) VALUES (NULL, {v})
UPDATE people SET city = {v} WHERE {v}
DELETE FROM bills WHERE {v} > {v}
CREATE TABLE t AS SELECT {v} AS a FROM {s}
CREATE TEMP TABLE u AS SELECT {v} AS a
CREATE VIRTUAL TABLE w USING fts4 (body)
INSERT INTO w SELECT {v} FROM {s}
SELECT * FROM w WHERE w MATCH 'x'
SELECT * FROM notes WHERE notes MATCH 'late'
DROP TABLE notes_data
BEGIN
COMMIT
ROLLBACK
SAVEPOINT s
RELEASE s
ALTER TABLE bills RENAME TO notes2
""".strip().split("\n")
CHANGING = ("random", "now", "date", "strftime", "current")
PASSED_OVER = (*CHANGING, "endless", "recursive", "pragma ", "attach", "vacuum into")
REFUSALS = (
    "no SQL statement",
    "not allowed",
    "not UTF-8",
    "ordinary table",
    "too large",
    "values of up to",
    "may not be",
    "string or",
)
LIMITS = Limits(seconds=5, rows=2_000)


def value(rng: random.Random, depth: int = 3) -> str:
    if depth == 0 or rng.random() < 0.4:
        return rng.choice(VALUES)
    if rng.random() < 0.3:
        operator = rng.choice(["+", "||", "=", "<", "AND", "LIKE", "IS", "->>", "%"])
        return f"({value(rng, depth - 1)} {operator} {value(rng, depth - 1)})"
    arguments = ", ".join(value(rng, depth - 1) for _ in range(rng.randint(1, 3)))
    return f"{rng.choice(FUNCTIONS)}({arguments})"


def query(rng: random.Random) -> str:
    columns = ", ".join(f"{value(rng)} AS c{i}" for i in range(rng.randint(1, 3)))
    rest = rng.choice(["", f" WHERE {value(rng)}", f" GROUP BY {value(rng)}", " ORDER BY 1", " LIMIT 2"])
    return f"SELECT {columns} FROM {rng.choice(SOURCES)}{rest}"


def statement(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.5:
        return query(rng)
    if kind < 0.65:
        return rng.choice(rng.choice(SEEDS.strip().split("\n")).split("; "))
    text = rng.choice(WRITES)
    while "{v}" in text:
        text = text.replace("{v}", value(rng), 1)
    return text.replace("{s}", rng.choice(SOURCES))


def statements(rng: random.Random, folder: Path) -> None:
    script = [statement(rng) for _ in range(8)]
    plain = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
    plain.text_factory = methodcaller("decode", "utf-8", "surrogateescape")
    plain.deserialize((folder / "town" / "town.sqlite").read_bytes())
    with SqliteSource(folder).open("town", LIMITS) as database:
        for sql in script:
            if any(word in sql.lower() for word in PASSED_OVER):
                continue
            ours = database.execute(sql)
            if isinstance(ours, QueryError) and any(word in ours.message for word in REFUSALS):
                continue
            try:
                theirs: Any = plain.execute(sql).fetchmany(LIMITS.rows)
            except (sqlite3.Error, sqlite3.Warning, UnicodeError):
                theirs = None
            found = list(ours.rows) if isinstance(ours, QueryResult) else None
            if ("EXPLAIN" in sql or "sqlite_" in sql) and (found is None) == (theirs is None):
                continue  # addresses, page numbers
            assert repr(found) == repr(theirs), (script, sql, ours, theirs)
    plain.close()


UNDECODABLE = ["x'ff'", "CAST(x'ff41' AS TEXT)", "CAST(x'c3' AS TEXT)", "CAST(x'eda080' AS TEXT)"]
OTHERS = ["'a'", "1", "NULL", "'[1]'", "'$.a'", "body"]
NOT_COMPARED = "random date time julianday strftime current changes rowid sqlite_ last_insert version".split()


def names(kind: str) -> list[str]:
    connection = sqlite3.connect(":memory:")
    found = [name for (name,) in connection.execute(kind) if name.isidentifier()]
    connection.close()
    return sorted(set(found))


ALL_FUNCTIONS = names("SELECT name FROM pragma_function_list")
TABLE_FUNCTIONS = [
    *(f"pragma_{name}" for name in names("SELECT name FROM pragma_pragma_list")),
    *names("SELECT name FROM pragma_module_list"),
]


def undecodable(rng: random.Random, folder: Path) -> None:
    arguments = [rng.choice(OTHERS) for _ in range(rng.randint(0, 3))]
    arguments.insert(rng.randint(0, len(arguments)), rng.choice(UNDECODABLE))
    listed = ", ".join(arguments)
    table, function = rng.choice(TABLE_FUNCTIONS), rng.choice(ALL_FUNCTIONS)
    sql = rng.choice(
        [
            f"SELECT {function}({listed}) AS a FROM notes",
            f"SELECT {function}({listed}) OVER () AS a FROM notes",
            f"SELECT * FROM {table}({listed.replace('body', '1')})",
            f"SELECT name FROM people WHERE {function}({listed.replace('body', 'name')}) ORDER BY 1",
            f"PRAGMA {table.removeprefix('pragma_')}({arguments[0].replace('body', '1')})",
            f"SELECT rowid FROM notes WHERE notes MATCH {arguments[0]}",
        ]
    )
    moves = ["CREATE TABLE moved (a)", f"INSERT INTO notes VALUES ({rng.choice(UNDECODABLE)})"]
    script = [*(moves if rng.random() < 0.5 else []), sql]
    plain = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
    plain.text_factory = methodcaller("decode", "utf-8", "surrogateescape")
    plain.deserialize((folder / "town" / "town.sqlite").read_bytes())
    with SqliteSource(folder).open("town", LIMITS) as database:
        for sql in script:
            ours = database.execute(sql)
            assert isinstance(ours, QueryResult | QueryError), sql
            if isinstance(ours, QueryError) or any(word in sql.lower() for word in (*NOT_COMPARED, "pragma")):
                continue
            assert repr(list(ours.rows)) == repr(plain.execute(sql).fetchmany(LIMITS.rows)), sql
        assert isinstance(database.query("SELECT count(*) AS n FROM people"), QueryResult)
    plain.close()


def remembered(rng: random.Random, folder: Path, cache: ResultCache = ResultCache()) -> None:  # noqa: B008
    sql = query(rng)
    with SqliteSource(folder).open("town", LIMITS) as database:
        first, again, executed = (
            cache.execute(database, sql),
            cache.execute(database, sql),
            database.execute(sql),
        )
    if isinstance(first, QueryResult) and first.repeatable:
        assert repr(first.rows) == repr(again.rows) == repr(executed.rows), sql  # type: ignore[union-attr]


COUNTED = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT {n})"
FILLED = COUNTED + " SELECT zeroblob({size}) AS a FROM c"


def memory(rng: random.Random, folder: Path) -> None:
    source = SqliteSource(folder)
    episodes = [source.open("town", Limits(seconds=1)) for _ in range(rng.randint(1, 4))]
    for database in episodes:
        database.execute("ATTACH ':memory:' AS m")
        place = rng.choice(["temp", "m", "main"])
        fill = FILLED.format(n=rng.choice([10, 10_000, 10**6]), size=rng.choice([10, 4_000, 10**6]))
        fill += rng.choice(["", " ORDER BY a"])
        result = database.execute(f"CREATE TABLE {place}.big AS {fill}")
        assert isinstance(result, QueryResult | QueryError)
    verdict = ExGrader(source).grade("town", ["SELECT hex(zeroblob(4000000)) AS a"], "SELECT 1")
    assert verdict.status == "wrong_result", verdict
    for database in episodes:
        database.close()


def verdicts(rng: random.Random, folder: Path) -> None:
    source = SqliteSource(folder)
    one, other = (query(rng) for _ in range(2))
    other = rng.choice([one, other, other])
    grader = ExGrader(source, LIMITS)
    there, back = grader.grade("town", [one], other), grader.grade("town", [other], one)
    if {there.status, back.status} <= {"passed", "wrong_result"}:
        assert there.ex == back.ex, (one, other)
        assert there.ex_bird == back.ex_bird, (one, other)
    if one == other and there.status in ("passed", "wrong_result"):
        assert there.ex or any(word in one.lower() for word in CHANGING), one
    with source.open("town", LIMITS) as database:
        PairGrader(lambda sql, _: database.query(sql), "sqlite").grade(one, other)


PIECES = r"""labelled( unlabeled a1 A1. \ \u00 &#0 &#x0 %7 sk- <s> </s> <t> ``` ```sql [ { ( , ; : . 0 0, no
without CREATE SELECT WITH COPY from stdin ALTER TABLE ADD FOREIGN KEY OWNER TO /* */ -- ' " $$ | = < > do you
have any friends named but and or , not $ 9 integer(16 numeric(1 context exceeds é x
'now' date( strftime( age( CURRENT_DATE ( ) now() $$""".split()
PIECES += [" ", "\n", "\t"]
LONG = 20_000
ENDS_WITHIN = 5.0  # seconds of processor time; what is in proportion to the text takes some 0.01


def outside(rng: random.Random, folder: Path) -> None:
    """What models, endpoints, agents, files and people send: long, and of few pieces, again and again."""
    pieces = [rng.choice(PIECES) for _ in range(rng.randint(1, 3))]
    head, tail = (" ".join(rng.choice(PIECES) for _ in range(rng.randint(0, 2))) for _ in range(2))
    text = head + "".join(pieces) * (LONG // len("".join(pieces))) + tail
    for name, read in READERS.items():
        began = time.process_time()
        with suppress(BirdenvError, TransientError, ValueError):
            read(text)
        taken = time.process_time() - began
        assert taken < ENDS_WITHIN, (name, head, pieces, tail, taken)


READERS: dict[str, Callable[[str], object]] = {
    "read_choice": lambda text: read_choice(text, (), ()),
    "makes_the_choice": lambda text: makes_the_choice(text, "", ()),
    "pieces_of": pieces_of,
    "without_key": lambda text: without_key(text, "sk-a1b2c3d4e5"),
    "read_completion": read_completion,
    "read_output": read_output,
    "clean_sql": clean_sql,
    "split_statements": lambda text: list(split_statements(text)),
    "first_keyword": first_keyword,
    "column_type": lambda text: column_type(text, ["a"], True),
    "bare_snippet": bare_snippet,
    "tokens": tokens,
    "reads_no_table": lambda text: reads_no_table(text[:2_000]),
    "at_date, sqlite": lambda text: at_date(text, "2025-02-19", "sqlite"),
    "at_date, postgres": lambda text: at_date(text, "2025-02-19", "postgres"),
}


TARGETS: dict[str, Callable[[random.Random, Path], None]] = {
    "statements": statements,
    "undecodable": undecodable,
    "remembered": remembered,
    "memory": memory,
    "verdicts": verdicts,
    "outside": outside,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=float, default=60, help="how long (default: 60)")
    parser.add_argument("--seed", type=int, help="run this one alone")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="birdenv-fuzz-") as name:
        folder = Path(name)
        (folder / "town").mkdir()
        connection = sqlite3.connect(folder / "town" / "town.sqlite")
        connection.executescript(SCHEMA)
        connection.close()
        end, count = time.monotonic() + arguments.seconds, 0
        seed = random.randrange(2**40) if arguments.seed is None else arguments.seed
        while not count or (time.monotonic() < end and arguments.seed is None):
            try:
                TARGETS[arguments.target](random.Random(seed), folder)
            except BaseException:
                print(f"{arguments.target} fails with --seed {seed}", file=sys.stderr)
                raise
            seed, count = seed + 1, count + 1
    print(f"{arguments.target}: {count} inputs, all as they should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
