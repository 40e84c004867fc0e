"""A file as private memory: its bytes, what was written over them, and room behind."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest

from birdenv.databases.sqlite.images import _image_kinds
from birdenv.databases.sqlite.images._image_kinds import PrivateMemory, is_supported

pytestmark = pytest.mark.skipif(not is_supported(), reason="files cannot be mapped privately here")

PAGE = mmap.PAGESIZE
CONTENT = bytes(range(256)) * (5 * PAGE // 256) + b"the end"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    return path


@pytest.fixture(params=["page tables", "comparing"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "comparing":
        monkeypatch.setattr(PrivateMemory, "_marked", lambda *_: None)
    elif not Path("/proc/self/pagemap").exists():
        pytest.skip("this system does not show its page tables")
    return str(request.param)


def changes(memory: PrivateMemory, size: int = len(CONTENT)) -> dict[int, bytes]:
    return dict(memory.written(size))


def test_what_is_written_is_known_by_page_and_never_reaches_the_file(file: Path, way: str) -> None:
    memory = PrivateMemory(file, 3 * PAGE)
    try:
        assert (memory.size, memory.capacity) == (len(CONTENT), 9 * PAGE)
        assert changes(memory) == {}
        memory.write(PAGE + 10, b"one")
        memory.write(3 * PAGE - 1, b"ab")
        memory.write(5 * PAGE, b"THE")
        expected = bytearray(CONTENT)
        expected[PAGE + 10 : PAGE + 13] = b"one"
        expected[3 * PAGE - 1 : 3 * PAGE + 1] = b"ab"
        expected[5 * PAGE : 5 * PAGE + 3] = b"THE"
        assert changes(memory) == {
            start: bytes(expected[start : start + PAGE]) for start in (PAGE, 2 * PAGE, 3 * PAGE, 5 * PAGE)
        }
        assert file.read_bytes() == CONTENT
    finally:
        memory.free()


def test_room_behind_the_file_reads_as_zeros(file: Path, way: str) -> None:
    memory = PrivateMemory(file, 3 * PAGE)
    try:
        memory.write(7 * PAGE, b"far")
        found = changes(memory, 8 * PAGE)
        assert {start: page for start, page in found.items() if page.strip(b"\0")} == {
            7 * PAGE: b"far".ljust(PAGE, b"\0")
        }
        assert memory._page(5 * PAGE, 9 * PAGE) == b"the end".ljust(PAGE, b"\0")
    finally:
        memory.free()


@pytest.mark.parametrize(("offset", "length"), [(-1, 1), (9 * PAGE - 1, 2), (10 * PAGE, 0), (2**60, 8)])
def test_writing_outside_is_an_error(file: Path, offset: int, length: int) -> None:
    memory = PrivateMemory(file, 3 * PAGE)
    try:
        with pytest.raises(ValueError, match="outside"):
            memory.write(offset, bytes(length))
        memory.write(9 * PAGE - 1, b"x")
        memory.write(9 * PAGE, b"")
    finally:
        memory.free()


def test_two_mappings_do_not_meet_and_freeing_again_does_nothing(file: Path) -> None:
    first, second = PrivateMemory(file, 0), PrivateMemory(file, 0)
    first.write(0, b"mine")
    assert changes(first).keys() == {0}
    assert changes(second) == {}
    for memory in (first, second, first):
        memory.free()


def test_a_file_that_cannot_be_mapped(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(OSError, match="EINVAL"):
        PrivateMemory(tmp_path / "empty", PAGE)
    with pytest.raises(FileNotFoundError):
        PrivateMemory(tmp_path / "missing", PAGE)
    with pytest.raises(OSError, match=r"ENOMEM|EINVAL"):
        PrivateMemory(tmp_path / "empty", 2**50)


def test_room_that_is_not_used_costs_nothing(file: Path) -> None:
    memories = [PrivateMemory(file, 2**30) for _ in range(100)]
    for memory in memories:
        memory.free()


def test_a_page_table_that_is_cut_off_is_not_believed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = PrivateMemory(file, 0)
    try:
        memory.write(PAGE, b"x")
        monkeypatch.setattr(_image_kinds, "_PAGEMAP_BYTES", 2)
        assert changes(memory) == {PAGE: b"x" + CONTENT[PAGE + 1 : 2 * PAGE]}
    finally:
        memory.free()
