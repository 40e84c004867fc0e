"""Call a child process that may die at any time. Each call returns an answer or a `Death`."""

from __future__ import annotations

import abc
import contextlib
import math
import os
import pickle
import signal
import socket
import subprocess
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from birdenv.errors import BirdenvError, InfrastructureError, InputError
from birdenv.processes.child import ANSWER, FAULT, OUT_OF_MEMORY, QUESTION, REFUSED
from birdenv.processes.messages import MessageError, TimedSocket, decoded, encoded, receive, send, unpacked
from birdenv.processes.starting import Sees, end_process, start_process, strike

T = TypeVar("T")

_END_SECONDS: Final = 5.0  # to wait for the end of a killed process


def _unread(value: Any) -> Any:
    return value


class _AnswerError(Exception):
    """Answering a question of the child process failed through no fault of that process."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


class Death(NamedTuple):
    """The reason why a child process ended without answering a call.

    Attributes:
        reason: a short description of the cause.
        was_late: whether the process was killed because it exceeded a time limit.
        exit_code: the exit code, which is negative for a signal; None if the parent killed the process.
    """

    reason: str
    was_late: bool = False
    exit_code: int | None = None


class Channel(abc.ABC):
    """A connection to a child process, which answers one call at a time.

    If a call fails for any reason, including Ctrl-C, the process is killed. Otherwise, the next caller could
    receive the rest of an old message.
    """

    _deadline = _most_bytes = math.inf

    def __init__(
        self, connection: TimedSocket, dump: Callable[[Any], bytes], load: Callable[[bytes], Any]
    ) -> None:
        self._connection = connection
        self._dump = dump
        self._load = load

    @property
    @abc.abstractmethod
    def is_ours(self) -> bool:
        """Return whether this process started the child; False in a forked child of the owner."""

    @abc.abstractmethod
    def end(self, reason: str = "", *, was_late: bool = False) -> Death:
        """Kill the process, and return a `Death` that says how it ended.

        By default, the reason is derived from the exit code. Set `was_late` if the process exceeded a time
        limit.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """Close the connection. Further calls have no effect."""

    def call(
        self,
        request: Any,
        *,
        seconds: float = math.inf,
        most_bytes: float = math.inf,
        read: Callable[[Any], T] = _unread,
        answer: Callable[[Any], Any] | None = None,
    ) -> T | Death:
        """Send a request to the process, and return its answer, or a `Death` if it dies.

        Args:
            request: the request.
            seconds: the wall-clock limit on the whole exchange, in seconds.
            most_bytes: the maximum size of one message from the process, in bytes.
            read: a function that converts the answer. If it raises `ValueError` or `TypeError`, the answer is
                malformed, and the process is killed.
            answer: a function that answers the process's questions during the call. It raises `MessageError`
                if a question is malformed. If it raises any other exception, the process is killed, and the
                exception is re-raised.

        Raises:
            InputError: the process rejected the request.
            BirdenvError: an internal error occurred in the process.
        """
        if not self.is_ours:
            self.close()
            return Death("it belongs to the process that this one was forked from")
        try:
            kind, body = self._exchange(request, seconds, most_bytes, answer)
            if kind == ANSWER:
                return read(self._load(body))
        except TimeoutError:
            return self.end("it did not answer", was_late=True)
        except (EOFError, OSError):
            return self.end()
        except (ValueError, TypeError) as error:
            return self.end(f"its answer was invalid: {error}")
        except _AnswerError as error:
            self.end("it is no longer needed")
            raise error.cause from None
        except BaseException:  # Ctrl-C: nobody needs the answer
            self.end("it is no longer needed")
            raise
        text = body.decode(errors="replace")
        if kind == REFUSED:
            raise InputError(text)
        if kind == FAULT:
            raise BirdenvError(f"a worker process failed:\n{text}")
        return self.end("its answer was invalid: the kind of message is unknown")

    def _exchange(
        self, request: Any, seconds: float, most_bytes: float, answer: Callable[[Any], Any] | None
    ) -> tuple[bytes, bytes]:
        """Send a request, answer questions, and return the kind and body of the last message."""
        self._deadline, self._most_bytes = time.monotonic() + seconds, most_bytes
        send(self._connection, self._dump(request), self._deadline)
        while True:
            message = receive(self._connection, most_bytes, self._deadline)
            kind, body = message[:1], message[1:]
            if kind != QUESTION or answer is None:
                return kind, body
            question = self._load(body)
            try:
                reply = answer(question)
            except (MessageError, OSError, EOFError):
                raise
            except Exception as error:
                raise _AnswerError(error) from error
            send(self._connection, self._dump(reply), self._deadline)

    def put(self, part: Any) -> Any:
        """Send part of an answer to the process, and return the next question from the process.

        Only the `answer` function that was passed to `call` may call this method. Raises `OSError`,
        `EOFError` or `MessageError`.
        """
        send(self._connection, self._dump(part), self._deadline)
        message = receive(self._connection, self._most_bytes, self._deadline)
        if message[:1] != QUESTION:
            raise MessageError("expected a question")
        return self._load(message[1:])


