"""Merging ground truth into a public file, and checking the result (BIRD-Interact §1.4, strict)."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birdenv.benchmarks import merge_files, verify_records
from birdenv.databases.sqlite.images._scratch import sweep
from birdenv.demo import demo_folder
from birdenv.errors import InputError

Row = dict[str, Any]

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks" / "c_interact"))
from toy_tasks import MANAGEMENT, QUERY, write_benchmark  # noqa: E402

KEYS = ("sol_sql", "external_knowledge", "test_cases")


def public(row: Row) -> Row:
    """The row as its authors publish it: without solutions."""
    follow_up = {**row["follow_up"], "sol_sql": [], "test_cases": []}
    return row | {key: [] for key in KEYS} | {"follow_up": follow_up}


def truth(row: Row) -> Row:
    """The row of the file that the authors send."""
    follow_up = {key: row["follow_up"].get(key, []) for key in KEYS}
    return {"instance_id": row["instance_id"], **{key: row[key] for key in KEYS}, "follow_up": follow_up}


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


@pytest.fixture
def merge(tmp_path: Path) -> Callable[..., Any]:
    def call(ours: list[Any], theirs: list[Any], **options: Any) -> Any:
        return merge_files(
            write(tmp_path / "p.jsonl", *ours), write(tmp_path / "t.jsonl", *theirs), **options
        )

    return call


def test_solutions_are_filled_in_and_the_public_order_stays(merge: Callable[..., Any]) -> None:
    merged = merge([public(MANAGEMENT), public(QUERY)], [truth(QUERY), truth(MANAGEMENT)])
    assert not merged.problems
    assert [row["instance_id"] for row in merged.records] == ["club_M_1", "club_1"]
    assert merged.records[1]["sol_sql"] == QUERY["sol_sql"]
    assert merged.records[1]["follow_up"]["sol_sql"] == QUERY["follow_up"]["sol_sql"]
    assert merged.records[1]["follow_up"]["query"] == QUERY["follow_up"]["query"]


def test_fields_that_the_truth_lacks_become_empty(merge: Callable[..., Any]) -> None:
    merged = merge([QUERY], [{"instance_id": "club_1", "sol_sql": ["SELECT 1"]}])
    assert merged.records[0]["external_knowledge"] == []
    assert merged.records[0]["follow_up"] == QUERY["follow_up"]


@pytest.mark.parametrize("missing", [{}, None])
def test_a_follow_up_that_the_public_row_lacks_is_copied_whole(
    merge: Callable[..., Any], missing: Any
) -> None:
    follow_up = QUERY["follow_up"]
    merged = merge([QUERY | {"follow_up": missing}], [truth(QUERY) | {"follow_up": follow_up}])
    assert merged.records[0]["follow_up"] == follow_up


def test_ids_must_match(merge: Callable[..., Any]) -> None:
    merged = merge(
        [public(QUERY), public(MANAGEMENT)], [truth(QUERY), truth(QUERY) | {"instance_id": "new_1"}]
    )
    assert {problem.instance_id for problem in merged.problems} == {"club_M_1", "new_1"}


def test_partial_permits_missing_but_not_unknown_rows(merge: Callable[..., Any]) -> None:
    merged = merge([public(QUERY), public(MANAGEMENT)], [truth(QUERY), {"instance_id": "x"}], partial=True)
    assert [problem.instance_id for problem in merged.problems] == ["x"]
    assert merged.matched == 1


@pytest.mark.parametrize(
    ("theirs", "says"),
    [
        ([truth(QUERY), truth(QUERY)], "occurs twice"),
        ([{"sol_sql": []}], "no instance_id"),
        ([truth(QUERY), '{"instance_id": "clu'], "line 2"),
    ],
)
def test_unusable_truth(merge: Callable[..., Any], theirs: list[Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        merge([public(QUERY)], theirs)


def verify(tmp_path: Path, row: Row, **options: Any) -> Any:
    return verify_records([row], write_benchmark(tmp_path / "folder", row), **options)


@pytest.mark.parametrize("row", [QUERY, MANAGEMENT, MANAGEMENT | {"test_cases": [], "grading": "state"}])
def test_a_sound_task_passes_with_its_oracle(tmp_path: Path, row: Row) -> None:
    report = verify(tmp_path, row)
    assert report.passed, report.lines()
    assert report.figures["oracle passed"] == 1


def follow_up(**changes: Any) -> Row:
    return {"follow_up": QUERY["follow_up"] | changes}


@pytest.mark.parametrize(
    ("row", "change", "says"),
    [
        (QUERY, {"sol_sql": []}, "ground truth is missing"),
        (QUERY, {"category": "Other"}, "category"),
        (QUERY, {"external_knowledge": [99]}, "external_knowledge: no such id"),
        (
            QUERY,
            {"knowledge_ambiguity": [{"term": "x", "sql_snippet": "y", "deleted_knowledge": [1, 44]}]},
            "deleted_knowledge: no such id in the knowledge base of club: 44",
        ),
        (QUERY, {"sol_sql": ["SELECT nope FROM member"]}, "the task's own gold fails in phase 1"),
        (
            QUERY,
            {"sol_sql": ["SELECT name FROM member WHERE age > 99"]},
            "the task's own gold fails in phase 1",
        ),
        (QUERY, follow_up(sol_sql=[]), "follow_up.sol_sql is empty"),
        (QUERY, follow_up(sol_sql=["SELECT nope"]), "the task's own gold fails in phase 2"),
        (QUERY, follow_up(category="Management"), "follow_up.test_cases is empty"),
        (
            MANAGEMENT,
            {"follow_up": MANAGEMENT["follow_up"] | {"category": None}},
            "follow_up.test_cases is empty: a Management task needs at least one",
        ),
        (QUERY, {"amb_user_query": 5}, "amb_user_query"),
        (MANAGEMENT, {"test_cases": []}, "test_cases is empty"),
        (MANAGEMENT, {"test_cases": ["def test_case(a, b, c, d):\n  assert ("]}, "test_cases:"),
        (MANAGEMENT, {"test_cases": ["x = 1"]}, "test_cases:"),
    ],
)
def test_every_flaw_is_named(tmp_path: Path, row: Row, change: Row, says: str) -> None:
    report = verify(tmp_path, row | change)
    assert not report.passed
    assert any(says in str(problem) for problem in report.problems), report.lines()
    assert all(str(problem).startswith(row["instance_id"]) for problem in report.problems)


def test_partial_counts_tasks_without_gold(tmp_path: Path) -> None:
    report = verify(tmp_path, public(QUERY), partial=True)
    assert report.passed
    assert report.figures["without gold"] == 1


def test_ids_that_contradict_the_category_are_a_warning(tmp_path: Path) -> None:
    report = verify(tmp_path, MANAGEMENT | {"instance_id": "club_9"})
    assert report.passed
    assert "the id lacks `_M_`" in str(report.warnings[0])


def test_clean_up_that_fails_behind_its_own_gold_is_a_warning(tmp_path: Path) -> None:
    row = MANAGEMENT | {"clean_up_sqls": ["SELECT 1", "DROP TABLE nowhere"], "user_query_ambiguity": {}}
    folder = write_benchmark(tmp_path, row)
    report = verify_records([row], folder)
    assert not report.problems and report.figures["oracle passed"] == 1
    [warning] = report.warnings
    assert "clean_up_sqls[1] fails after the task's own gold: no such table: nowhere" in str(warning)


def test_a_missing_database_is_named(tmp_path: Path) -> None:
    folder = write_benchmark(tmp_path / "folder", QUERY)
    (folder / "club" / "club.sqlite").unlink()
    report = verify_records([QUERY], folder)
    assert "club" in str(report.problems[0])


def test_an_id_that_a_knowledge_base_has_twice(tmp_path: Path) -> None:
    folder = write_benchmark(tmp_path / "folder", QUERY)
    knowledge = folder / "club" / "club_kb.jsonl"
    knowledge.write_text(knowledge.read_text() + knowledge.read_text().splitlines()[1] + "\n")
    report = verify_records([QUERY], folder)
    assert "the id 1 occurs twice" in str(report.problems[0])


def test_what_partial_would_permit(tmp_path: Path) -> None:
    folder = write_benchmark(tmp_path / "folder", QUERY)
    missing = verify_records([public(QUERY)], folder)
    assert missing.partial_would_pass
    assert not missing.passed
    other = public(QUERY | {"instance_id": "club_2", "external_knowledge": []})
    other["knowledge_ambiguity"] = [{"term": "x", "sql_snippet": "y", "deleted_knowledge": 44}]
    assert not verify_records([public(QUERY), other], folder).partial_would_pass


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "birdenv"


def build_demo() -> Path:
    """As a new process would."""
    folder: Path = demo_folder.__wrapped__()
    return folder


def test_a_demo_folder_that_lacks_a_file_is_built_anew(cache: Path) -> None:
    folder = build_demo()
    assert folder.parent == cache
    files = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    for path in list(folder.rglob("*")):
        if path.is_file():
            path.unlink()
            break
    assert build_demo() == folder
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == files
    assert [path.name for path in cache.iterdir()] == [folder.name]


def test_only_demo_folders_that_nobody_has_used_for_a_month_are_removed(cache: Path) -> None:
    for name, days in (("demo-old", 31), ("demo-new", 29), ("other", 99)):
        (cache / name).mkdir(parents=True)
        os.utime(cache / name, (time.time() - days * 86400,) * 2)
    folder = build_demo()
    assert {path.name for path in cache.iterdir()} == {"demo-new", "other", folder.name}


def test_without_a_home_the_demo_is_built_among_the_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = tmp_path / f"birdenv-demo-{os.getuid()}"
    folder = build_demo()
    sweep()
    assert folder.parent == own and folder.is_dir(), "what removes left-over files of episodes spares it"
    own.chmod(0o777)
    assert build_demo().parent != own, "others can write there"
    shutil.rmtree(own)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    own.symlink_to(tmp_path / "elsewhere")
    assert build_demo().parent.parent == tmp_path
    assert not list((tmp_path / "elsewhere").iterdir()), "another may have made the link"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_temporary_folder_of_another_user_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = tmp_path / f"birdenv-demo-{os.getuid()}"
    own.mkdir(mode=0o700)
    os.chown(own, 65534, 65534)
    assert own not in build_demo().parents
    assert not list(own.iterdir())


def test_misspelt_fields_and_terms_that_nobody_says_are_found(tmp_path: Path) -> None:
    """At any depth; a field of which we know nothing is none of our business."""
    row = json.loads(json.dumps(QUERY)) | {"a_note_of_mine": 1}
    assert not verify_records([row], None, oracle="none").problems
    ambiguity = {"term": "nobody says this", "sql_snipet": "a", "type": "schema_linking_ambiguity"}
    row["user_query_ambiguity"] = {"critical_ambiguity": [ambiguity]}
    row["follow_up"]["sol_sqls"] = row["follow_up"].pop("sol_sql")
    row["preproces_sql"] = row.pop("preprocess_sql", [])
    found = verify_records([row], None, oracle="none")
    told = {problem.message for problem in found.problems}
    assert {
        "user_query_ambiguity.critical_ambiguity[0].sql_snipet is not a known field: "
        "did you mean sql_snippet?",
        "follow_up.sol_sqls is not a known field: did you mean sol_sql?",
        "preproces_sql is not a known field: did you mean preprocess_sql?",
    } < told
    assert any("does not say 'nobody says this'" in each.message for each in found.warnings)
    row["user_query_ambiguity"]["critical_ambiguity"][0]["term"] = row["amb_user_query"].upper()
    assert not any("does not say" in each.message for each in verify_records([row], None).warnings)
