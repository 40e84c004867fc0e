"""Fetching the public benchmarks from where their authors publish them, by `huggingface_hub` and `pooch`.

`sources.json` beside this file says where that is, and when somebody last looked. What comes from there is
not trusted: nothing is written outside of the folder, no link is made, and an archive is unpacked only if all
of it can be, within a bound.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from birdenv.errors import BirdenvError, InfrastructureError, InputError
from birdenv.files import file_digest, is_directory

EXPANSION = 100
"""An archive may unpack to so many times its own size, and to the first megabyte in any case."""

MOST_FILES = 100_000
_INSTALL = "birdenv data fetch needs {}: pip install 'birdenv[fetch]' (in a clone: -e '.[fetch]')"


def told(checked: str) -> str:
    """Return the day on which an address was checked, in words."""
    return "address not checked" if checked == "not checked" else f"address checked on {checked}"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Place(_Record):
    """The place where a data set, or a part of it, is published.

    Attributes:
        kind: `archive`, a zip file, or `hub`, a data set of the Hugging Face Hub.
        address: the address of the archive, or the name of the data set.
        has: what is there, in words.
        checked: the day on which somebody fetched it from there, or `not checked`.
        at_most_gb: more than this is not downloaded.
        sha256: the digest of the archive, if somebody has seen its bytes.
    """

    kind: Literal["archive", "hub"]
    address: str
    has: str
    checked: str
    at_most_gb: float
    sha256: str | None = None

    def __str__(self) -> str:
        return f"{self.address} ({self.has}; {told(self.checked)})"


class Dumps(_Record):
    """The place of a data set's PostgreSQL dumps, which a person has to download with a browser."""

    address: str
    checked: str


class Published(_Record):
    """A public benchmark: its licence, where it is, and what to do with it.

    Attributes:
        task_files: the names that its task file has.
        ground_truth: what to write into the subject of the e-mail that asks for the ground truth.
        seen: the digests of some of its files, of the edition that birdenv was tested with.
        next: the command that plays it.
    """

    title: str
    licence: str
    home: str
    places: tuple[Place, ...]
    task_files: tuple[str, ...]
    next: str
    dumps: Dumps | None = None
    ground_truth: str | None = None
    seen: dict[str, str] = {}


@cache
def published() -> dict[str, Published]:
    """Return the public benchmarks that can be fetched, by name."""
    text = (Path(__file__).parent / "sources.json").read_text(encoding="utf-8")
    return {name: Published(**fields) for name, fields in json.loads(text).items()}


def fetch_hub(place: Place, folder: Path) -> None:
    """Download a data set of the Hugging Face Hub into a folder, or what is still missing there.

    The library's own variables hold: `HF_ENDPOINT` names a mirror, `HF_TOKEN` a key, `HF_HUB_OFFLINE` and the
    like.

    Raises:
        InfrastructureError: the Hub is out of reach, or what it sends is not what it announces.
        InputError: the library is missing, or the data set is too large or has names that lead outside.
    """
    try:
        from huggingface_hub import HfApi, RepoFile, snapshot_download
        from huggingface_hub.utils import disable_progress_bars
    except ImportError as error:
        raise InputError(_INSTALL.format(error.name)) from None
    if not sys.stderr.isatty():
        disable_progress_bars()
    with _network_errors(place, "Run the command again: what is there is not downloaded again."):
        commit = HfApi().dataset_info(place.address).sha  # what is checked is what is downloaded
        files = HfApi().list_repo_tree(place.address, repo_type="dataset", recursive=True, revision=commit)
        sizes = {file.path: file.size for file in files if isinstance(file, RepoFile)}
    for name in sizes:
        _inside(name, place.address)
    _check_room(sum(sizes.values()), place, folder)
    with _network_errors(place, "Run the command again: what is there is not downloaded again."):
        snapshot_download(place.address, repo_type="dataset", revision=commit, local_dir=folder)


def fetch_archive(place: Place, folder: Path, progress: Any = None) -> None:
    """Download an archive, and unpack it into a folder.

    Args:
        progress: shows how far the download is; an object with `total`, `update`, `reset` and `close`, as
            `tqdm` makes them.

    Raises:
        InfrastructureError: the address is out of reach, or what it sends is torn or not what is expected.
        InputError: the library is missing, or the archive is one that `unpack` refuses.
    """
    try:
        import pooch
    except ImportError as error:
        raise InputError(_INSTALL.format(error.name)) from None
    again = "Try again later, or download it in another way, and name the file with --archive."
    with tempfile.TemporaryDirectory(prefix=".download-", dir=_made(folder)) as name:
        pooch.get_logger().setLevel("WARNING")
        bounded = _BoundedFile(place, folder, progress)
        downloader = pooch.HTTPDownloader(progressbar=bounded, timeout=60)
        known = f"sha256:{place.sha256}" if place.sha256 else None
        with _network_errors(place, again):
            path = pooch.retrieve(place.address, known, "archive.zip", name, downloader=downloader)
        unpack(Path(path), folder, called=place.address)


