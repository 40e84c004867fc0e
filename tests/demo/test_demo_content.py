"""Checks the content of the demo benchmark itself: databases, tasks, candidates, test cases.

Self-contained on purpose (standard library only): the committed files are the truth, and nothing here goes
through the code that normally loads or grades them.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import re
import sqlite3
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).resolve().parents[2] / "birdenv" / "demo" / "files"
DATABASES = sorted(p.name for p in (DEMO / "databases").iterdir() if p.is_dir())
TASKS: list[dict[str, Any]] = [
    json.loads(line) for line in (DEMO / "c_interact.jsonl").read_text(encoding="utf-8").splitlines()
]
BIRD: list[dict[str, Any]] = json.loads((DEMO / "bird.json").read_text(encoding="utf-8"))

CRITICAL = {
    "knowledge_linking_ambiguity",
    "intent_ambiguity",
    "schema_linking_ambiguity",
    "semantic_ambiguity",
}
NON_CRITICAL = {"sort_ambiguity", "null_ambiguity", "decimal_ambiguity"}
FOLLOW_UP_TYPES = {
    "attribute_change",
    "constraint_change",
    "result_based",
    "topic_pivot",
    "aggregation",
    "state_dependent",
}
CLOCK = re.compile(r"\b(now|random|current_(date|time|timestamp)|localtime)\b", re.IGNORECASE)

by_task = pytest.mark.parametrize("task", TASKS, ids=lambda t: t["instance_id"])
by_bird = pytest.mark.parametrize("item", BIRD, ids=lambda q: f"{q['db_id']}-{q['question_id']}")
by_database = pytest.mark.parametrize("db", DATABASES)


# --------------------------------------------------------------------------------------------- databases


@functools.cache
def sql_text(db: str) -> str:
    return (DEMO / "databases" / db / f"{db}.sql").read_text(encoding="utf-8")


@functools.cache
def template(db: str) -> sqlite3.Connection:
    conn = sqlite3.connect(":memory:")
    conn.executescript(sql_text(db))
    return conn


def build(db: str) -> sqlite3.Connection:
    conn = sqlite3.connect(":memory:")
    template(db).backup(conn)
    return conn


def statements(text: str) -> list[str]:
    """Split at semicolons that end a statement (a trigger body stays whole)."""
    found, current = [], ""
    for part in re.split(r"(?<=;)", text):
        current += part
        if sqlite3.complete_statement(current):
            found.append(current.strip())
            current = ""
    return [*found, current.strip()] if current.strip() else found


def run(conn: sqlite3.Connection, sql: str | list[str]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for text in [sql] if isinstance(sql, str) else sql:
        for statement in statements(text):
            rows = conn.execute(statement).fetchall()
    conn.commit()
    return rows


def fetch(db: str, sql: str | list[str], before: list[str] | None = None) -> list[tuple[Any, ...]]:
    conn = build(db)
    run(conn, before or [])
    return run(conn, sql)


def rounded(rows: list[tuple[Any, ...]], digits: int) -> list[tuple[Any, ...]]:
    # Adding 0.0 makes 1 and 1.0 print alike and turns -0.0 into 0.0.
    def value(v: Any) -> Any:
        return round(float(v), digits) + 0.0 if isinstance(v, int | float) else v

    return [tuple(value(v) for v in row) for row in rows]


def bag(rows: list[tuple[Any, ...]], digits: int = 6) -> Counter[tuple[Any, ...]]:
    return Counter(rounded(rows, digits))


def tables(conn: sqlite3.Connection) -> list[str]:
    found = conn.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [name for (name,) in found]


def state(conn: sqlite3.Connection, digits: int = 6) -> dict[str, Any]:
    """Everything that can be seen from outside, independent of how it was written."""
    seen: dict[str, Any] = {}
    for kind, name, table in conn.execute("SELECT type, name, tbl_name FROM sqlite_master").fetchall():
        if kind in ("table", "view"):
            cursor = conn.execute(f"SELECT * FROM {name}")
            columns = [column[0] for column in cursor.description]
            seen[f"{kind} {name}"] = (columns, bag(cursor.fetchall(), digits))
        elif kind == "index":
            unique = {i[1]: i[2] for i in conn.execute(f"PRAGMA index_list({table})")}
            keys = conn.execute(f"PRAGMA index_info({name})").fetchall()
            seen[f"index {name}"] = (table, unique[name], [key[2] for key in keys])
        else:
            seen[f"{kind} {name}"] = table
    return seen


@functools.cache
def knowledge(db: str) -> dict[int, dict[str, Any]]:
    text = (DEMO / "databases" / db / f"{db}_kb.jsonl").read_text(encoding="utf-8")
    entries = [json.loads(line) for line in text.splitlines()]
    assert len({e["id"] for e in entries}) == len(entries)
    return {e["id"]: e for e in entries}


def children(entry: dict[str, Any]) -> list[int]:
    return [] if entry["children_knowledge"] == -1 else list(entry["children_knowledge"])


# -------------------------------------------------------------------------------------------------- words

STOP_TEXT = (
    "a an the of and or in on at to for by with is are was were be do does did how many much what which who "
    "each per their its it our us them they that this these those all from than then only show give list one "
    "select where as join group order having case when else then null not exists left count"
)
STOP = set(STOP_TEXT.split())


def words(text: str) -> set[str]:
    found = re.findall(r"\d+(?:\.\d+)?|[a-z]+", text.lower().replace("_", " "))
    stems = {re.sub(r"(?<=[a-z]{3})(ies|ed|s|y)$", "", w) for w in found if w not in STOP}
    return {w for w in stems if len(w) > 1 or w.isdigit()}


def overlaps(text: str, candidates: list[str]) -> list[int]:
    target = words(text)
    return [len(target & words(reading)) for reading in candidates]


def hit_rate(scores: list[int], right: int) -> float:
    """Chance that somebody who takes the best score, ties broken at random, takes the right reading."""
    best = [i for i, score in enumerate(scores) if score == max(scores)]
    return 1 / len(best) if right in best else 0.0


def folded(sql: str | list[str]) -> str:
    text = sql if isinstance(sql, str) else "; ".join(sql)
    return re.sub(r"\s+", " ", text).strip().rstrip(";").lower()


def round_digits(sql: str) -> set[int]:
    found = set()
    for start in (m.end() for m in re.finditer(r"\bROUND\(", sql)):
        depth, end = 1, start
        while depth:
            depth += {"(": 1, ")": -1}.get(sql[end], 0)
            end += 1
        found.add(int(sql[start : end - 1].rsplit(",", 1)[1]))
    return found


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text)


# --------------------------------------------------------------------------------------- reading checks


def with_tie_breaks(sql: str, columns: int, direction: str) -> str:
    """The same query with every output column as a further sort key."""
    cut = sql.rfind(" LIMIT ")
    head, tail = (sql[:cut], sql[cut:]) if cut > sql.rfind(")") else (sql, "")
    keys = ", ".join(f"{i} {direction}" for i in range(1, columns + 1))
    sorts = head.rfind(" ORDER BY ")
    return f"{head}{',' if sorts > head.rfind(')') else ' ORDER BY'} {keys}{tail}"


def check_gold_query(db: str, sql: list[str], order: bool, before: list[str] | None = None) -> None:
    rows = fetch(db, sql, before)
    assert 1 <= len(rows) <= 40
    assert any(value is not None for row in rows for value in row)
    text = sql[-1]
    assert not CLOCK.search(text) and '"' not in text
    top = text[text.rfind(")") + 1 :]
    outer_sort = bool(re.search(r"ORDER BY (?:(?!\bOVER\b).)*$", text)) and " ORDER BY " in f" {top}"
    if order:
        assert outer_sort, "order is claimed, but the gold does not sort"
    if order or " LIMIT " in top:
        for direction in ("ASC", "DESC"):
            broken = fetch(db, with_tie_breaks(text, len(rows[0]), direction), before)
            assert (broken == rows) if order else (bag(broken) == bag(rows)), "ties decide the result"
    conn = build(db)
    run(conn, before or [])
    conn.execute("PRAGMA reverse_unordered_selects = ON")
    backwards = run(conn, sql)
    assert (backwards == rows) if order else (bag(backwards) == bag(rows)), "depends on scan order"


def check_query_readings(
    db: str, gold: list[str], candidates: list[str], order: bool = False, before: list[str] | None = None
) -> int:
    assert len(candidates) == 4 and len({folded(r) for r in candidates}) == 4
    expected = fetch(db, gold, before)
    right = []
    for index, reading in enumerate(candidates):
        assert folded(reading) != folded(gold)
        rows = fetch(db, reading, before)
        if bag(rows) == bag(expected):
            right.append(index)
            assert len(rows[0]) == len(expected[0])
            assert not order or rounded(rows, 6) == rounded(expected, 6)
        else:
            assert bag(rows, 2) != bag(expected, 2), reading
            assert set(bag(rows, 2)) != set(bag(expected, 2)), f"only duplicates differ: {reading}"
    assert len(right) == 1, f"{len(right)} candidates agree with the gold"
    return right[0]


def state_after(db: str, steps: list[str], digits: int = 6) -> dict[str, Any]:
    conn = build(db)
    run(conn, steps)
    return state(conn, digits)


def check_management_readings(db: str, gold: list[str], candidates: list[str], before: list[str]) -> int:
    assert len(candidates) == 4 and len({folded(r) for r in candidates}) == 4
    expected = state_after(db, [*before, *gold])
    assert expected != state_after(db, before), "the gold changes nothing"
    right = []
    for index, reading in enumerate(candidates):
        assert folded(reading) != folded(gold)
        if state_after(db, [*before, reading]) == expected:
            right.append(index)
        else:
            assert state_after(db, [*before, reading], 2) != state_after(db, [*before, *gold], 2), reading
    assert len(right) == 1, f"{len(right)} candidates reach the gold state"
    return right[0]


def run_test_case(source: str, db: str, done: list[str], gold: list[str]) -> None:
    """Execute one test case against a database on which ``done`` has been run."""
    conn = build(db)
    run(conn, done)

    def execute_queries(sql: str | list[str], db_name: str, connection: Any) -> tuple[Any, bool, bool]:
        try:
            return run(connection, sql), False, False
        except sqlite3.Error:
            return None, True, False

    scope: dict[str, Any] = {
        "execute_queries": execute_queries,
        "json": json,
        "re": re,
        "datetime": dt.datetime,
        "date": dt.date,
        "Decimal": Decimal,
    }
    exec(compile(source, "test_case", "exec"), scope)
    scope["test_case"](done, gold, db, conn)


def check_test_cases(part: dict[str, Any], db: str, right: int, before: list[str]) -> None:
    gold, candidates = part["sol_sql"], part["candidates"]
    assert part["test_cases"]
    for source in part["test_cases"]:
        assert source.startswith("def test_case(pred_sqls, sol_sqls, db_name, conn):")
        run_test_case(source, db, [*before, *gold], gold)
        run_test_case(source, db, [*before, candidates[right]], gold)
    for done in [[], *([r] for i, r in enumerate(candidates) if i != right)]:
        with pytest.raises(AssertionError):
            for source in part["test_cases"]:
                run_test_case(source, db, [*before, *done], gold)


def base_state(task: dict[str, Any]) -> list[str]:
    """What runs before the follow-up: the gold of phase 1 where it changed the database."""
    return task["sol_sql"] if task["category"] == "Management" else []


@functools.cache
def right_reading(instance_id: str) -> int:
    task = next(t for t in TASKS if t["instance_id"] == instance_id)
    db, gold, candidates = task["selected_database"], task["sol_sql"], task["candidates"]
    if task["category"] == "Management":
        return check_management_readings(db, gold, candidates, [])
    return check_query_readings(db, gold, candidates, task["conditions"]["order"])


@functools.cache
def right_follow_up(instance_id: str) -> int:
    task = next(t for t in TASKS if t["instance_id"] == instance_id)
    db, follow = task["selected_database"], task["follow_up"]
    if follow["category"] == "Management":
        return check_management_readings(db, follow["sol_sql"], follow["candidates"], base_state(task))
    order = follow["conditions"]["order"]
    return check_query_readings(db, follow["sol_sql"], follow["candidates"], order, base_state(task))


@functools.cache
def right_bird(question_id: int) -> int:
    item = next(q for q in BIRD if q["question_id"] == question_id)
    return check_query_readings(item["db_id"], [item["SQL"]], item["candidates"])


def points(task: dict[str, Any]) -> list[dict[str, Any]]:
    return task["user_query_ambiguity"]["critical_ambiguity"] + task["knowledge_ambiguity"]


# ---------------------------------------------------------------------------------------------- databases


@by_database
def test_database_builds_quickly_and_consistently(db: str) -> None:
    start = time.process_time()
    conn = sqlite3.connect(":memory:")
    conn.executescript(sql_text(db))
    assert time.process_time() - start < 0.2
    assert conn.execute("PRAGMA foreign_key_check").fetchall() == []
    names = tables(conn)
    assert 4 <= len(names) <= 6
    links = nulls = 0
    for name in names:
        rows = conn.execute(f"SELECT * FROM {name}").fetchall()
        assert 8 <= len(rows) <= 60, name
        nulls += sum(value is None for row in rows for value in row)
        links += len(conn.execute(f"PRAGMA foreign_key_list({name})").fetchall())
        info = conn.execute(f"PRAGMA table_info({name})").fetchall()
        assert any(column[5] for column in info), f"{name}: no primary key"
    assert links >= 3 and nulls >= 10
    years = set(re.findall(r"'(20\d\d)-\d\d-\d\d", sql_text(db)))
    assert len(years) >= 3


@by_database
def test_database_files_agree_with_the_schema(db: str) -> None:
    conn = build(db)
    folder = DEMO / "databases" / db
    schema = (folder / f"{db}_schema.txt").read_text(encoding="utf-8")
    meanings = json.loads((folder / f"{db}_column_meaning_base.json").read_text(encoding="utf-8"))
    columns = {
        f"{db}|{name}|{column[1]}"
        for name in tables(conn)
        for column in conn.execute(f"PRAGMA table_info({name})")
    }
    assert set(meanings) == columns
    assert all(isinstance(text, str) and text for text in meanings.values())
    for name, sql in conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"):
        assert f"{sql};\nFirst 3 rows:\n" in schema, name
        block = schema.split(f"CREATE TABLE {name} (")[1].split("First 3 rows:\n")[1].splitlines()[1:4]
        for line, row in zip(block, conn.execute(f"SELECT * FROM {name} LIMIT 3"), strict=True):
            assert line.split() == " ".join("NULL" if v is None else str(v) for v in row).split()


@by_database
def test_knowledge_base_is_a_hierarchy(db: str) -> None:
    entries = knowledge(db)
    assert 8 <= len(entries) <= 14
    keys = ["id", "knowledge", "description", "definition", "type", "children_knowledge"]
    for entry in entries.values():
        assert list(entry) == keys
        assert entry["type"] in {"calculation_knowledge", "domain_knowledge", "value_illustration"}
        assert entry["children_knowledge"] == -1 or entry["children_knowledge"]
        for child in children(entry):
            assert child < entry["id"], "children come first, so there is no cycle"
            assert entries[child]["knowledge"].lower().rstrip("s") in entry["definition"].lower()
    assert {e["type"] for e in entries.values()} >= {"calculation_knowledge", "domain_knowledge"}
    middles = {m for e in entries.values() for m in children(e) if children(entries[m])}
    assert len(middles) >= 3


# ----------------------------------------------------------------------------------------------- c-Interact


def test_enough_tasks_of_every_kind() -> None:
    assert len(DATABASES) >= 3
    assert {t["selected_database"] for t in TASKS} == set(DATABASES) == {q["db_id"] for q in BIRD}
    ids = [t["instance_id"] for t in TASKS]
    assert len(set(ids)) == len(ids) >= 34
    assert sum(t["category"] == "Management" for t in TASKS) >= 9
    seen = {a["type"] for t in TASKS for a in t["user_query_ambiguity"]["critical_ambiguity"]}
    assert seen == CRITICAL
    seen = {a["type"] for t in TASKS for a in t["user_query_ambiguity"]["non_critical_ambiguity"]}
    assert seen == NON_CRITICAL
    assert sum(bool(t["knowledge_ambiguity"]) for t in TASKS) >= 8
    assert {t["follow_up"]["type"] for t in TASKS} == FOLLOW_UP_TYPES
    assert {t["difficulty_tier"] for t in TASKS} == {"Easy", "Medium", "Hard"}
    assert {t["high_level"] for t in TASKS} == {True, False}
    sizes = Counter(len(points(t)) for t in TASKS)
    assert set(sizes) == {1, 2, 3} and sizes[1] >= 2 and sizes[2] + sizes[3] > 0.75 * len(TASKS)


def test_management_covers_many_statements_and_follow_ups() -> None:
    managed = [t for t in TASKS if t["category"] == "Management"]
    text = " ".join(s for t in managed for s in t["sol_sql"])
    kinds = ("UPDATE", "INSERT INTO", "DELETE FROM", "CREATE VIEW", "CREATE TABLE", "ALTER TABLE")
    assert [k for k in (*kinds, "CREATE INDEX", "CREATE TRIGGER") if k not in text] == []
    after = Counter((t["follow_up"]["category"], t["follow_up"]["type"]) for t in managed)
    assert after["Query", "state_dependent"] >= 1
    assert sum(n for (category, _), n in after.items() if category == "Management") >= 1


@by_task
def test_task_record(task: dict[str, Any]) -> None:
    db = task["selected_database"]
    mark = "M_" if task["category"] == "Management" else ""
    assert re.fullmatch(rf"{db}_{mark}\d+", task["instance_id"])
    assert task["category"] in {"Query", "Management"}
    for key in ("preprocess_sql", "clean_up_sqls", "sol_sql", "external_knowledge", "test_cases"):
        assert isinstance(task[key], list), key
    assert task["sol_sql"] and task["query"] and task["amb_user_query"] != task["query"]
    assert bool(task["test_cases"]) == (task["category"] == "Management")
    assert set(task["external_knowledge"]) <= set(knowledge(db))
    for part in (task, task["follow_up"]):
        text = " ".join(part["sol_sql"])
        conditions = part["conditions"]
        assert list(conditions) == ["decimal", "distinct", "order"]
        digits = round_digits(text) if part["category"] == "Query" else set()
        assert {conditions["decimal"]} == (digits or {-1})
        assert conditions["distinct"] == bool(re.search(r"SELECT DISTINCT\b", text, re.IGNORECASE))
        assert all("\n" not in s and not s.rstrip().endswith(";;") for s in part["sol_sql"])
        assert not CLOCK.search(text) and '"' not in text


@by_task
def test_ambiguities_are_annotated(task: dict[str, Any]) -> None:
    db, asked = task["selected_database"], task["amb_user_query"]
    gold = squeezed("; ".join(task["sol_sql"]))
    ambiguity = task["user_query_ambiguity"]
    assert list(ambiguity) == ["critical_ambiguity", "non_critical_ambiguity"]
    assert {a["type"] for a in ambiguity["critical_ambiguity"]} <= CRITICAL
    assert {a["type"] for a in ambiguity["non_critical_ambiguity"]} <= NON_CRITICAL
    assert ambiguity["critical_ambiguity"]
    for item in [*points(task), *ambiguity["non_critical_ambiguity"]]:
        assert item["term"] in asked
        assert squeezed(item["sql_snippet"]) in gold
        assert isinstance(item["is_mask"], bool)
    terms = [item["term"].lower() for item in points(task)]
    assert len(set(terms)) == len(terms)
    entries = knowledge(db)
    gone = {item["deleted_knowledge"] for item in task["knowledge_ambiguity"]}
    for item in task["knowledge_ambiguity"]:
        assert item["type"] == "knowledge_ambiguity"
        deleted = item["deleted_knowledge"]
        assert type(deleted) is int and deleted in task["external_knowledge"]
        below = set(children(entries[deleted]))
        above = {e["id"] for e in entries.values() if deleted in children(e)}
        assert below and above, "not the middle of a chain"
        assert not (below | above) & gone, "its neighbours must stay visible"


@by_task
def test_gold_and_readings(task: dict[str, Any]) -> None:
    db = task["selected_database"]
    if task["category"] == "Query":
        check_gold_query(db, task["sol_sql"], task["conditions"]["order"])
    right = right_reading(task["instance_id"])
    if task["category"] == "Management":
        check_test_cases(task, db, right, [])


@by_task
def test_answers_tell_the_right_reading(task: dict[str, Any]) -> None:
    """Hearing every annotated snippet singles out the right reading; missing one leaves a doubt."""
    right, candidates = right_reading(task["instance_id"]), task["candidates"]
    told = [words(item["sql_snippet"]) for item in points(task)]
    scores = [sum(len(t & words(r)) for t in told) for r in candidates]
    assert all(score < scores[right] for i, score in enumerate(scores) if i != right), scores
    for item, tokens in zip(points(task), told, strict=True):
        found = [len(tokens & words(r)) for r in candidates]
        assert min(found) < found[right], f"no reading settles {item['term']!r} the other way: {found}"
        settled = [i for i, n in enumerate(found) if n >= found[right]]
        assert len(points(task)) == 1 or len(settled) > 1, f"{item['term']!r} alone settles the task"


def test_the_question_alone_does_not_tell_the_right_reading() -> None:
    balanced, chance = 0, 0.0
    for task in TASKS:
        right = right_reading(task["instance_id"])
        scores = overlaps(task["amb_user_query"], task["candidates"])
        balanced += max(s for i, s in enumerate(scores) if i != right) >= scores[right]
        chance += hit_rate(scores, right)
    assert balanced >= 2 / 3 * len(TASKS)
    assert chance <= 0.4 * len(TASKS), chance / len(TASKS)


# ----------------------------------------------------------------------------------------------- follow-ups


@by_task
def test_follow_up(task: dict[str, Any]) -> None:
    db, follow, before = task["selected_database"], task["follow_up"], base_state(task)
    assert follow["category"] in {"Query", "Management"} and follow["type"] in FOLLOW_UP_TYPES
    assert set(follow["external_knowledge"]) <= set(knowledge(db))
    assert bool(follow["test_cases"]) == (follow["category"] == "Management")
    right = right_follow_up(task["instance_id"])
    if follow["category"] == "Management":
        check_test_cases(follow, db, right, before)
    else:
        check_gold_query(db, follow["sol_sql"], follow["conditions"]["order"], before)
    scores = overlaps(follow["query"], follow["candidates"])
    assert scores[right] == max(scores), f"the text points to another reading: {scores}"
    assert folded(follow["sol_sql"]) != folded(task["sol_sql"])


@pytest.mark.parametrize(
    "task",
    [t for t in TASKS if t["follow_up"]["type"] == "state_dependent"],
    ids=lambda t: t["instance_id"],
)
def test_state_dependent_follow_up_needs_phase_one(task: dict[str, Any]) -> None:
    db, follow = task["selected_database"], task["follow_up"]
    assert task["category"] == "Management"
    try:
        if follow["category"] == "Query":
            fresh: Any = bag(fetch(db, follow["sol_sql"]))
        else:
            fresh = state_after(db, follow["sol_sql"])
    except sqlite3.OperationalError:
        return
    if follow["category"] == "Query":
        assert fresh != bag(fetch(db, follow["sol_sql"], base_state(task)))
    else:
        assert fresh != state_after(db, [*base_state(task), *follow["sol_sql"]])


def test_follow_ups_tell_their_reading() -> None:
    rates = []
    for task in TASKS:
        scores = overlaps(task["follow_up"]["query"], task["follow_up"]["candidates"])
        rates.append(hit_rate(scores, right_follow_up(task["instance_id"])))
    assert sum(rates) >= 0.9 * len(rates)


# ----------------------------------------------------------------------------------------------------- bird


def test_enough_bird_questions() -> None:
    assert len(BIRD) >= 42
    assert [q["question_id"] for q in BIRD] == list(range(1, len(BIRD) + 1))
    counts = Counter(q["difficulty"] for q in BIRD)
    assert set(counts) == {"simple", "moderate", "challenging"} and min(counts.values()) >= 12
    empty = sum(not q["evidence"] for q in BIRD)
    assert 2 <= empty <= 8
    assert len({q["question"] for q in BIRD}) == len(BIRD)


@by_bird
def test_bird_question(item: dict[str, Any]) -> None:
    keys = ["question_id", "db_id", "question", "evidence", "SQL", "difficulty", "candidates"]
    assert [key for key in item if key != "by_dialect"] == keys
    assert item["db_id"] in DATABASES and "\n" not in item["SQL"]
    check_gold_query(item["db_id"], [item["SQL"]], False)
    right = right_bird(item["question_id"])
    scores = overlaps(f"{item['question']} {item['evidence']}", item["candidates"])
    assert scores[right] == max(scores), f"question and evidence point to another reading: {scores}"


def test_bird_evidence_tells_the_right_reading() -> None:
    rates = [
        hit_rate(overlaps(f"{q['question']} {q['evidence']}", q["candidates"]), right_bird(q["question_id"]))
        for q in BIRD
    ]
    assert sum(rates) >= 0.85 * len(rates)


# ----------------------------------------------------------------------------------------------- all of it


def test_right_readings_are_spread_over_the_positions() -> None:
    for name, places in {
        "tasks": [right_reading(t["instance_id"]) for t in TASKS],
        "follow-ups": [right_follow_up(t["instance_id"]) for t in TASKS],
        "bird": [right_bird(q["question_id"]) for q in BIRD],
    }.items():
        counts = Counter(places)
        assert all(0.12 <= counts[i] / len(places) <= 0.4 for i in range(4)), (name, counts)


def test_records_are_written_in_one_order() -> None:
    assert len({tuple(key for key in task if key != "by_dialect") for task in TASKS}) == 1
    assert all(list(task)[-1] == "by_dialect" for task in TASKS if "by_dialect" in task)
    assert len({tuple(task["follow_up"]) for task in TASKS}) == 1
    assert all([key for key in t if key != "by_dialect"][-1] == "follow_up" for t in TASKS)
