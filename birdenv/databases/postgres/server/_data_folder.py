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

_REASON: Final = re.compile(r"\b(FATAL|PANIC|ERROR|HINT|Error|error|could not|No space)\b")


def make_data(binaries: Binaries, place: ServerPaths) -> None:
    """`initdb`, in a folder that gets its name when all is there."""
    unfinished = place.root / "data.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    with file_errors(unfinished, "made"):
        unfinished.mkdir(mode=0o700)
        place.maker.give(unfinished)
    # Text is ordered by code point, as SQLite orders it, and the same on every machine.
    locales = (
        [["--locale-provider=builtin", "--locale=C", "--builtin-locale=C.UTF-8"]]
        if binaries.major >= 17
        else [["--locale=C.UTF-8"], ["--locale=C"]]
    )
    told = ""
    for locale in locales:
        checksums = ["--no-data-checksums"] if binaries.major >= 18 else []
        options = ["-U", ADMIN, "--auth=trust", "--encoding=UTF8", "--no-sync", *checksums, *locale]
        made = subprocess.run(
            [binaries.folder / "initdb", "-D", unfinished, *options],
            capture_output=True,
            text=True,
            errors="replace",
            cwd=unfinished,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            **place.maker.as_keywords(),
        )
        told = made.stderr
        if made.returncode == 0:
            place.account.give(unfinished)
            shutil.rmtree(place.data, ignore_errors=True)
            unfinished.rename(place.data)
            return
    shutil.rmtree(unfinished, ignore_errors=True)
    raise InputError(f"{place.data}: the server's files cannot be made: {_reasons(told.splitlines())}")


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
    """Whether the process is there and runs PostgreSQL's program."""
    try:
        return "postgres" in Path(f"/proc/{process}/comm").read_text()
    except OSError:
        if Path("/proc/self").exists():
            return False
    told = subprocess.run(["ps", "-o", "comm=", "-p", str(process)], capture_output=True, text=True)
    return "postgres" in told.stdout


def machine_session() -> str:
    """What changes when the machine is started again; empty where that cannot be told."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    with suppress(OSError):
        told = subprocess.run(["sysctl", "-n", "kern.bootsessionuuid"], capture_output=True, text=True)
        return told.stdout.strip()
    return ""


def last_words(log: Path) -> str:
    """The end of the server's log in one line, if there are reasons in it only these."""
    return _reasons(log.read_text(errors="replace").splitlines()[-40:]) or f"its log {log} is empty"


def _reasons(lines: list[str]) -> str:
    faults = [line for line in lines if _REASON.search(line)]
    return " ".join(" ".join((faults or lines)[-4:]).split())
