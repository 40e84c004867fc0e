"""Download public benchmarks from the sites on which their authors publish them.

The file `sources.json` in this folder lists the sites, and the day on which each address was last checked.
Downloads are untrusted: nothing is written outside the target folder, no links are created, and an archive is
unpacked completely or not at all, within size limits.
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
"""An archive may expand to this many times its own size, plus one megabyte."""

MOST_FILES = 100_000
"""The maximum number of files in an archive."""

_INSTALL = "birdenv data fetch needs {}: pip install 'birdenv[fetch]' (in a clone: -e '.[fetch]')"


def told(checked: str) -> str:
    """Format a place's field `checked` as `address checked on DAY` or `address not checked`."""
    return "address not checked" if checked == "not checked" else f"address checked on {checked}"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Place(_Record):
    """A download site for a data set or part of a data set.

    Attributes:
        kind: `archive` (a zip file) or `hub` (a data set on the Hugging Face Hub).
        address: the address of the archive, or the name of the data set on the Hub.
        has: a description of the files that can be downloaded.
        checked: the day on which the download was last tested, or `not checked`.
        at_most_gb: the maximum size of the download in GB. Larger downloads are rejected.
        sha256: the SHA-256 digest of the archive; None if unknown.
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
    """A site with a data set's PostgreSQL dumps, which have to be downloaded manually in a browser."""

    address: str
    checked: str


class Published(_Record):
    """A public benchmark that birdenv can fetch.

    Attributes:
        title: the name for display.
        licence: the name of the licence.
        home: the address of the home page.
        places: the download sites.
        task_files: the possible names of the task file.
        next: the command that plays the benchmark after the download.
        dumps: the site with the PostgreSQL dumps; None if there are no dumps.
        ground_truth: the subject line of an e-mail that asks the authors for the ground truth;
            None if the ground truth is public.
        seen: the digests of the files that birdenv was tested with, keyed by file name.
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
    """Return the public benchmarks that birdenv can fetch, keyed by name."""
    text = (Path(__file__).parent / "sources.json").read_text(encoding="utf-8")
    return {name: Published(**fields) for name, fields in json.loads(text).items()}


def fetch_hub(place: Place, folder: Path) -> None:
    """Download a data set from the Hugging Face Hub into a folder, keeping files that are already there.

    The environment variables of `huggingface_hub` apply. For example, `HF_ENDPOINT` names a mirror, and
    `HF_TOKEN` contains an access token.

    Raises:
        InfrastructureError: the Hub cannot be reached, or the download is damaged.
        InputError: the library `huggingface_hub` is missing, the data set is too large, or a file name points
            outside the folder.
    """
    try:
        from huggingface_hub import HfApi, RepoFile, snapshot_download
        from huggingface_hub.utils import disable_progress_bars
    except ImportError as error:
        raise InputError(_INSTALL.format(error.name)) from None
    if not sys.stderr.isatty():
        disable_progress_bars()
    again = "Run the command again: complete files are not downloaded a second time."
    with _network_errors(place, again):
        commit = HfApi().dataset_info(place.address).sha  # so that what is checked is what is downloaded
        files = HfApi().list_repo_tree(place.address, repo_type="dataset", recursive=True, revision=commit)
        sizes = {file.path: file.size for file in files if isinstance(file, RepoFile)}
    for name in sizes:
        _inside(name, place.address)
    _check_room(sum(sizes.values()), place, folder)
    with _network_errors(place, again):
        snapshot_download(place.address, repo_type="dataset", revision=commit, local_dir=folder)


def fetch_archive(place: Place, folder: Path, progress: Any = None) -> None:
    """Download an archive and unpack it into a folder.

    Args:
        place: the download site.
        folder: the folder to unpack the archive into.
        progress: a progress bar for the download, such as a `tqdm`: an object with `total`, `update`, `reset`
            and `close`.

    Raises:
        InfrastructureError: the address cannot be reached, or the download is damaged.
        InputError: the download library is missing, or `unpack` rejects the archive.
    """
    try:
        import pooch
    except ImportError as error:
        raise InputError(_INSTALL.format(error.name)) from None
    again = "Try again later, or download the file yourself and name it with --archive."
    with tempfile.TemporaryDirectory(prefix=".download-", dir=_made(folder)) as name:
        pooch.get_logger().setLevel("WARNING")
        bounded = _BoundedFile(place, folder, progress)
        downloader = pooch.HTTPDownloader(progressbar=bounded, timeout=60)
        known = f"sha256:{place.sha256}" if place.sha256 else None
        with _network_errors(place, again):
            path = pooch.retrieve(place.address, known, "archive.zip", name, downloader=downloader)
        unpack(Path(path), folder, called=place.address)


def unpack(archive: Path, folder: Path, *, called: str = "") -> None:
    """Unpack a zip archive into a folder, completely or not at all.

    Existing files and folders are never replaced.

    Args:
        archive: the path of the archive.
        folder: the folder to unpack the archive into.
        called: the name of the archive in error messages; by default, its path.

    Raises:
        InputError: the archive is damaged or expands too much; it contains links, encrypted files or names
            that point outside the folder; or a file or folder in it already exists.
        InfrastructureError: the folder cannot be written, or the disk is full.
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
                raise InputError(
                    f"{called} was not unpacked: it would expand to {total:,} bytes, but at most {most:,} "
                    "bytes are allowed"
                )
            _check_disk(total, folder)
            tops = {PurePosixPath(member.filename).parts[0] for member in members}
            for top in sorted(tops):
                if os.path.lexists(folder / top):
                    raise InputError(f"{folder / top} already exists: remove it, or name another folder")
            for member in members:
                file.extract(member, name)  # reads no more than `file_size`, and checks the digest
            for top in sorted(tops):
                Path(name, top).rename(folder / top)
    except BirdenvError:
        raise
    except OSError as error:
        raise InfrastructureError(f"{called}: cannot be unpacked into {folder}: {error}") from None
    except Exception as error:  # each compression method has its own errors, and names may be no text
        raise InputError(f"{called} is not a complete zip archive ({error})") from None


