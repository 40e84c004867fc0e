"""A child process that does what it is told: importable, so that child processes find it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from birdenv.processes._messages import decoded, encoded, receive, send


def main(connection: socket.socket) -> None:
    while True:
        try:
            order, value = decoded(receive(connection))
        except EOFError:
            return
        send(connection, encoded(_obey(connection, order, value)))


def _obey(connection: socket.socket, order: str, value: Any) -> Any:
    match order:
        case "echo":
            return value
        case "look":
            return {
                "folder": _folder(),
                "is_package_run": hasattr(sys.modules["birdenv"], "__file__"),
            }
        case "sleep":
            time.sleep(value)
        case "compute":  # nothing in Python can interrupt this
            re.match("(a+)+$", "a" * 60 + "b")
        case "exit":
            sys.exit(value)
        case "die":
            os.kill(os.getpid(), value)
        case "say":
            connection.sendall(bytes.fromhex(value))
            time.sleep(60)
        case "hang up":
            connection.close()
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
