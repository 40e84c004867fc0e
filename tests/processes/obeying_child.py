"""A child process that does what it is told: importable, so that child processes find it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from birdenv.errors import InputError
from birdenv.processes.child import ANSWER, Owner


def main(owner: Owner) -> None:
    owner.serve(lambda order, value: obey(owner, order, value))


def obey(owner: Owner, order: str, value: Any) -> Any:  # noqa: C901
    match order:
        case "echo":
            return value
        case "look":
            return {
                "folder": _folder(),
                "is_package_run": hasattr(sys.modules["birdenv"], "__file__"),
            }
        case "ask":
            return [owner.ask(number) for number in range(value)]
        case "refuse":
            raise InputError(value)
        case "fail":
            raise RuntimeError(value)
        case "memory":
            raise MemoryError
        case "sleep":
            time.sleep(value)
        case "compute":  # nothing in Python can interrupt this
            re.match("(a+)+$", "a" * 60 + "b")
        case "exit":
            os._exit(value)
        case "die":
            os.kill(os.getpid(), value)
        case "say":
            owner._connection.sendall(bytes.fromhex(value).replace(b"ANSWER", ANSWER))
            time.sleep(60)
        case "hang up":
            owner._connection.close()
            time.sleep(60)
        case "start another":
            return subprocess.Popen(["sleep", "60"]).pid
        case "signals":
            return signal.getsignal(signal.SIGINT) is signal.SIG_IGN, os.getsid(0) == os.getpid()
    return None


def _folder() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return "none"
