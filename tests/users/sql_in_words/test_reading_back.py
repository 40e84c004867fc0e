"""What the user says is enough to write the SQL: answers are read back by rule and run on the databases."""

from __future__ import annotations

import os
import re
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path

import pytest
from sql_from_words import SqlFromWords, Unread

import birdenv
from birdenv.users import Brief
from birdenv.users.sql_in_words import in_words, singular

ROOT = Path(__file__).resolve().parents[3]
MINI = Path(os.environ.get("BIRDENV_SHARED_DATA", ROOT.parent / "shared" / "data")) / "mini_interact"
_QUALIFIED = re.compile(r"\b[A-Za-z]\w*\.(?=[A-Za-z_])")


def tables_of(database: sqlite3.Connection) -> dict[str, list[str]]:
    names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: [row[1] for row in database.execute(f'PRAGMA table_info("{name}")')] for name in names}


def rows(database: sqlite3.Connection, fragment: str, table: str) -> list[tuple[object, ...]] | None:
    try:
        return database.execute(f'SELECT {fragment} FROM "{table}"').fetchall()
    except sqlite3.Error:
        return None


def read_back(brief: Brief, snippet: str, database: sqlite3.Connection) -> str:
    """`equal`, `differs: ..`, `unread`, or `no table` where no single table has all its columns."""
    plain = re.sub(r"(?is)\s+AS\s+[\"\w]+\s*$", "", _QUALIFIED.sub("", snippet)).strip().rstrip(";")
    plain = re.sub(r"(?i)^(?:WHERE|HAVING|SELECT)\s+", "", plain)
    found = [(t, names) for t, names in tables_of(database).items() if rows(database, plain, t) is not None]
    used = {word.lower() for word in re.findall(r"[A-Za-z_]\w*", re.sub(r"'[^']*'", "", plain))}
    found = [(t, names) for t, names in found if used & {name.lower() for name in names}]
    if not found:
        return "no table"
    table, names = found[0]
    words = in_words(snippet, brief).text
    words = re.sub(r"^only (?:cases|those) where ", "", words)
    columns = {in_words(name, brief).text: name for name in names}
    columns |= {f"{said} of the {singular(table)}": name for said, name in columns.items()}
    try:
        sql = SqlFromWords(words, columns).sql()
    except (Unread, IndexError):
        return "unread"
    mine, theirs = rows(database, sql, table), rows(database, plain, table)
    if theirs and len(theirs[0]) > 1:  # a list, for which this reader has no rule
        return "unread"
    return "equal" if mine is not None and mine == theirs else f"differs: {words} | {sql}"


def outcomes(folder: Path | None, step: int = 1) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings: dict[str, str] = {} if folder is None else {"data_dir": str(folder), "ungraded": "include"}
        with birdenv.make_game("c-interact", user=None, **settings) as arena:
            place = arena._tasks.settings.place()[0]
            for task_id in arena.ids[::step]:
                task = arena._tasks.tasks[task_id]
                file = next(iter(sorted((place / task.public.database).glob("*.sqlite"))))
                with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
                    for point in task.private.brief.ambiguities:
                        result = read_back(task.private.brief, point.snippet, database)
                        found.setdefault(result.split(":")[0], []).append(f"{task_id} {point.term}: {result}")
    return found


def test_answers_of_the_demo_are_enough_to_write_the_sql() -> None:
    found = outcomes(None)
    assert found.get("differs", []) == []
    assert len(found["equal"]) >= 55


@pytest.mark.slow
def test_answers_of_mini_interact_are_enough_to_write_the_sql() -> None:
    if not (MINI / "mini_interact.jsonl").exists():
        pytest.skip(f"no Mini-Interact data in {MINI} (set BIRDENV_SHARED_DATA)")
    found = outcomes(MINI, 6)
    assert found.get("differs", []) == []
    assert len(found["equal"]) >= 30


if __name__ == "__main__":
    for folder in (None, MINI):
        counts = outcomes(folder)
        print(folder or "demo", {name: len(of) for name, of in counts.items()})
        print(*counts.get("differs", []), sep="\n")
