"""Serving an application until it is interrupted. Needs the extra `web`."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from birdenv.errors import InputError

if TYPE_CHECKING:
    from fastapi import FastAPI


@contextmanager
def served(app: FastAPI, host: str, port: int, largest_frame: int = 2**16) -> Iterator[str]:
    """Listen, and serve an application after the block until it is interrupted; yields the address.

    SIGTERM ends it as Ctrl-C does: what is open is closed, so that each database is one file.
    """
    import uvicorn

    options = uvicorn.Config(
        app,
        host=host,
        port=port,
        ws_max_size=largest_frame,
        ws="websockets-sansio",
        ws_ping_interval=10,  # one who is gone without a word is missed after 20 seconds
        ws_ping_timeout=10,
        timeout_graceful_shutdown=5,  # for those who do not read what they are sent
        access_log=False,
        log_level="warning",
        server_header=False,
    )
    server = uvicorn.Server(options)
    ended: list[int] = []

    def end(number: int, frame: object) -> None:
        ended.append(number)
        server.should_exit = True  # an exception could be lost in a destructor while the server starts

    old = signal.signal(signal.SIGTERM, end)
    try:
        listening = _listening(host, port)  # who comes now waits for the start, and is not turned away
        yield f"http://{host}:{listening.getsockname()[1]}"
        server.run(sockets=[listening])  # raises the signals that it caught again when all are served
        if ended:
            sys.exit(128 + ended[0])
    finally:
        signal.signal(signal.SIGTERM, old)


def _listening(host: str, port: int) -> socket.socket:
    """Listen at an address, and return the socket.

    Raises:
        InputError: the address is taken, or does not belong to this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        number = error.errno or 0  # negative where a name is not known
        why = os.strerror(number) if number > 0 else error.strerror
        raise InputError(
            f"cannot listen at {host}, port {port} ({why}): --port 0 takes a free port, and --host must be "
            "an address of this machine"
        ) from None


@contextmanager
def web_extra() -> Iterator[None]:
    """Turn a missing package of the extra `web` into one line, before anything is made.

    Raises:
        InputError: it is missing.
    """
    try:
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401 (uvicorn's sockets)

        yield
    except ModuleNotFoundError as error:
        raise InputError(
            f"this needs the package {error.name}: pip install 'birdenv[web]' (in a clone: -e '.[web]')"
        ) from None