class ChildProcess(Channel):
    """A process that runs `main(owner)` of a module, and answers calls through `child.Owner`.

    The process leads its own session and process group, so that Ctrl-C in a terminal reaches only its parent.
    It exits when the parent closes the socket, and is killed when this object is garbage-collected. On Linux,
    the kernel also kills it when the parent exits.

    Only one thread at a time may call the process; `open_channel` opens connections for other threads.

    Args:
        module: the name of the module.
        descriptors: file descriptors that stay open in the process, and are passed to `main` as additional
            arguments.
        sees: which parts of the parent's environment the process sees (`Sees`). A process that sees `modules`
            runs only birdenv's code, and answers with plain values. Any other process runs third-party code,
            and answers with JSON.
        classes: the frozen record types that can occur in plain values.

    Attributes:
        at_work: whether the process is leased from a pool.

    Raises:
        InfrastructureError: no process can be started.
    """

    at_work = False

    def __init__(
        self,
        module: str,
        descriptors: Sequence[int] = (),
        sees: Sees = "modules",
        classes: Iterable[type] = (),
    ) -> None:
        self._owner = os.getpid()
        load: Callable[[bytes], Any] = decoded
        if sees == "modules":
            load = partial(unpacked, classes={(each.__module__, each.__qualname__): each for each in classes})
        our_end, child_end = socket.socketpair()
        super().__init__(TimedSocket(our_end.detach()), encoded if sees == "nothing" else pickle.dumps, load)
        with child_end:
            passed = [child_end.fileno(), *descriptors]
            try:
                self._process = start_process(module, passed, sees)
            except OSError as error:
                self._connection.close()
                raise InfrastructureError(f"cannot start a child process: {error}") from error
        # No process outlives its object, even if Ctrl-C comes while processes are being ended.
        self._finalizer = weakref.finalize(self, end_process, self._process, self._connection, self._owner)

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def is_ours(self) -> bool:
        """Return whether this process started the child; False in a forked child of the owner."""
        return self._owner == os.getpid()

    @property
    def is_closed(self) -> bool:
        """Return whether the parent has closed or killed the process."""
        return not self._finalizer.alive

    @property
    def is_alive(self) -> bool:
        """Return whether the child is running and was started by this process."""
        return self.is_ours and self._process.poll() is None

    def end(self, reason: str = "", *, was_late: bool = False) -> Death:
        """Kill the process, and return a `Death` that says how it ended.

        By default, the reason is derived from the exit code. Set `was_late` if the process exceeded a time
        limit.
        """
        self.kill()
        if reason:
            return Death(reason, was_late)
        with contextlib.suppress(subprocess.TimeoutExpired):  # another thread may be ending it, too
            self._process.wait(_END_SECONDS)
        code = self._process.returncode
        if code is None:
            return Death("it did not end when it was killed")
        if code == OUT_OF_MEMORY:
            return Death("it ran out of memory", exit_code=code)
        if code >= 0:
            return Death(f"it ended with exit code {code}", exit_code=code)
        name = signal.Signals(-code).name
        return Death(f"it was ended by {name}", name in ("SIGALRM", "SIGPROF"), code)

    def open_channel(self) -> SideChannel:
        """Open a new connection to the process, which must be waiting in `Owner.accept`.

        Raises:
            OSError: the process has exited.
        """
        our_end, child_end = socket.socketpair()
        channel = SideChannel(self, TimedSocket(our_end.detach()), self._dump, self._load)
        with child_end:
            socket.send_fds(self._connection, [b"\0"], [child_end.fileno()])
        return channel

    def strike(self) -> None:
        """Kill the process and its process group, without waiting for them to exit."""
        if self.is_ours:
            strike(self._process)

    def kill(self) -> None:
        """Kill the process and its process group. A process that is already exiting keeps its exit code.

        In a forked copy of the parent, only the connection is closed.
        """
        self.strike()
        self.close()

    def close(self) -> None:
        """Close the connection, and kill the process if it does not exit. Further calls have no effect."""
        self._finalizer()


class SideChannel(Channel):
    """An additional connection to a child process, which is closed when the process exits or earlier."""

    def __init__(
        self,
        process: ChildProcess,
        connection: TimedSocket,
        dump: Callable[[Any], bytes],
        load: Callable[[bytes], Any],
    ) -> None:
        super().__init__(connection, dump, load)
        self._process = process

    @property
    def is_ours(self) -> bool:
        return self._process.is_ours

    def end(self, reason: str = "", *, was_late: bool = False) -> Death:
        self.close()
        return self._process.end(reason, was_late=was_late)

    def close(self) -> None:
        self._connection.close()
