"""Servers of adapters, in processes and in threads, and examples."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def served(module: str, *arguments: str) -> Iterator[str]:
    """Run `python -m MODULE ... --port PORT` while the block runs, and yield its address."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-m", module, *arguments, "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        for _ in range(1200):
            assert process.poll() is None, process.stderr and process.stderr.read().decode()
            with socket.socket() as tried:
                if not tried.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate()


@contextmanager
def servers_in_threads(make_app: Callable[[str, Mapping[str, Any]], Any]) -> Iterator[Callable[..., str]]:
    """Yield the address of the server of a game with settings, which a thread serves while the block runs."""
    import uvicorn

    running: dict[str, tuple[Any, threading.Thread]] = {}

    def url_of(game: str, settings: Mapping[str, Any]) -> str:
        key = f"{game} {settings!r}"
        if key not in running:
            server = uvicorn.Server(uvicorn.Config(make_app(game, settings), port=0, log_level="error"))
            thread = threading.Thread(target=server.run, daemon=True)
            thread.start()
            while not server.started:
                thread.join(0.02)
            running[key] = (server, thread)
        port = running[key][0].servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    try:
        yield url_of
    finally:
        for server, thread in running.values():
            server.should_exit = True
            thread.join()


def example(name: str, folder: Path, *arguments: str) -> str:
    """Run an example, and return what it prints."""
    command = [sys.executable, str(ROOT / "examples" / name), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_page(name: str, **replaced: str) -> str:
    """Run the first Python block of an adapter's page as a program, and return what it prints."""
    page = (ROOT / "docs" / "adapters" / f"{name}.md").read_text()
    code = page.partition("```py\n")[2].partition("```")[0]
    for old, new in replaced.items():
        assert old in code
        code = code.replace(old, new)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
