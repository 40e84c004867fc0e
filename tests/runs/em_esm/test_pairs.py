"""Pairs as files: what a line is, what does not pair up, and the way from a run to pairs and back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from birdenv.errors import InputError
from birdenv.runs import RunDirectory
from birdenv.runs.em_esm import (
    ScoredPair,
    export_folder,
    export_pairs,
    holds_pairs,
    read_pairs,
    write_pairs,
)

USAGE = {"prompt_tokens": 7}
ODD = [
    "SELECT 'a\u2028b'",
    "SELECT 'a\fb\vc\x85d'",
    "SELECT 'a\0b'",
    "SELECT 'a\tb\rc'",
    "",
    "None",
    "SELECT 'é'",
]


def folder_of(folder: Path, gold: bytes | str, preds: bytes | str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in (("gold.txt", gold), ("preds.txt", preds)):
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def read(folder: Path, **options: bool) -> list[tuple[str, str]]:
    return [(pair.gold, pair.pred) for pair in read_pairs(folder, **options)]


@pytest.mark.parametrize("last", ["\n", ""])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, last: str) -> None:
    text = "\n".join(ODD) + last
    assert read(folder_of(tmp_path, text, text)) == [(sql, sql) for sql in ODD]


def test_crlf_and_bom(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "\ufeffSELECT 1\r\nSELECT 2\r\n", b"\xef\xbb\xbfSELECT 3\nSELECT 4\n")
    assert read(folder) == [("SELECT 1", "SELECT 3"), ("SELECT 2", "SELECT 4")]


@pytest.mark.parametrize("preds", ["SELECT 1\n\n", "\n\n", "\nSELECT 1\n", "\r\n\r\n"])
def test_an_empty_prediction_has_a_line(tmp_path: Path, preds: str) -> None:
    pairs = read(folder_of(tmp_path, "SELECT 1\nSELECT 2\n", preds))
    assert [pred for _, pred in pairs] == [line.strip("\r") for line in preds.split("\n")[:2]]


@pytest.mark.parametrize("preds", ["SELECT 1\n", "SELECT 1\n\n\n", ""])
def test_numbers_of_lines_that_differ(tmp_path: Path, preds: str) -> None:
    folder = folder_of(tmp_path, "SELECT 1\nSELECT 2\n", preds)
    with pytest.raises(InputError, match="--allow-truncate") as refused:
        read_pairs(folder)
    assert "gold.txt has 2 lines" in str(refused.value)
    if preds:
        assert len(read_pairs(folder, allow_truncate=True)) == min(2, preds.count("\n"))
    else:
        with pytest.raises(InputError, match=r"preds\.txt is empty"):
            read_pairs(folder, allow_truncate=True)


@pytest.mark.parametrize(
    ("preds", "says"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "git lfs pull"),
        (b"SELECT '\xff'\n", "not UTF-8"),
    ],
)
def test_unreadable_files(tmp_path: Path, preds: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_pairs(folder_of(tmp_path, "SELECT 1\n", preds))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such directory"):
        read_pairs(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"no preds\.txt and no gold\.txt"):
        read_pairs(tmp_path)
    (tmp_path / "gold.txt").write_text("SELECT 1\n")
    assert not holds_pairs(tmp_path)
    with pytest.raises(InputError, match=r"contains no preds\.txt; is the run still in progress"):
        read_pairs(tmp_path)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    multi = ["SELECT 'a\nb' -- c\n, 1", "SELECT 1,\n 2"]
    written = ["\ufeffSELECT 0\r", *ODD, *multi]
    pairs = [ScoredPair(i, sql, sql, "shop", f"q{i}") for i, sql in enumerate(written)]
    write_pairs(tmp_path, pairs, "sqlite")
    assert read_pairs(tmp_path) == pairs
    (tmp_path / "pairs.jsonl").unlink()
    assert [pred for _, pred in read(tmp_path)] == ["SELECT 0", *ODD, "SELECT 'a b' , 1", "SELECT 1, 2"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"idx": 0, "gold_sql": "SELECT 1"}', "record 1: the field `predicted_sql` must be text"),
        ('{"predicted_sql": "SELECT 1"}', "record 1: the field `gold_sql` must be a string"),
        ('{"gold_sql": ["SELECT 1", "SELECT 2"], "predicted_sql": ""}', "`gold_sql`.*list containing one"),
        ('{"gold_sql": "SELECT 1", "predicted_sql": 1}', "the field `predicted_sql`"),
        ('{"gold_sql": "SELECT 1", "predicted_sql": "", "db_id": 3}', "`db_id`"),
        ('{"gold_sql": "SELECT 1", "predicted_s', "not JSON"),
        ("version https://git-lfs.github.com/spec/v1", "git lfs pull"),
    ],
)
def test_damaged_pairs(tmp_path: Path, line: str, says: str) -> None:
    (tmp_path / "pairs.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match=says):
        read_pairs(tmp_path)


def test_from_a_run(tmp_path: Path) -> None:
    directory = RunDirectory.create(tmp_path / "runs")
    records: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        (
            "1",
            {"predicted_sql": "SELECT 1\n-- x", "db_id": "a", "difficulty": "simple"},
            {"gold_sql": ["SELECT 0", "SELECT 1"], "matched_gold": 1},
        ),
        ("2", {"predicted_sql": None, "db_id": "b"}, {"gold_sql": ["SELECT 2"]}),
        ("3", {"db_id": "b"}, {}),
        ("4", {"predicted_sql": "SELECT 4", "db_id": "b"}, {"gold_sql": []}),
    ]
    for name, result, private in records:
        directory.append(
            {
                "runs": {"instance_id": name, "status": "completed", "result": result, "usage": USAGE},
                "private": {"instance_id": name, **private},
                "timings": {"instance_id": name, **({"wall_s": 1.5} if name == "1" else {})},
            }
        )
    assert export_pairs(directory, tmp_path / "out") == 2
    assert read_pairs(tmp_path / "out") == [
        ScoredPair(0, "SELECT 1", "SELECT 1\n-- x", "a", "1", "simple"),
        ScoredPair(1, "SELECT 2", "None", "b", "2"),
    ]
    assert (tmp_path / "out" / "preds.txt").read_text() == "SELECT 1\nNone\n"
    spent = [json.loads(line) for line in (tmp_path / "out" / "summary.jsonl").read_text().splitlines()]
    assert [line["latency_s"] for line in spent] == [1.5, None]
    assert (spent[0]["prompt_tokens"], spent[0]["cost_usd"]) == (7, None)
    first, second = map(json.loads, (tmp_path / "out" / "pairs.jsonl").read_text().splitlines())
    assert first == {
        "idx": 0,
        "instance_id": "1",
        "db_id": "a",
        "gold_sql": "SELECT 1",
        "predicted_sql": "SELECT 1\n-- x",
        "difficulty": "simple",
    }
    assert "difficulty" not in second


@pytest.mark.parametrize("file", ["preds.txt", "gold.txt"])
def test_files_that_disagree_name_the_first_difference(tmp_path: Path, file: str) -> None:
    pairs = [ScoredPair(i, f"SELECT {i}", f"SELECT\n{i}") for i in range(3)]
    write_pairs(tmp_path, pairs, "sqlite")
    assert read_pairs(tmp_path) == pairs
    (tmp_path / file).write_text("SELECT 0\nSELECT 9\nSELECT 8\n")
    with pytest.raises(InputError, match=f"{file} disagree.*pair 1: 'SELECT\\s1' and 'SELECT 9'.*--source"):
        read_pairs(tmp_path)
    assert read_pairs(tmp_path, source="pairs") == pairs
    by_line = read_pairs(tmp_path, source="lines")
    assert (by_line[1].pred if file == "preds.txt" else by_line[1].gold) == "SELECT 9"
    (tmp_path / file).write_text(f"SELECT 0{' ' * 90}\n")
    with pytest.raises(InputError, match=r"pair 0: 'SELECT 0' and 'SELECT 0 +'"):
        read_pairs(tmp_path)
    (tmp_path / file).write_text("SELECT 0\n")
    with pytest.raises(InputError, match="only one of them has pair 1"):
        read_pairs(tmp_path)


def test_the_folder_of_an_export_has_the_name_that_evaluate_looks_for(tmp_path: Path) -> None:
    made = [export_folder(tmp_path)]
    made[0].mkdir()
    made.append(export_folder(tmp_path))
    assert all(re.fullmatch(r"run_\d{8}_\d{6}", folder.name) for folder in made)
    assert made[0] < made[1]
    assert export_folder(tmp_path / "run_1") == tmp_path / "run_1"


def test_records_of_score_are_pairs(tmp_path: Path) -> None:
    records = [
        {"db_id": "a", "gold_sql": ["SELECT 1"], "predicted_sql": None, "ex": 0},
        {"db_id": "a", "gold_sql": "SELECT 2", "predicted_sql": "SELECT 3", "flags": []},
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert read_pairs(tmp_path) == [
        ScoredPair(0, "SELECT 1", "", "a"),
        ScoredPair(1, "SELECT 2", "SELECT 3", "a"),
    ]
