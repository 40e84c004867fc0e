"""Talking to a child process that is made to be killed: call with a deadline, an answer or a death, close."""

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

_END_SECONDS: Final = 5.0  # for one that was killed


def _unread(value: Any) -> Any:
    return value


class _AnswerError(Exception):
    """Answering a question of the process failed, by an error that is none of the process."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


class Death(NamedTuple):
    """The way in which a child process ended, or had to be ended, before it answered.

    Attributes:
        reason: in a few words, for people.
        was_late: time was up, by a clock; it was killed here or by the kernel.
        exit_code: what it ended with by itself, negative for a signal; None if it was killed here.
    """

    reason: str
    was_late: bool = False
    exit_code: int | None = None


class Channel(abc.ABC):
    """A connection to a child process on which it answers one call at a time.

    Whatever goes wrong in a call, Ctrl-C included, the process is killed: no half of a message is ever left
    to the next who talks.
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
        """Return False in a forked child: the process is the parent's."""

    @abc.abstractmethod
    def end(self, reason: str = "", *, was_late: bool = False) -> Death:
        """Kill the process and return how it died: for a `reason`, or else by its exit code."""

    @abc.abstractmethod
    def close(self) -> None:
        """Close the connection; closing again is fine."""

    def call(
        self,
        request: Any,
        *,
        seconds: float = math.inf,
        most_bytes: float = math.inf,
        read: Callable[[Any], T] = _unread,
        answer: Callable[[Any], Any] | None = None,
    ) -> T | Death:
        """Send a request and return the answer of the process, or how it died.

        Args:
            request: what the process is to answer.
            seconds: for the whole exchange, by the wall clock.
            most_bytes: of one message of the process.
            read: takes the answer apart. Where it raises `ValueError` or `TypeError`, the answer made no
                sense, and the process is killed.
            answer: answers the questions of the process. A `MessageError` says that a question made no
                sense; every other exception ends the process and is passed on.

        Raises:
            InputError: the process says that something it was given cannot be used.
            BirdenvError: a fault of ours in the process.
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
            return self.end(f"its answer made no sense: {error}")
        except _AnswerError as error:
            self.end("it is not needed any more")
            raise error.cause from None
        except BaseException:  # Ctrl-C: nobody waits for this answer any more
            self.end("it is not needed any more")
            raise
        text = body.decode(errors="replace")
        if kind == REFUSED:
            raise InputError(text)
        if kind == FAULT:
            raise BirdenvError(f"a worker process failed:\n{text}")
        return self.end("its answer made no sense: it is of no known kind")

    def _exchange(
        self, request: Any, seconds: float, most_bytes: float, answer: Callable[[Any], Any] | None
    ) -> tuple[bytes, bytes]:
        """Send a request, answer questions, and return kind and body of the last message."""
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
        """Send a part of the answer to a question of the process, and return its next question.

        Only while `answer` of a `call` runs. Raises `OSError`, `EOFError` or `MessageError`.
        """
        send(self._connection, self._dump(part), self._deadline)
        message = receive(self._connection, self._most_bytes, self._deadline)
        if message[:1] != QUESTION:
            raise MessageError("it does not ask")
        return self._load(message[1:])


class ChildProcess(Channel):
    """A process that runs `main(owner)` of a module and answers calls (`birdenv.processes.child.Owner`).

    It leads a session and a process group of its own (Ctrl-C in a terminal is the owner's business), learns
    of its owner's end by the end of the socket, and is killed by the kernel if it is busy then (Linux). It
    never outlives this object.

    Talking is for one thread at a time; `open_channel` gives other threads connections of their own.

    Args:
        module: the module.
        descriptors: stay open for the process, and are further arguments of `main`.
        sees: what it sees. Who sees `modules` is ours and answers in plain values; all others run code of
            others, and answer in JSON.
        classes: frozen records that may be among the plain values.

    Attributes:
        at_work: a pool has leased it to somebody.

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
                raise InfrastructureError(f"no child process can be started: {error}") from error
        # Ctrl-C may come anywhere, also where processes are ended: none outlives what knows of it.
        self._finalizer = weakref.finalize(self, end_process, self._process, self._connection, self._owner)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_ours(self) -> bool:
        """Return False in a forked child: the process is the parent's."""
        return self._owner == os.getpid()

    @property
    def is_closed(self) -> bool:
        """Return whether it was closed or killed here."""
        return not self._finalizer.alive

    @property
    def is_alive(self) -> bool:
        return self.is_ours and self._process.poll() is None

    def end(self, reason: str = "", *, was_late: bool = False) -> Death:
        """Kill the process and return how it died: for a `reason`, or else by its exit code."""
        self.kill()
        if reason:
            return Death(reason, was_late)
        with contextlib.suppress(subprocess.TimeoutExpired):  # another thread may be ending it, too
            self._process.wait(_END_SECONDS)
        code = self._process.returncode
        if code is None:
            return Death("it does not end")
        if code == OUT_OF_MEMORY:
            return Death("it ran out of memory", exit_code=code)
        if code >= 0:
            return Death(f"it ended with exit code {code}", exit_code=code)
        name = signal.Signals(-code).name
        return Death(f"it was ended by {name}", name in ("SIGALRM", "SIGPROF"), code)

    def open_channel(self) -> SideChannel:
        """Open one more connection, for which the process has to wait in `Owner.accept` by now.

        Raises:
            OSError: the process is gone.
        """
        our_end, child_end = socket.socketpair()
        channel = SideChannel(self, TimedSocket(our_end.detach()), self._dump, self._load)
        with child_end:
            socket.send_fds(self._connection, [b"\0"], [child_end.fileno()])
        return channel

    def strike(self) -> None:
        """Kill the process with its group, without waiting for its end."""
        if self.is_ours:
            strike(self._process)

    def kill(self) -> None:
        """Kill the process with its group; the exit code of one that is dying stays its own.

        In a forked child, only let go of it.
        """
        self.strike()
        self.close()

    def close(self) -> None:
        """Close the connection, on which a worker ends, and kill one that does not. Closing again is fine."""
        self._finalizer()


class SideChannel(Channel):
    """A further connection to a process. When the process ends, all its connections end."""

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
