"""Generated benchmarks: what holds for every family, splits, determinism, and what commands make of them."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from birdenv.benchmarks import verify_records
from birdenv.benchmarks.generator import NEW_FORMS_FILE, generate, read_concepts
from birdenv.benchmarks.generator._families import Family, Meaning, VaguePart, demo_concepts
from birdenv.benchmarks.generator._task_records import GeneratedFollowUp, family_records
from birdenv.benchmarks.generator._wording import _FORMS
from birdenv.dialogue import make_game
from birdenv.envs.candidates import phrases
from birdenv.errors import InputError
from birdenv.files import read_records

Folder = Path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    out = tmp_path_factory.mktemp("generated") / "out"
    generate(out, tasks=24, seed=7)
    return out


@pytest.fixture(scope="module")
def records(folder: Folder) -> list[dict[str, Any]]:
    return read_records(folder / "c_interact.jsonl")


def _families(records: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        found.setdefault(record["family"], []).append(record)
    return found


@pytest.mark.slow
def test_a_family_shows_one_request_and_means_all_there_is(records: list[dict[str, Any]]) -> None:
    for tasks in _families(records).values():
        assert len({(task["amb_user_query"], *task["candidates"]) for task in tasks}) == 1
        golds = [task["sol_sql"][0] for task in tasks]
        assert len(set(golds)) == len(golds)
        assert set(golds) <= set(tasks[0]["candidates"])
        points = [point for task in tasks for point in task["user_query_ambiguity"]["critical_ambiguity"]]
        meanings = Counter((point["term"], point["sql_snippet"]) for point in points)
        of_term = Counter(term for term, _ in meanings)
        expected = 1
        for count in of_term.values():
            assert count in (2, 3)
            expected *= count
        assert len(tasks) == expected
        assert len(of_term) == tasks[0]["open_points"]


def test_neither_ids_nor_the_order_of_tasks_tell_what_is_meant() -> None:
    concepts = demo_concepts()[0]
    meanings = [Meaning(f"a > {k}", f"an a above {k}") for k in range(3)]
    points = (
        VaguePart("old", True, tuple(meanings[:2]), None),
        VaguePart("new", True, tuple(meanings), None),
    )
    family = Family(concepts.database, concepts.entities[0], points, None, None)
    follow_up = GeneratedFollowUp("Now count.", "topic_pivot", 0, statements=("SELECT 1", "SELECT 2"))
    first, numbers = set(), set()
    for seed in range(60):
        made = family_records(family, "coop_0001", "Old and new?", follow_up, Random(seed))
        ids = [record["instance_id"] for record in made]
        assert ids == sorted(set(ids), key=lambda name: int(name.rpartition("_")[2])) and len(ids) == 6
        first.add(made[0]["sol_sql"][0])
        numbers.add(ids[0])
    assert first == {family.sql(combination) for combination in family.combinations}
    assert len(numbers) > 10


def test_families_leave_nothing_to_three_points_open_on_every_database(records: list[dict[str, Any]]) -> None:
    kinds = Counter(
        (tasks[0]["selected_database"], tasks[0]["open_points"]) for tasks in _families(records).values()
    )
    assert {opened for _, opened in kinds} == {0, 1, 2, 3}
    assert {database for database, _ in kinds} == {"bikeshare", "coop", "library"}


def test_the_oracle_passes_and_nothing_is_doubted(folder: Folder, records: list[dict[str, Any]]) -> None:
    report = verify_records(records[::4], folder)
    assert report.passed and not report.warnings
    assert report.figures["oracle passed"] == len(records[::4])


def test_each_wrong_candidate_fails_and_finds_something_else(
    folder: Folder, records: list[dict[str, Any]]
) -> None:
    queries = [task for task in records if task["category"] == "Query"]
    for task in queries[::5]:
        database = sqlite3.connect(folder / task["selected_database"] / f"{task['selected_database']}.sqlite")
        found = [sorted(map(repr, database.execute(sql).fetchall())) for sql in task["candidates"]]
        database.close()
        assert all(found)
        assert len({tuple(rows) for rows in found}) == len(found)


@pytest.mark.parametrize("file", ["c_interact.jsonl", NEW_FORMS_FILE])
def test_a_span_of_the_request_brings_the_answer_to_each_open_point(folder: Folder, file: str) -> None:
    with make_game("c-interact", data_dir=str(folder), data=str(folder / file), questions=12) as arena:
        for name in arena.ids[::4]:
            brief = arena._tasks.private(name).brief
            with arena.episode(name) as episode:
                for span in phrases(brief.request):
                    episode.act("clarify", f"What do you mean by '{span.text}'?")
                log = episode._dialogue.rules.private_log
                told = {target for entry in log for target in entry["target"].split(" + ")}
                assert {point.term for point in brief.ambiguities} <= told, (name, brief.request)


def test_new_forms_are_new(folder: Folder, records: list[dict[str, Any]]) -> None:
    new = read_records(folder / NEW_FORMS_FILE)
    assert [task["sol_sql"] for task in new] == [task["sol_sql"] for task in records]
    assert not {task["amb_user_query"] for task in new} & {task["amb_user_query"] for task in records}
    remarks = _FORMS["training"]["remarks"]
    assert not set(remarks) & set(_FORMS["testing"]["remarks"])
    assert not any(remark in task["amb_user_query"] for task in new for remark in remarks)


def test_no_family_is_on_two_sides_of_a_split(folder: Folder, records: list[dict[str, Any]]) -> None:
    family = {task["instance_id"]: task["family"] for task in records}
    database = {task["instance_id"]: task["selected_database"] for task in records}
    files = sorted((folder / "splits").glob("*.json"))
    assert [file.stem for file in files] == [
        "families",
        "without_bikeshare",
        "without_coop",
        "without_library",
    ]
    for file in files:
        sides = json.loads(file.read_text())
        assert sorted(name for ids in sides.values() for name in ids) == sorted(family)
        assert sum(len({family[name] for name in ids}) for ids in sides.values()) == len(set(family.values()))
        if file.stem != "families":
            assert {database[name] for name in sides["test"]} == {file.stem.removeprefix("without_")}


def test_management_and_both_kinds_of_follow_up_are_there(records: list[dict[str, Any]]) -> None:
    assert {task["category"] for task in records} == {"Query", "Management"}
    kinds = {task["follow_up"]["type"] for task in records}
    assert kinds == {"constraint_change", "topic_pivot", "state_dependent"}
    assert all(len(set(task["follow_up"]["candidates"])) == 4 for task in records)


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.json*")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


@pytest.mark.slow
def test_the_same_seed_makes_the_same_bytes(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, birdenv.benchmarks.generator as made; "
        "made.generate(pathlib.Path(sys.argv[1]), tasks=5, seed=5)"
    )
    for number in (1, 2):
        environment = os.environ | {"PYTHONHASHSEED": str(number)}
        subprocess.run([sys.executable, "-c", code, str(tmp_path / str(number))], env=environment, check=True)
    assert _digest(tmp_path / "1") == _digest(tmp_path / "2")
    generate(tmp_path / "other", tasks=5, seed=6)
    assert _digest(tmp_path / "1") != _digest(tmp_path / "other")


@pytest.mark.slow
def test_a_description_makes_families_over_any_database(tmp_path: Path) -> None:
    place = tmp_path / "data" / "shop"
    place.mkdir(parents=True)
    names = ("price", "weight", "sold", "length", "width", "rank")
    columns = ", ".join(f"{name} REAL" for name in names)
    schema = f"CREATE TABLE goods (code INTEGER, {columns}, kind TEXT, tint TEXT)"
    rows = [
        (i, *(i * factor % 61 + 0.5 for factor in (7, 5, 11, 13, 17, 19)), "ab"[i % 2], "xyz"[i % 3])
        for i in range(60)
    ]
    with sqlite3.connect(place / "shop.sqlite") as database:
        database.execute(schema)
        database.executemany(f"INSERT INTO goods VALUES ({', '.join('?' * 9)})", rows)
    (place / "shop_schema.txt").write_text(schema)
    entry = {"id": 0, "knowledge": "Tint", "description": "A colour.", "definition": "x, y or z."}
    (place / "shop_kb.jsonl").write_text(json.dumps(entry))
    entity = {
        "plural": "goods",
        "table": "goods",
        "alias": "g",
        "show": {"code": "code"},
        "quantities": {name: [f"g.{name}", name] for name in names},
        "traits": {"fine": ["price >", "weight <"], "lively": ["sold >", "length >"]},
        "measures": {"merit": ["width", "rank"]},
        "groups": {"kind": "g.kind", "tint": "g.tint"},
        "changes": {"as sold out": "sold = -1"},
    }
    description = tmp_path / "shop.json"
    description.write_text(json.dumps({"database": "shop", "entities": [entity]}))
    out = tmp_path / "out"
    made = generate(out, tasks=8, folder=tmp_path / "data", concepts=[read_concepts(description)])
    assert {record["open_points"] for record in made.records} == {0, 1, 2, 3}
    assert verify_records(made.records, out).passed


def test_a_description_at_fault_is_told(tmp_path: Path) -> None:
    source = Path(sys.modules["birdenv.benchmarks.generator"].__path__[0]) / "concepts" / "coop.json"
    described = json.loads(source.read_text())
    described["entities"][0]["traits"]["dear"] = ["price >", "nothing <"]
    path = tmp_path / "coop.json"
    path.write_text(json.dumps(described))
    with pytest.raises(InputError, match="no quantity 'nothing'"):
        read_concepts(path)


def test_what_is_there_already_is_not_touched(folder: Folder) -> None:
    with pytest.raises(InputError, match="already exists"):
        generate(folder, tasks=1)


def test_what_is_interrupted_leaves_nothing_behind(tmp_path: Path) -> None:
    def interrupt(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(tmp_path / "out", tasks=50, progress=interrupt)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_every_command_takes_it(folder: Folder, tmp_path: Path) -> None:
    for command in (
        [
            "c-interact",
            str(folder),
            "--agent",
            "oracle",
            "-n",
            "20",
            "--output",
            str(tmp_path / "run"),
        ],
        [
            "a-interact",
            str(folder),
            "--agent",
            "asks-first",
            "-n",
            "5",
            "--output",
            str(tmp_path / "a"),
        ],
        ["data", "verify", str(folder)],
        ["data", "verify", str(folder / NEW_FORMS_FILE), "--dir", str(folder)],
        ["summary", str(tmp_path / "run")],
    ):
        done = subprocess.run([sys.executable, "-m", "birdenv", *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    (overall,) = (tmp_path / "run").rglob("overall.json")
    assert json.loads(overall.read_text())["figures"]["reward"]["value"] == 1.0
