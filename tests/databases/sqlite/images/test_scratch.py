"""The scratch folder: private files are gone with their process, whatever ended it, and nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import in_a_process
import pytest
from database_files import write_database

from birdenv.databases import QueryResult, SqliteSource
from birdenv.databases.sqlite._process_database import workers
from birdenv.databases.sqlite.images import _scratch
from birdenv.errors import InputError

EPISODE = """
import sys
from pathlib import Path
from birdenv.databases.sqlite import LocalSource
database = LocalSource(Path(sys.argv[1]), None, sys.argv[2]).open("town")  # as in a worker
print(database.run(["CREATE TABLE mine (a); BEGIN; INSERT INTO mine VALUES (1)"]).rows_affected, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("BIRDENV_SCRATCH", str(tmp_path))
    _scratch._mine = None
    yield tmp_path / f"birdenv-{os.getuid()}"
    _scratch._mine = None


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    write_database(tmp_path / "databases", "town", "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    return tmp_path / "databases"


def folders(root: Path) -> list[str]:
    return sorted(entry.name for entry in root.iterdir() if entry.name != "lock") if root.is_dir() else []


def running(databases: Path, kind: str, place: Path) -> subprocess.Popen[str]:
    """A process in the middle of a writing episode."""
    process = in_a_process.start(EPISODE, databases, kind, BIRDENV_SCRATCH=str(place))
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n", process.stderr and process.stderr.read()
    return process


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=10)


@pytest.mark.disk
def test_what_a_killed_process_left_is_swept_at_the_next_start_and_the_living_keep_theirs(
    tmp_path: Path,
) -> None:
    kind, where = "copy", tmp_path / "here"
    where.mkdir()
    root = where / f"birdenv-{os.getuid()}"
    databases = where / "databases"
    write_database(databases, "town", "CREATE TABLE t (a)")
    killed, living = running(databases, kind, where), running(databases, kind, where)
    left = [name for name in folders(root) if name.startswith(f"{killed.pid}-")]
    kill(killed)
    assert len(folders(root)) == 2
    assert list((root / left[0]).rglob("town.sqlite")), "nothing was cleaned up"
    following = running(databases, kind, where)
    assert left[0] not in folders(root)
    assert {int(name.split("-")[0]) for name in folders(root)} == {living.pid, following.pid}
    for process in (living, following):
        assert process.communicate("", timeout=10) == ("", "")
        assert process.returncode == 0
    assert folders(root) == [], "a process removes its own folder"


def test_a_process_that_makes_no_files_makes_no_folder(databases: Path, root: Path) -> None:
    kill(running(databases, "memory-map", root.parent))
    assert folders(root) == []


@pytest.mark.every(2)
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_children_of_multiprocessing_leave_nothing(databases: Path, root: Path, context: str) -> None:
    """Or what the next start removes: the kernel ends workers whose owner ends without a word."""
    code = """
import multiprocessing, sys
from children import write_and_leave_open
root, context = sys.argv[1], multiprocessing.get_context(sys.argv[2])
write_and_leave_open(root)
children = [context.Process(target=write_and_leave_open, args=(root,)) for _ in range(3)]
for child in children: child.start()
for child in children: child.join(); print(child.exitcode)
"""
    assert in_a_process.run(code, databases, context, BIRDENV_SCRATCH=str(root.parent)) == "0\n0\n0\n"
    _scratch.sweep()
    assert folders(root) == []


def test_a_folder_whose_lock_is_held_stays_and_one_without_a_lock_goes(root: Path) -> None:
    mine = _scratch.new_folder()
    (root / "1-killed").mkdir()
    (root / "1-killed" / "lock").touch()
    (root / "2-killed-early").mkdir()
    (root / "2-killed-early" / "file").write_text("x")
    (root / "a file").write_text("x")
    assert sorted(_scratch.sweep()) == ["1-killed", "2-killed-early"]
    assert mine.is_dir()
    assert folders(root) == sorted([mine.parent.name, "a file"])


def test_only_folders_of_this_process_are_removed(root: Path, tmp_path: Path) -> None:
    mine, other = _scratch.new_folder(), tmp_path / "other"
    other.mkdir()
    _scratch.remove_folder(other)
    _scratch.remove_folder(root)
    assert mine.is_dir() and other.is_dir()
    _scratch.remove_folder(mine)
    _scratch.remove_folder(mine)
    assert not mine.exists()


def test_a_linked_scratch_folder_is_neither_used_nor_swept(
    root: Path, databases: Path, tmp_path: Path
) -> None:
    """In a folder that everyone can write to, anyone can make the link, to anything of ours."""
    precious = tmp_path / "home" / "work" / "thesis"
    precious.parent.mkdir(parents=True)
    precious.write_text("x")
    root.symlink_to(tmp_path / "home")
    assert _scratch.sweep() == []
    assert precious.exists()
    assert folders(tmp_path / "home") == ["work"] and not (tmp_path / "home" / "lock").exists()
    with pytest.raises(
        InputError, match=r"birdenv-\d+ does not belong to this user: remove it, or set BIRDENV_SCRATCH"
    ):
        _scratch.new_folder()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders away")
def test_a_scratch_folder_of_somebody_else_is_neither_used_nor_swept(root: Path) -> None:
    (root / "1-theirs").mkdir(parents=True)
    os.chown(root, 12345, 12345)
    assert _scratch.sweep() == []
    assert folders(root) == ["1-theirs"]
    with pytest.raises(InputError, match="does not belong to this user"):
        _scratch.new_folder()


@pytest.mark.parametrize("broken", ["missing", "a file", "not writable"])
def test_where_nothing_can_be_written_that_is_said_and_only_if_it_matters(
    databases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    place = tmp_path / "place"
    if broken == "a file":
        place.write_text("x")
    elif broken == "not writable":
        if os.getuid() == 0:
            pytest.skip("root can write everywhere")
        place.mkdir(mode=0o555)
    monkeypatch.setenv("BIRDENV_SCRATCH", str(place))
    _scratch._mine = None
    workers.close_idle()  # they know the folder from before
    assert _scratch.sweep() == []
    with SqliteSource(databases, image="copy").open("town") as database:
        with pytest.raises(InputError, match=r"cannot write to .*place/birdenv-\d+ .*BIRDENV_SCRATCH"):
            database.execute("DELETE FROM t")
        assert isinstance(database.execute("SELECT * FROM t"), QueryResult)
    with SqliteSource(databases).open("town") as database:
        assert isinstance(database.execute("DELETE FROM t"), QueryResult), "memory needs no folder"
    _scratch._mine = None
    workers.close_idle()