def _members(file: zipfile.ZipFile, called: str) -> list[zipfile.ZipInfo]:
    """Return the files and folders in an archive, except those that macOS adds.

    Raises:
        InputError: the archive contains a link, a device, an encrypted file, or too many files.
    """
    found = []
    for member in file.infolist():
        parts = _inside(member.filename, called).parts
        if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise InputError(f"{called} was not unpacked: {member.filename!r} is a link or a device")
        if member.flag_bits & 1:
            raise InputError(f"{called} was not unpacked: {member.filename!r} is encrypted")
        if parts and "__MACOSX" not in parts and parts[-1] != ".DS_Store":
            found.append(member)
    if len(found) > MOST_FILES:
        raise InputError(f"{called} was not unpacked: it has more than {MOST_FILES:,} files")
    return found


def _inside(name: str, called: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or any(letter in name for letter in "\\:\0"):
        raise InputError(f"{called} contains the path {name!r}, which leads outside the folder")
    return path


@contextmanager
def _network_errors(place: Place, hint: str) -> Iterator[None]:
    """Raise any error of a download library as a one-line `InfrastructureError`."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InfrastructureError(f"{place.address} cannot be downloaded: {first}. {hint}") from error


class _BoundedFile:
    """A progress bar for `pooch` that stops the download at a size limit."""

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
            f"{place.address} was not downloaded: it has at least {size:,} bytes, and the "
            f"limit is {place.at_most_gb:g} GB"
        )
    if folder is not None:
        _check_disk(size, folder)


def _check_disk(size: int, folder: Path) -> None:
    if size > (free := shutil.disk_usage(_made(folder)).free):
        raise InfrastructureError(f"{folder} needs {size:,} bytes, but its disk has only {free:,} bytes free")


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be used as a folder: {error.strerror}") from None
    return folder


def describe_fetched(benchmark: Published, folder: Path) -> list[str]:
    """Return lines that say which files are the tested editions, and what to do next."""
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
            "The authors send the gold SQL and the test cases by e-mail: write to bird.bench25@gmail.com",
            f"with the subject {benchmark.ground_truth}, then merge the file that they send:",
            f"  birdenv data merge {tasks} GROUND_TRUTH.jsonl {merged}",
        ]
    command = benchmark.next.format(
        tasks=tasks,
        databases=databases or "DATABASES",
        folder=Path(tasks).parent if found else folder,
        merged=merged,
    )
    return [*lines, f"Then play it: {command}"]
