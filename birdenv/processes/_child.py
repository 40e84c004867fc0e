"""What a child process does to itself, before the `main` of its module and in it: limits, and a timely end.

Imported in every child: standard library only, and little of it.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import os
import resource
import signal
import socket
import sys
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def run(module: str, owner: int, descriptor: int, descriptors: list[int]) -> None:
    """Run `main` of a module with the connection to the owner, and with what else it was given."""
    die_with_owner()
    if os.getppid() != owner:
        return  # it died before
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's business
    for stopper in (signal.SIGXCPU, signal.SIGALRM, signal.SIGPROF):
        signal.signal(stopper, signal.SIG_DFL)
    set_limit(resource.RLIMIT_CORE, 0)
    connection = socket.socket(fileno=descriptor)
    atexit.register(connection.detach)  # the kernel closes it: who sees its end finds the exit code, too
    importlib.import_module(module).main(connection, *descriptors)


def die_with_owner() -> None:
    """Let the kernel end this process with its owner, whatever it does then (Linux).

    Becoming another user undoes it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def set_limit(which: int, soft: int, hard: int | None = None) -> None:
    """Set a limit of the kernel, at most to what this process may have.

    Args:
        which: one of `resource`'s.
        soft: what holds from now on.
        hard: up to where it may be raised again; None leaves that as it is.
    """
    _, most = resource.getrlimit(which)
    hard = most if hard is None else hard
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(which, (soft, hard))