def unpack(archive: Path, folder: Path, *, called: str = "") -> None:
    """Unpack a zip archive into a folder, all of it or nothing.

    Links, names that lead outside, encrypted files and archives that grow more than `EXPANSION` times are
    refused, and no file or folder that is there already is replaced.

    Args:
        called: what the archive is called in errors, if not by its path.
    """
    called = called or str(archive)
    if not archive.is_file():
        raise InputError(f"{called}: no such file")
    folder = _made(folder)
    try:
        with (
            zipfile.ZipFile(archive) as file,
            tempfile.TemporaryDirectory(prefix=".unpacking-", dir=folder) as name,
        ):
            members = _members(file, called)
            total = sum(member.file_size for member in members)
            most = EXPANSION * archive.stat().st_size + 2**20
            if total > most:
                raise InputError(f"{called}: it would unpack to {total:,} bytes, more than {most:,}: refused")
            _check_disk(total, folder)
            tops = {PurePosixPath(member.filename).parts[0] for member in members}
            for top in sorted(tops):
                if os.path.lexists(folder / top):
                    raise InputError(f"{folder / top} is there already: remove it, or name another folder")
            for member in members:
                file.extract(member, name)  # reads no more than `file_size`, and checks the digest
            for top in sorted(tops):
                Path(name, top).rename(folder / top)
    except BirdenvError:
        raise
    except OSError as error:
        raise InfrastructureError(f"{called}: cannot be unpacked into {folder}: {error}") from None
    except Exception as error:  # every compression has errors of its own, and names can be no text
        raise InputError(f"{called}: not a whole zip archive ({error})") from None


def _members(file: zipfile.ZipFile, called: str) -> list[zipfile.ZipInfo]:
    """Return the files and folders of an archive, without what macOS adds; an error if one of them is not
    plain.
    """
    found = []
    for member in file.infolist():
        parts = _inside(member.filename, called).parts
        if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise InputError(f"{called}: {member.filename!r} is a link or a device: refused")
        if member.flag_bits & 1:
            raise InputError(f"{called}: {member.filename!r} is encrypted: refused")
        if parts and "__MACOSX" not in parts and parts[-1] != ".DS_Store":
            found.append(member)
    if len(found) > MOST_FILES:
        raise InputError(f"{called}: it has {len(found):,} files, more than {MOST_FILES:,}: refused")
    return found


def _inside(name: str, called: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or any(letter in name for letter in "\\:\0"):
        raise InputError(f"{called}: the name {name!r} leads outside of the folder: refused")
    return path


@contextmanager
def _network_errors(place: Place, hint: str) -> Iterator[None]:
    """Say what went wrong on the way in one line. The libraries raise errors of many families."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InfrastructureError(f"{place.address}: cannot be fetched: {first}. {hint}") from error


class _BoundedFile:
    """Counts what is downloaded, in the place of a progress bar, and stops it at a bound."""

    def __init__(self, place: Place, folder: Path, bar: Any) -> None:
        self._place, self._folder, self._bar = place, folder, bar
        self._total = self._done = 0

    @property
    def total(self) -> int:
        return self._total

    @total.setter
    def total(self, size: int) -> None:
        self._total = size
        _check_room(size, self._place, self._folder)
        if self._bar is not None:
            self._bar.total = size

    def update(self, size: int) -> None:
        self._done += size
        _check_room(self._done, self._place, None)
        if self._bar is not None:
            self._bar.update(size)

    def reset(self) -> None:
        self._done = 0
        if self._bar is not None:
            self._bar.reset()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _check_room(size: int, place: Place, folder: Path | None) -> None:
    if size > place.at_most_gb * 1e9:
        raise InputError(
            f"{place.address}: {size:,} bytes or more, where {place.at_most_gb:g} GB is the most: refused"
        )
    if folder is not None:
        _check_disk(size, folder)


def _check_disk(size: int, folder: Path) -> None:
    if size > (free := shutil.disk_usage(_made(folder)).free):
        raise InfrastructureError(f"{folder}: {size:,} bytes are needed, and {free:,} are free")


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be used as a folder: {error.strerror}") from None
    return folder


def describe_fetched(benchmark: Published, folder: Path) -> list[str]:
    """Return what to tell about a fetched benchmark: which of its files are known, and what to do next."""
    lines = []
    for name, digest in benchmark.seen.items():
        for path in sorted(folder.rglob(name)):
            same = "is the edition" if file_digest(path) == digest else "is NOT the edition"
            lines.append(f"{path} {same} that birdenv was tested with.")
    found = [path for name in benchmark.task_files for path in sorted(folder.rglob(name))]
    tasks = str(found[0]) if found else "TASK_FILE"
    databases = next(
        (str(path) for path in sorted(folder.rglob("dev_databases")) if is_directory(path)), None
    )
    if benchmark.dumps is not None:
        dumps = folder / "postgre_table_dumps"
        if is_directory(dumps):
            lines.append(f"Load the databases: birdenv db load {dumps}")
        else:
            lines += [
                f"Download its PostgreSQL dumps with a browser ({told(benchmark.dumps.checked)}):",
                f"  {benchmark.dumps.address}",
                f"Unpack them into {dumps} and load them: birdenv db load {dumps}",
            ]
    merged = folder / "merged.jsonl"
    if benchmark.ground_truth is not None:
        lines += [
            "Its authors send the gold SQL and the test cases by e-mail: write to bird.bench25@gmail.com",
            f"with the subject {benchmark.ground_truth}, then merge what they send:",
            f"  birdenv data merge {tasks} GROUND_TRUTH.jsonl {merged}",
        ]
    command = benchmark.next.format(
        tasks=tasks,
        databases=databases or "DATABASES",
        folder=Path(tasks).parent if found else folder,
        merged=merged,
    )
    return [*lines, f"Then play it: {command}"]
