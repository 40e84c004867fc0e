"""Serve web applications. This module requires the `web` extra."""

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
    """Open a port and yield its address. When the `with` block ends, serve until the server is stopped.

    Ctrl-C and SIGTERM both shut down the application cleanly, so that every database is closed and left as a
    single file.

    Args:
        app: the application.
        host: the address to listen on.
        port: the port; 0 to pick a free port.
        largest_frame: the maximum size of a WebSocket message in bytes.

    Raises:
        InputError: the address cannot be used.
    """
    import uvicorn

    options = uvicorn.Config(
        app,
        host=host,
        port=port,
        ws_max_size=largest_frame,
        ws="websockets-sansio",
        ws_ping_interval=10,  # a lost client is noticed after 20 seconds
        ws_ping_timeout=10,
        timeout_graceful_shutdown=5,  # in case a client does not read
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
        listening = _listening(host, port)  # clients that come now wait until the server has started
        yield f"http://{host}:{listening.getsockname()[1]}"
        server.run(sockets=[listening])  # raises caught signals again at its end
        if ended:
            sys.exit(128 + ended[0])
    finally:
        signal.signal(signal.SIGTERM, old)


def _listening(host: str, port: int) -> socket.socket:
    """Listen at an address, and return the socket.

    Raises:
        InputError: the address is in use, or does not belong to this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        number = error.errno or 0  # negative if the name of the host is unknown
        why = os.strerror(number) if number > 0 else error.strerror
        raise InputError(
            f"cannot listen on {host}:{port} ({why}): use --port 0 for a free port, and an address of "
            "this machine for --host"
        ) from None


@contextmanager
def web_extra() -> Iterator[None]:
    """Convert import errors in the `with` block to an `InputError` that says how to install the `web` extra.

    Raises:
        InputError: a package from the extra is missing.
    """
    try:
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401 (uvicorn's sockets)

        yield
    except ModuleNotFoundError as error:
        raise InputError(
            f"this requires the package {error.name}: pip install 'birdenv[web]' (in a clone: -e '.[web]')"
        ) from None
