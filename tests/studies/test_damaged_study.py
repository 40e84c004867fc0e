"""The database of a study that cannot be read: one line that names it, and nothing of it changes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from birdenv.studies.rating_round._store import RatingStore
from birdenv.studies.study._store import open_store

READERS = {
    "analyze": (),
    "export": ("--format", "cocoa"),
    "ratings": (),
    "train-player": ("bargain", "--data"),
    "test-player": ("bargain", "--player", "rulebased", "--data"),
    "replay": ("web", "--replay"),
    "rate": ("web", "--rate"),
}
DAMAGE = ["empty", "no database", "another program's", "no pages", "half", "no folder's"]


def study(folder: Path) -> Path:
    """A study in which somebody has taken part, closed by its server."""
    store = open_store(folder)
    store.setting("game", json.dumps({"game": "bargain", "settings": {"limit": 2}}))
    for number in range(40):
        store.add_person(f"P{number}", None, {"of": "x" * 200}, 1.0)
    store.close()
    return folder / "study.sqlite"


def damage(file: Path, how: str) -> None:
    whole = file.read_bytes()
    if how == "another program's":
        file.unlink()
        with sqlite3.connect(file) as db:
            db.execute("CREATE TABLE study(x)")
        return
    if how == "no folder's":
        file.unlink()
        file.mkdir()
        return
    texts = {"empty": b"", "no database": b"hello " * 999, "no pages": whole[:100]}
    file.write_bytes(texts.get(how, whole[: len(whole) // 2]))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


@pytest.mark.parametrize("command", READERS)
def test_a_damaged_study_is_one_line(
    command: str, birdenv: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for how in DAMAGE:
        folder = tmp_path / how
        damage(study(folder), how)
        before = contents(folder)
        options = READERS[command]
        arguments = (*options, folder) if "web" in options else (command, *options, folder)
        if command == "export":
            arguments = (command, folder, *options)
        ran = birdenv(*arguments)
        assert ran.code == 2 and ran.err.count("\n") == 1, (how, ran)
        assert str(folder) in ran.err and contents(folder) == before, (how, ran)


@pytest.mark.parametrize("command", [("analyze",), ("export", "--format", "cocoa")])
def test_a_damaged_row_is_one_line(command: tuple[str, ...], birdenv: Any, tmp_path: Path) -> None:
    with sqlite3.connect(study(tmp_path)) as db:
        db.execute("UPDATE study SET value = '{\"ga'")
    ran = birdenv(*command, tmp_path)
    assert ran.code == 2 and "is damaged: it contains" in ran.err and ran.err.count("\n") == 1, ran


def test_reading_leaves_no_trace(birdenv: Any, tmp_path: Path) -> None:
    study(tmp_path)
    RatingStore(tmp_path).close()
    before = contents(tmp_path)
    for arguments in (("analyze", tmp_path), ("ratings", tmp_path), ("export", tmp_path, "-f", "pairs")):
        birdenv(*arguments, *(("-o", tmp_path.parent / "pairs.jsonl") if "export" in arguments else ()))
        assert contents(tmp_path) == before, arguments


def test_a_server_does_not_write_into_a_file_of_another_program(tmp_path: Path) -> None:
    from birdenv.errors import InputError

    file = tmp_path / "study.sqlite"
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE shop(x)")
    before = file.read_bytes()
    with pytest.raises(InputError, match="belongs to another program"):
        open_store(tmp_path)
    assert file.read_bytes() == before


def test_a_reader_follows_a_server_that_begins_and_ends(tmp_path: Path) -> None:
    from birdenv.studies.study._store import Store

    reader = Store(study(tmp_path), for_reading=True)
    assert reader.counts() == {"instructions": 40}
    for number in range(2):
        server = open_store(tmp_path)
        server.add_person(f"new {number}", None, {}, 2.0)
        assert reader.counts() == {"instructions": 41 + number}
        server.close()
    assert reader.counts() == {"instructions": 42}
    reader.close()
