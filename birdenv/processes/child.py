"""The code that runs inside a child process: it sets up the process, and answers calls from the parent.

Every child process imports this module. Therefore it imports only a small part of the standard library.
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
"""The first byte of a child's message. It is followed by the answer to the call, a question to the owner, the
reason why the request is refused, or the traceback of an internal error."""

OUT_OF_MEMORY: Final = 77
"""The exit code of a child that has run out of memory, and may not even be able to send a message."""

_PR_SET_PDEATHSIG: Final = 1


class Owner:
    """A child process's connection to its parent, which is the process that started it.

    Args:
        connection: the socket.
        sees: which parts of the parent's environment the child process sees
            (`birdenv.processes.starting.Sees`). This determines how messages are encoded.
    """

    def __init__(self, connection: socket.socket, sees: str) -> None:
        self._connection = connection
        self._sees = sees
        self._load: Callable[[bytes], Any] = decoded if sees == "nothing" else pickle.loads
        self._dump: Callable[[Any], bytes] = packed if sees == "modules" else encoded

    def serve(self, handle: Callable[..., Any]) -> None:
        """Answer requests with `handle(*request)` until the parent closes the connection."""
        while self.serve_once(handle):
            pass

    def serve_once(self, handle: Callable[..., Any]) -> bool:
        """Answer one request with `handle(*request)`. Return False if the parent closed the connection."""
        try:
            request = self.receive()
        except (EOFError, OSError):
            return False
        try:
            message = ANSWER + self._dump(handle(*request))
        except InputError as error:
            message = REFUSED + str(error).encode(errors="backslashreplace")
        except (EOFError, OSError):
            return False  # the parent has exited while it was asked
        except MemoryError:
            raise
        except Exception:
            message = FAULT + traceback.format_exc().encode(errors="backslashreplace")
        send(self._connection, message)
        return True

    def accept(self) -> Owner | None:
        """Wait for a new connection from the parent and return it, or None if the parent has exited."""
        try:
            _, descriptors, _, _ = socket.recv_fds(self._connection, 1, 1)
        except OSError:
            return None
        return Owner(socket.socket(fileno=descriptors[0]), self._sees) if descriptors else None

    def receive(self) -> Any:
        """Wait for a request, and return it. Raises `EOFError` or `OSError` if the parent has exited."""
        return self._load(receive(self._connection))

    def answer(self, value: Any) -> None:
        """Send the answer to the latest request."""
        send(self._connection, ANSWER + self._dump(value))

    def ask(self, question: Any) -> Any:
        """Ask the parent a question while a request is being answered, and return the parent's reply."""
        send(self._connection, QUESTION + self._dump(question))
        return self.receive()


def run(module: str, owner: int, descriptor: int, descriptors: list[int], sees: str) -> None:
    """Run the function `main` of a module in this new process.

    Args:
        module: the name of the module.
        owner: the process id of the parent.
        descriptor: the file descriptor of the connection to the parent.
        descriptors: open file descriptors, which are passed to `main` as additional arguments.
        sees: as in `Owner`.
    """
    die_with_owner()
    if os.getppid() != owner:
        return  # the parent has already exited
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    for stopper in (signal.SIGXCPU, signal.SIGALRM, signal.SIGPROF):
        signal.signal(stopper, signal.SIG_DFL)
    set_limit(resource.RLIMIT_CORE, 0)
    connection = socket.socket(fileno=descriptor)
    atexit.register(connection.detach)  # the kernel closes it, so that its end implies an exit code
    try:
        importlib.import_module(module).main(Owner(connection, sees), *descriptors)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)


def die_with_owner() -> None:
    """On Linux, kill this process when its parent exits. Changing the user id cancels this."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def set_limit(which: int, soft: int, hard: int | None = None) -> None:
    """Set a kernel limit on this process. If `soft` is not permitted, set the maximum permitted value.

    Args:
        which: a constant from the module `resource`, such as `RLIMIT_AS`.
        soft: the limit.
        hard: the maximum value to which the limit can later be raised; None to keep the current maximum.
    """
    _, most = resource.getrlimit(which)
    hard = most if hard is None else hard
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(which, (soft, hard))
