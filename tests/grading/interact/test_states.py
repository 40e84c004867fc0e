"""What prediction and gold leave of a database: schema and contents, object by object."""

from __future__ import annotations

from typing import Any

import pytest

from birdenv.databases import DatabaseState, Limits
from birdenv.grading.interact._management import changed_objects, first_difference

ADD = "INSERT INTO item VALUES (5, 'cap', 0.5)"

# gold, prediction, part of what is said; nothing where the states are the same
CASES = {
    "the same": (ADD, ADD, ""),
    "another way": (ADD, "INSERT INTO item(price, name, id) SELECT 0.5, 'cap', 5;", ""),
    "in two steps": (ADD, f"BEGIN; {ADD}; UPDATE item SET id = id; COMMIT", ""),
    "nothing done": (ADD, "SELECT 1", "cheap: 2 rows expected, 1 returned"),
    "wrong value": (ADD, ADD.replace("0.5", "0.7"), "item: numbers differ"),
    "too much": (ADD, f"{ADD}; DELETE FROM sale", "sale: 3 rows expected, 0 returned"),
    "undone": (ADD, f"BEGIN; {ADD}; ROLLBACK", "rows expected"),
    "a table": ("CREATE TABLE t (a INT)", "create table T (\n a INT\n)", ""),
    "a table missing": ("CREATE TABLE t (a INT)", "SELECT 1", "table t is missing"),
    "a table too many": (ADD, f"{ADD}; CREATE TABLE t (a)", "table t is not expected"),
    "another type": ("CREATE TABLE t (a INT)", "CREATE TABLE t (a TEXT)", "table t differs"),
    "a view by its rows": (
        "CREATE VIEW v AS SELECT name FROM item WHERE price > 2",
        "CREATE VIEW v AS SELECT i.name FROM item i WHERE NOT i.price <= 2",
        "",
    ),
    "a view with other rows": (
        "CREATE VIEW v AS SELECT name FROM item WHERE price > 2",
        "CREATE VIEW v AS SELECT name FROM item WHERE price >= 2",
        "v: 1 row expected, 2 returned",
    ),
    "a broken view": (
        "CREATE VIEW v AS SELECT name FROM item",
        "CREATE VIEW v AS SELECT name FROM items",
        "the definition of view v differs",
    ),
    "views that fail alike": (
        "CREATE VIEW v AS SELECT name FROM nowhere",
        "create view V as select name from nowhere",
        "",
    ),
    "views that fail otherwise": (
        "CREATE VIEW v AS SELECT name FROM nowhere",
        "CREATE VIEW v AS SELECT name FROM elsewhere",
        "v: fails with an unexpected error",
    ),
}


def state_after(source: Any, script: str) -> DatabaseState:
    with source.open("shop", Limits(seconds=1.0)) as database:
        database.run((script,))
        state = database.state()
    assert isinstance(state, DatabaseState), state
    return state


@pytest.mark.parametrize(("gold", "prediction", "says"), CASES.values(), ids=CASES.keys())
def test_first_difference(source: Any, gold: str, prediction: str, says: str) -> None:
    found = first_difference(state_after(source, gold), state_after(source, prediction))
    assert says in found
    assert bool(found) == bool(says)


def test_changed_objects_are_named(source: Any) -> None:
    before, after = state_after(source, "SELECT 1"), state_after(source, f"{ADD}; CREATE TABLE t (a)")
    assert changed_objects(before, after) == {"rows of item", "rows of cheap", "table t", "rows of t"}
