"""The child's side: limits and a timely end of the process, and the loop that answers its owner's calls.

Imported in every child: standard library only, and little of it.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import os
import pickle
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any, Final

from birdenv.errors import InputError
from birdenv.processes.messages import decoded, encoded, packed, receive, send

ANSWER, QUESTION, REFUSED, FAULT = b"\0", b"\1", b"\2", b"\3"
"""First byte of a child's message. What follows is the answer to the call, something that the child asks
before it can answer, why it cannot use what it was given, or the traceback of a fault of ours."""

OUT_OF_MEMORY: Final = 77
"""Exit code of a child that has no memory left, perhaps not even for saying so."""

_PR_SET_PDEATHSIG: Final = 1


class Owner:
    """The connection to the process that started this one.

    Args:
        connection: the socket.
        sees: see `birdenv.processes.starting.Sees`.
    """

    def __init__(self, connection: socket.socket, sees: str) -> None:
        self._connection = connection
        self._sees = sees
        self._load: Callable[[bytes], Any] = decoded if sees == "nothing" else pickle.loads
        self._dump: Callable[[Any], bytes] = packed if sees == "modules" else encoded

    def serve(self, handle: Callable[..., Any]) -> None:
        """Answer calls by `handle(*request)` until the owner closes the connection."""
        while self.serve_once(handle):
            pass

    def serve_once(self, handle: Callable[..., Any]) -> bool:
        """Answer one call by `handle(*request)`; return False if the owner has closed the connection."""
        try:
            request = self.receive()
        except (EOFError, OSError):
            return False
        try:
            message = ANSWER + self._dump(handle(*request))
        except InputError as error:
            message = REFUSED + str(error).encode(errors="backslashreplace")
        except (EOFError, OSError):
            return False  # in asking the owner, who is gone
        except MemoryError:
            raise
        except Exception:
            message = FAULT + traceback.format_exc().encode(errors="backslashreplace")
        send(self._connection, message)
        return True

    def accept(self) -> Owner | None:
        """Wait for a further connection that the owner opens; None if the owner is gone."""
        try:
            _, descriptors, _, _ = socket.recv_fds(self._connection, 1, 1)
        except OSError:
            return None
        return Owner(socket.socket(fileno=descriptors[0]), self._sees) if descriptors else None

    def receive(self) -> Any:
        """Receive one request. Raises `EOFError` or another `OSError` if the owner is gone."""
        return self._load(receive(self._connection))

    def answer(self, value: Any) -> None:
        """Answer the request that was received last."""
        send(self._connection, ANSWER + self._dump(value))

    def ask(self, question: Any) -> Any:
        """Ask the owner something while it waits for an answer."""
        send(self._connection, QUESTION + self._dump(question))
        return self.receive()


def run(module: str, owner: int, descriptor: int, descriptors: list[int], sees: str) -> None:
    """Run `main` of a module with its `Owner` and the other arguments that it was given."""
    die_with_owner()
    if os.getppid() != owner:
        return  # it died before
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's business
    for stopper in (signal.SIGXCPU, signal.SIGALRM, signal.SIGPROF):
        signal.signal(stopper, signal.SIG_DFL)
    set_limit(resource.RLIMIT_CORE, 0)
    connection = socket.socket(fileno=descriptor)
    atexit.register(connection.detach)  # the kernel closes it: who sees its end finds the exit code, too
    try:
        importlib.import_module(module).main(Owner(connection, sees), *descriptors)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)


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
