"""Fetching public benchmarks, from a server of our own: whole, torn, wrong, hostile and huge ones."""

from __future__ import annotations

import hashlib
import io
import json
import random
import stat
import struct
import threading
import zipfile
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import pytest

from birdenv.benchmarks import _fetch, describe_fetched, fetch_archive, fetch_hub, published, unpack
from birdenv.benchmarks._fetch import Place, Published
from birdenv.errors import InfrastructureError, InputError

pytest.importorskip("pooch", reason="the extra `fetch` is not installed")
pytest.importorskip("huggingface_hub", reason="the extra `fetch` is not installed")

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Files(SimpleNamespace):
    """What the server has: `files` by path, and the sizes that it claims in place of the true ones."""

    files: dict[str, bytes]
    announced: dict[str, int]
    asked: list[str]
    url: str


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Files]:
    """A server of archives, and of one data set in the way of the Hub, whose files are below `/hub/`."""
    served = Files(files={}, announced={}, asked=[])

    def size(name: str, data: bytes) -> int:
        return served.announced.get(name, len(data))

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = unquote(self.path.partition("?")[0])
            served.asked.append(f"{self.command} {path}")
            hub = {name.removeprefix("/hub/"): data for name, data in served.files.items() if "/hub/" in name}
            if "/tree/" in path:
                rows = [
                    {
                        "type": "file",
                        "path": name,
                        "size": served.announced.get(name, len(data)),
                        "oid": "1" * 40,
                    }
                    for name, data in hub.items()
                ]
                return self.answer(json.dumps(rows).encode(), len(json.dumps(rows)))
            if path.startswith("/api/"):
                about = {"id": "birdsql/x", "sha": COMMIT, "siblings": [{"rfilename": name} for name in hub]}
                return self.answer(json.dumps(about).encode(), len(json.dumps(about)))
            name = "/hub/" + path.partition("/resolve/")[2].partition("/")[2] if "/resolve/" in path else path
            data = served.files.get(name)
            if data is None:
                return self.send_error(404)
            return self.answer(data, size(name, data))

        def answer(self, data: bytes, length: int) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(length))
            self.send_header("ETag", f'"{hashlib.sha1(data).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    served.url = f"http://127.0.0.1:{running.server_port}"
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", served.url)
    monkeypatch.setattr(
        constants,
        "HUGGINGFACE_CO_URL_TEMPLATE",
        served.url + "/{repo_id}/resolve/{revision}/{filename}",
    )
    yield served
    running.shutdown()
    running.server_close()


def zipped(files: dict[str, bytes], modes: dict[str, int] | None = None) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (modes or {}).get(name, stat.S_IFREG | 0o644) << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return written.getvalue()


def place(address: str, kind: str = "archive", **fields: object) -> Place:
    return Place.model_validate(
        {"kind": kind, "address": address, "has": "all", "checked": "not checked", "at_most_gb": 0.1} | fields
    )


def tree(folder: Path) -> dict[str, bytes]:
    found = sorted(path for path in folder.rglob("*") if path.is_file() and ".cache" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


WHOLE = {
    "mini/tasks.json": b"[]",
    "mini/dev_databases/a/a.sqlite": random.Random(0).randbytes(50_000),
    "mini/empty/": b"",
}
PLAIN = {name: data for name, data in WHOLE.items() if not name.endswith("/")}


def test_an_archive_is_fetched_and_unpacked(server: Files, tmp_path: Path) -> None:
    data = zipped({**WHOLE, "__MACOSX/mini/._tasks.json": b"x", "mini/.DS_Store": b"x"})
    server.files["/a.zip"] = data
    known = hashlib.sha256(data).hexdigest()
    shown = SimpleNamespace(total=0, done=[], close=lambda: None, reset=lambda: None)
    shown.update = shown.done.append
    fetch_archive(place(server.url + "/a.zip", sha256=known), tmp_path / "new" / "out", shown)
    assert tree(tmp_path / "new" / "out") == PLAIN
    assert shown.total == len(data) and shown.done


def test_what_is_torn_wrong_or_missing_leaves_nothing(server: Files, tmp_path: Path) -> None:
    data = zipped(WHOLE)
    server.files |= {
        "/torn.zip": data[:-2000],
        "/cut.zip": data[:-2000],
        "/page.zip": b"<html>not found</html>",
    }
    server.announced["/torn.zip"] = len(data)
    damaged = bytearray(data)
    damaged[len(data) // 2] ^= 1  # within the large file
    block = bytearray(zipped({"a": b"a" * 99}))
    block[31] = 0xFF  # the first byte of what is compressed
    text = bytearray(zipped({"\u00e4": b""}))
    text[text.rindex(b"\xc3\xa4")] = 0xFF
    server.files |= {"/damaged.zip": bytes(damaged), "/block.zip": bytes(block), "/name.zip": bytes(text)}
    server.files["/other.zip"] = data
    for name, error, words in (
        ("torn", InfrastructureError, "cannot be downloaded"),
        ("cut", InputError, "is not a complete zip archive"),
        ("page", InputError, "is not a complete zip archive"),
        ("damaged", InputError, "is not a complete zip archive"),
        ("block", InputError, "is not a complete zip archive"),
        ("name", InputError, "is not a complete zip archive"),
        ("missing", InfrastructureError, "404"),
    ):
        with pytest.raises(error, match=words) as raised:
            fetch_archive(place(f"{server.url}/{name}.zip"), tmp_path)
        assert "\n" not in str(raised.value) and f"{name}.zip" in str(raised.value)
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(InfrastructureError, match="hash"):
        fetch_archive(place(server.url + "/other.zip", sha256="0" * 64), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_downloaded_beyond_the_bound(server: Files, tmp_path: Path) -> None:
    server.files["/huge.zip"] = b"x" * 3_000_000
    with pytest.raises(InputError, match="was not downloaded"):
        fetch_archive(place(server.url + "/huge.zip", at_most_gb=0.001), tmp_path)
    bounded = _fetch._BoundedFile(place("x", at_most_gb=0.001), tmp_path, None)
    with pytest.raises(InputError, match="was not downloaded"):
        for _ in range(100):
            bounded.update(100_000)
    assert list(tmp_path.iterdir()) == []


HOSTILE = {
    "parent": ({"../escaped.txt": b"x"}, {}),
    "deep parent": ({"a/../../escaped.txt": b"x"}, {}),
    "absolute": ({"/tmp/birdenv-escaped.txt": b"x"}, {}),
    "drive": ({"C:/escaped.txt": b"x"}, {}),
    "backslash": ({"..\\escaped.txt": b"x"}, {}),
    "link": ({"a": b"/etc/passwd"}, {"a": stat.S_IFLNK | 0o777}),
    "link to a folder": ({"a": b"/tmp", "a/b": b"x"}, {"a": stat.S_IFLNK | 0o777}),
    "pipe": ({"a": b""}, {"a": stat.S_IFIFO | 0o644}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_whole(name: str, tmp_path: Path) -> None:
    files, modes = HOSTILE[name]
    archive = tmp_path / "a.zip"
    archive.write_bytes(zipped({"first.txt": b"harmless", **files}, modes))
    with pytest.raises(InputError, match=r"leads outside the folder|is a link or a device"):
        unpack(archive, tmp_path / "out" / "in")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [archive]
    assert not Path("/tmp/birdenv-escaped.txt").exists()


def test_an_archive_that_grows_a_thousand_times_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "bomb.zip"
    archive.write_bytes(zipped({f"{number}.bin": bytes(10_000_000) for number in range(3)}))
    assert archive.stat().st_size * 900 < 30_000_000
    with pytest.raises(InputError, match="30,000,000 bytes"):
        unpack(archive, tmp_path / "out")
    assert not tree(tmp_path / "out")


def test_an_archive_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    data = bytearray(zipped({"a.bin": bytes(5_000_000)}))
    for start in (22, data.index(b"PK\x01\x02") + 24):  # the size in the local and in the central header
        data[start : start + 4] = struct.pack("<I", 10)
    archive = tmp_path / "a.zip"
    archive.write_bytes(bytes(data))
    with pytest.raises(InputError, match="is not a complete zip archive"):
        unpack(archive, tmp_path / "out")
    assert not tree(tmp_path / "out")


def test_too_many_files_and_too_little_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "a.zip"
    archive.write_bytes(zipped(PLAIN))
    monkeypatch.setattr(_fetch, "MOST_FILES", 1)
    with pytest.raises(InputError, match="more than 1 files"):
        unpack(archive, tmp_path / "out")
    monkeypatch.undo()
    monkeypatch.setattr(_fetch.shutil, "disk_usage", lambda _: SimpleNamespace(free=100))
    with pytest.raises(InfrastructureError, match="only 100 bytes free"):
        unpack(archive, tmp_path / "out")


def test_nothing_that_is_there_is_replaced(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    archive.write_bytes(zipped(PLAIN))
    (tmp_path / "out" / "mini").mkdir(parents=True)
    (tmp_path / "out" / "mini" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="already exists"):
        unpack(archive, tmp_path / "out")
    assert tree(tmp_path / "out") == {"mini/mine.txt": b"mine"}


def test_a_data_set_is_fetched_from_the_hub(server: Files, tmp_path: Path) -> None:
    server.files |= {f"/hub/{name}": data for name, data in PLAIN.items()}
    fetch_hub(place("birdsql/x", "hub"), tmp_path)
    assert tree(tmp_path) == PLAIN
    server.asked.clear()
    fetch_hub(place("birdsql/x", "hub"), tmp_path)
    assert not [line for line in server.asked if line.startswith("GET") and "/resolve/" in line]


def test_a_hostile_data_set_is_refused(server: Files, tmp_path: Path) -> None:
    server.files |= {"/hub/a.txt": b"x", "/hub/../../escaped.txt": b"x"}
    with pytest.raises(InputError, match="leads outside"):
        fetch_hub(place("birdsql/x", "hub"), tmp_path / "in" / "out")
    assert not tree(tmp_path)
    server.files = {"/hub/a.txt": b"x"}
    server.announced["a.txt"] = 10**10
    with pytest.raises(InputError, match="was not downloaded"):
        fetch_hub(place("birdsql/x", "hub"), tmp_path)


def test_a_torn_data_set_is_told(server: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    server.files["/hub/a.txt"] = b"x" * 1000
    server.announced["/hub/a.txt"] = 2000
    with pytest.raises(InfrastructureError, match="birdsql/x cannot be downloaded"):
        fetch_hub(place("birdsql/x", "hub"), tmp_path)
    assert not tree(tmp_path)


def test_every_address_says_when_it_was_checked() -> None:
    for name in ("mini-dev", "mini-interact", "bird-interact-lite", "bird-interact-full"):
        benchmark = published()[name]
        dated = [*benchmark.places, *([benchmark.dumps] if benchmark.dumps else [])]
        for each in dated:
            assert each.checked == "not checked" or each.checked == str(date.fromisoformat(each.checked))
        assert "CC BY-SA" in benchmark.licence
        told = "\n".join(describe_fetched(benchmark, Path("nowhere")))
        if name != "mini-dev":
            assert f"[{name} GT&Test Cases]" in told and "birdenv data merge" in told
        if "bird-interact" in name:
            assert "birdenv db load" in told and "browser" in told


def test_editions_are_told_apart(tmp_path: Path) -> None:
    benchmark = Published.model_validate(
        {
            "title": "t",
            "licence": "l",
            "home": "h",
            "places": [],
            "task_files": ["tasks.json"],
            "next": "play {tasks} {databases}",
            "seen": {"tasks.json": hashlib.sha256(b"[]").hexdigest()},
        }
    )
    archive = tmp_path / "a.zip"
    archive.write_bytes(zipped(PLAIN))
    unpack(archive, tmp_path / "out")
    tasks, databases = tmp_path / "out" / "mini" / "tasks.json", tmp_path / "out" / "mini" / "dev_databases"
    same, play = describe_fetched(benchmark, tmp_path / "out")
    assert same == f"{tasks} is the edition that birdenv was tested with."
    assert play == f"Then play it: play {tasks} {databases}"
    tasks.write_text("[1]")
    assert "is NOT the edition" in describe_fetched(benchmark, tmp_path / "out")[0]


def test_the_command_unpacks_what_was_downloaded_by_hand(birdenv, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    archive = tmp_path / "dumps.zip"
    archive.write_bytes(zipped({"alien/alien.sql": b"SELECT 1;"}))
    ran = birdenv("data", "fetch", "bird-interact-lite", tmp_path / "lite", "--archive", archive)
    assert ran.code == 0, ran
    assert (tmp_path / "lite" / "postgre_table_dumps" / "alien" / "alien.sql").exists()
    assert "Licence: CC BY-SA 4.0" in ran.out and "birdenv db load" in ran.out
    ran = birdenv("data", "fetch", "mini-dev", tmp_path / "none", "--archive", tmp_path / "none.zip")
    assert ran.code == 2 and "no such file" in ran.err and not (tmp_path / "none").exists()
    ran = birdenv("data", "fetch", "mini-interact", tmp_path / "x", "--from", "archive")
    assert ran.code == 2 and "fetch it from hub" in ran.err
    ran = birdenv("data", "fetch", "spider")
    assert ran.code == 2 and "mini-dev" in ran.err
