"""What SQLite cannot interrupt: function calls, comparisons and sorts between two looks at the clock.

A worker process is ended in the midst of them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attacked import Attacked, kind

ENDLESS = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"


def texts(size: int) -> str:
    """One row of two texts: `size` zeros, and half as many with a one behind them."""
    values = f"hex(zeroblob({size // 2})), hex(zeroblob({size // 4})) || '1'"
    return f"WITH t (x, y) AS MATERIALIZED (SELECT {values})"


def times(call: str, number: int) -> str:
    return ", ".join([call] * number)


def on_texts(what: str) -> Callable[[int], str]:
    return lambda size: f"{texts(size)} SELECT {what} FROM t"


def by_stars(call: str) -> Callable[[int], str]:
    """2,000 columns of one call that is written once."""
    return on_texts(f"{times('*', 40)} FROM (SELECT {times('*', 50)} FROM (SELECT {call} FROM t)) AS t --")


def on_numbers(what: str) -> Callable[[int], str]:
    return lambda size: f"SELECT {what} FROM ({ENDLESS[:-1]} LIMIT {size // 20}) SELECT x FROM c)"


def inserted(size: int) -> str:
    return f"INSERT INTO g {texts(size)} SELECT x, y FROM t"


def padded(size: int) -> str:
    call = f"length(printf('%.{size}c', 1))"
    return f"SELECT {times(call, 900)}"


TEN_MB = 9_900_000
DOCUMENT = "INSERT INTO notes SELECT replace(hex(zeroblob(50000)), '00', 'a ');"
SNIPPET = "SELECT length(snippet(notes, 0, '<', '>', '..', 64)) FROM notes WHERE notes MATCH 'a'"
TRIGGER = "CREATE TABLE g (a, b); CREATE TRIGGER i AFTER INSERT ON g BEGIN {} END".format(
    "SELECT instr(new.a, new.b);" * 100
)

# Name, script to run before, what makes the statement for values of a size.
STRETCHES: list[tuple[str, str, Callable[[int], str]]] = [
    ("instr", "", on_texts(times("instr(x, y)", 200))),
    ("one instr", "", on_texts("instr(x, y)")),
    ("rows of long calls", "", on_texts(f"sum(instr(x, y)) FROM t, json_each('{list(range(300))}') --")),
    ("replace", "", on_texts(times("length(replace(x, y, 1))", 200))),
    ("like", "", on_texts(f"x LIKE '%{'0' * 498}1'")),
    ("short like", "", on_texts(f"x LIKE '%{'0' * 22}1'")),
    ("many short globs", "", on_texts(" OR ".join([f"x GLOB '*{'[0-9]' * 4}[1]'"] * 190))),
    ("like escape", "", on_texts(f"x LIKE '%{'+0' * 240}1' ESCAPE '+'")),
    ("glob", "", on_texts(f"x GLOB '*{'[0-9]' * 95}1'")),
    ("compare", "", on_texts(f"x NOT IN ({times('x || 1', 300)})")),
    ("negate", "", on_texts(times("-x", 300))),
    ("upper", "", on_texts(times("length(upper(x))", 500))),
    ("trim", "", on_texts(times("length(trim(x, 1 || substr(x, 1, 20)))", 500))),
    ("printf", "", on_texts(times("length(printf('%.999999c', 1))", 2000))),
    ("printf at its bound", "", padded),
    ("json_patch", "", on_numbers("length(json_patch(json_group_object(x, 1), json_group_object(-x, 1)))")),
    ("json_set", "", on_numbers("length(json_set(json_group_array(x)" + ", '$[#]', 1" * 49 + "))")),
    ("json_extract", "", on_numbers("json_extract(json_group_array(x)" + ", '$[#-1]'" * 90 + ")")),
    ("frames", "", on_numbers("group_concat(hex(zeroblob(99999))) OVER (ORDER BY x ROWS 40 PRECEDING)")),
    ("growth", "", lambda _: ENDLESS.replace("1", "'a'", 1).replace("+ 1", "|| x") + " SELECT x FROM c"),
    ("nested calls", "", on_texts(f"length({'quote(' * 25}x{')' * 25})")),
    ("snippet", DOCUMENT, lambda _: SNIPPET),
    ("trigger", TRIGGER, inserted),
    (
        "recursive trigger",
        "PRAGMA recursive_triggers = 1; CREATE TABLE g (a, b); CREATE TRIGGER i AFTER INSERT ON g"
        " BEGIN INSERT INTO g VALUES (hex(new.a), 1); INSERT INTO g VALUES (new.a || new.a, 1); END",
        inserted,
    ),
]

# Functions that are called more often than they are written, or that the statement does not name; with sizes
# that would make them last seconds, not hours.
LONGER_STRETCHES: list[tuple[str, str, Callable[[int], str], int]] = [
    ("alias", "", on_texts(f"instr(x, y) AS a FROM t WHERE max({times('a', 90)}) = 7 --"), 120_000),
    ("stars", "", by_stars("instr(x, y)"), 35_000),
    ("stars of numbers", "", by_stars("x + 1"), 2_000_000),
    ("generated column", "CREATE TABLE g (a, b, c AS (instr(a, b)) STORED)", inserted, 1_400_000),
    ("check", "CREATE TABLE g (a, b, CHECK (instr(a, b) >= 0))", inserted, 1_400_000),
    ("index", "CREATE TABLE g (a, b); CREATE INDEX i ON g (instr(a, b))", inserted, 1_400_000),
    (
        "full text with prefixes",
        f"CREATE VIRTUAL TABLE f USING fts5 (a, prefix='{' '.join(map(str, range(1, 32)))}')",
        lambda size: "INSERT INTO f " + on_numbers("group_concat(hex(randomblob(20)), ' ')")(size),
        4_600_000,
    ),
    (
        "snippet without contents",
        "CREATE VIRTUAL TABLE f USING fts5 (a, content='');"
        " INSERT INTO f (rowid, a) SELECT 1, replace(hex(zeroblob(40000)), '00', 'a ')",
        lambda _: SNIPPET.replace("notes", "f"),
        0,
    ),
]


def attack_with(attacked: Attacked, script: str, sql: str) -> None:
    assert kind(attacked.database.run([script])) == "ok"
    assert kind(attacked.run(sql)) in ("ok", "timeout", "too_large", "denied")


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("script", "make"), [row[1:] for row in STRETCHES], ids=[row[0] for row in STRETCHES]
)
def test_one_long_stretch_is_over_in_time(
    attack: Callable[..., Attacked], script: str, make: Callable[[int], str]
) -> None:
    attack_with(attack("agent"), script, make(TEN_MB))


@pytest.mark.slow
@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("script", "make", "size"),
    [row[1:] for row in LONGER_STRETCHES],
    ids=[row[0] for row in LONGER_STRETCHES],
)
def test_a_stretch_longer_than_it_looks(
    attack: Callable[..., Attacked], script: str, make: Callable[[int], str], size: int
) -> None:
    attack_with(attack("agent"), script, make(size))


# Two names for each of the one before: four billion tables once they are resolved.
VIEWS = "CREATE VIEW v0 AS SELECT 1 AS a;" + "".join(
    f"CREATE VIEW v{i} AS SELECT x.a FROM v{i - 1} x, v{i - 1} y;" for i in range(1, 33)
)


@pytest.mark.contains("S48")
def test_compiling_what_multiplies_itself_is_over_in_time(attack: Callable[..., Attacked]) -> None:
    attacked = attack("agent")
    assert kind(attacked.database.run([VIEWS])) == "ok"
    assert kind(attacked.run("SELECT count(*) FROM v32")) in ("timeout", "too_large", "engine")


@pytest.mark.slow
@pytest.mark.contains("S49")
@pytest.mark.parametrize("way", ["DELETE FROM big", "DROP TABLE big", "UPDATE big SET a = 1"])
def test_what_goes_at_once_goes_in_time(attack: Callable[..., Attacked], way: str) -> None:
    """300 MB, a third of what a database may grow by: rows of 10 MB, between which there are few looks."""
    attacked = attack("agent")
    assert kind(attacked.database.execute("CREATE TABLE big (a)")) == "ok"
    for _ in range(30):
        assert kind(attacked.run("INSERT INTO big VALUES (zeroblob(9900000))")) == "ok"
    assert kind(attacked.run(way)) in ("ok", "timeout")
