"""Worker processes: started when they are needed, used by one statement at a time, killed without regret."""

from __future__ import annotations

import atexit
import os
import pickle
from collections import deque
from typing import Any, Final

from birdenv.databases._fetching import Seer
from birdenv.databases._wire import Answer, decoded, receive, send, unpacked
from birdenv.databases._worker import ANSWERED, BEGINS, GO_ON, ROWS, STOP, UNUSABLE, Episode
from birdenv.databases._worker_process import WorkerDiedError, WorkerProcess
from birdenv.errors import InputError

__all__ = ["Worker", "WorkerDiedError", "workers"]

_FRAME_BYTES: Final = 64 * 2**20  # what a reply may have besides the rows that the limits allow


class Worker(WorkerProcess):
    """One process that runs statements."""

    def __init__(self) -> None:
        """Start it. Raises `InputError` if no process can be started."""
        super().__init__("birdenv.databases._worker")

    def ask(
        self,
        episode: Episode | None,
        method: str,
        arguments: tuple[Any, ...],
        seconds: float,
        most_bytes: int,
        seer: Seer | None = None,
    ) -> tuple[Answer, bool]:
        """The answer of the episode's database, and whether the episode now lives in this worker.

        `episode` is None where it does already. `seer` gets the rows of a `scan`. Raises `InputError` if the
        database cannot be used, and `WorkerDiedError` if the worker ends, or takes longer than `seconds`,
        which only a broken one does. Whatever else interrupts the waiting, the worker is killed.
        """
        if not self.is_ours:
            self.kill()
            raise WorkerDiedError("it belongs to the process that this one was forked from")
        try:
            self.connection.settimeout(seconds)
            send(self.connection, pickle.dumps((episode, method, arguments)))
            reply = receive(self.connection, most_bytes + _FRAME_BYTES)
            while seer is not None and reply[:1] in (BEGINS, ROWS):
                self._show(reply, seer)
                reply = receive(self.connection, most_bytes + _FRAME_BYTES)
            status, is_private, body = reply[:1], reply[1:2] == b"\1", reply[2:]
            if status == UNUSABLE:
                raise InputError(body.decode(errors="replace"))
            if status != ANSWERED:
                raise ValueError("an unknown kind of reply")
            return decoded(body), is_private
        except InputError:
            raise
        except TimeoutError:
            self.kill()
            raise WorkerDiedError("it did not answer", was_late=True) from None
        except (EOFError, OSError, ValueError) as error:
            self.kill()
            if isinstance(error, ValueError):
                raise WorkerDiedError(f"its answer made no sense: {error}") from error
            raise self.death() from None
        except BaseException:  # Ctrl-C: nobody waits for this answer any more
            self.kill()
            raise

    def _show(self, message: bytes, seer: Seer) -> None:
        """Let the seer see a part of a scan's rows, and tell the worker whether to go on."""
        match message[:1], unpacked(message[1:]):
            case (b"\2", tuple() as columns):
                seer.begin(columns)
            case b"\3", list() as rows:
                send(self.connection, GO_ON if seer.see(rows) else STOP)
            case _:
                raise ValueError("not a part of a worker's answer")


class _Workers:
    """The idle workers of this process."""

    def __init__(self) -> None:
        self._idle: deque[Worker] = deque()

    def take(self) -> Worker:
        """An idle worker, or a new one; it is the caller's until it is given back."""
        while True:
            try:
                worker = self._idle.pop()
            except IndexError:
                return Worker()
            if worker.is_alive:
                return worker
            worker.kill()

    def give_back(self, worker: Worker) -> None:
        self._idle.append(worker)

    def end(self) -> None:
        """Kill the idle ones."""
        while self._idle:
            self._idle.pop().kill()


workers = _Workers()
atexit.register(workers.end)
os.register_at_fork(after_in_child=workers.end)
