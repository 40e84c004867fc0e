"""The embedded server's data folder: making it, and reading what a server, alive or dead, left in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

from birdenv.databases.postgres.server._binaries import Binaries
from birdenv.databases.postgres.server._paths import SOCKET, ServerPaths
from birdenv.errors import InputError
from birdenv.files import file_errors

ADMIN: Final = "birdenv"
"""The embedded server's superuser."""

# Text is ordered by code point, as SQLite orders it, and the same on every machine.
_INITDB_OPTIONS: Final = (
    "--auth=trust --encoding=UTF8 --no-sync --no-data-checksums"
    " --locale-provider=builtin --locale=C --builtin-locale=C.UTF-8"
).split()
_REASON: Final = re.compile(r"\b(FATAL|PANIC|ERROR|HINT|Error|error|could not|No space)\b")


def make_data(binaries: Binaries, place: ServerPaths) -> None:
    """`initdb`, in a folder that gets its name when all is there."""
    unfinished = place.root / "data.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    with file_errors(unfinished, "made"):
        unfinished.mkdir(mode=0o700)
        place.maker.give(unfinished)
    made = subprocess.run(
        [binaries.folder / "initdb", "-D", unfinished, "-U", ADMIN, *_INITDB_OPTIONS],
        capture_output=True,
        text=True,
        errors="replace",
        cwd=unfinished,
        env={"PATH": os.defpath, "LC_ALL": "C"},
        **place.maker.as_keywords(),
    )
    if made.returncode != 0:
        shutil.rmtree(unfinished, ignore_errors=True)
        reasons = _reasons(made.stderr.splitlines())
        raise InputError(f"{place.data}: the server's files cannot be made: {reasons}")
    place.account.give(unfinished)
    shutil.rmtree(place.data, ignore_errors=True)
    unfinished.rename(place.data)


def pid_file(data: Path) -> dict[str, str]:
    """What a running server writes about itself; empty if there is no such file, or it is being written."""
    names = ("pid", "data", "started", "port", "sockets", "address", "memory", "status")
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except OSError:
        return {}
    return dict(zip(names, map(str.strip, lines), strict=False))


def remove_stale_locks(place: ServerPaths) -> None:
    """Remove a dead server's lock files whose number another program has got: PostgreSQL cannot tell that."""
    for path in (place.data / "postmaster.pid", place.sockets / f"{SOCKET}.lock"):
        with suppress(FileNotFoundError):
            number = path.read_text().partition("\n")[0].strip()
            if not number.isdecimal() or not _is_postgres(int(number)):
                path.unlink()


def _is_postgres(process: int) -> bool:
    """Return whether the process is there and runs PostgreSQL's program; True where that cannot be told."""
    try:
        return "postgres" in Path(f"/proc/{process}/comm").read_text()
    except OSError:
        return not Path("/proc/self").exists()


def machine_session() -> str:
    """Return what changes when the machine is started again; empty where that cannot be told (macOS)."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


def last_words(log: Path) -> str:
    """The end of the server's log in one line, if there are reasons in it only these."""
    return _reasons(log.read_text(errors="replace").splitlines()[-40:]) or f"its log {log} is empty"


def _reasons(lines: list[str]) -> str:
    faults = [line for line in lines if _REASON.search(line)]
    return " ".join(" ".join((faults or lines)[-4:]).split())
