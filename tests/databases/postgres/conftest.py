"""A real embedded server for the tests of this folder, started once; own caches for tests that harm one."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from birdenv.databases.postgres import Cluster, PostgresServer, find_server
from birdenv.errors import InputError


def new_cache() -> Path:
    """A folder for XDG_CACHE_HOME that root's server, which is not root, can enter."""
    folder = Path(tempfile.mkdtemp(prefix="birdenv-test-"))
    folder.chmod(0o755)
    return folder


def remove_cache(folder: Path) -> None:
    """With what a server that was killed left in memory."""
    for link in folder.glob("**/pg_tblspc/*"):
        shutil.rmtree(link.readlink(), ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server_cache() -> Iterator[Path]:
    cache = new_cache()
    yield cache
    remove_cache(cache)


@pytest.fixture(scope="session")
def server(server_cache: Path) -> Iterator[PostgresServer]:
    """The embedded server of this test process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(server_cache))
        patch.delenv("BIRDENV_DSN", raising=False)
        try:
            started = find_server()
        except InputError as error:
            if "newer is not installed" in str(error):
                pytest.skip(str(error))
            raise
    yield started
    started.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(server_cache))
        Cluster().stop(force=True)


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, server: PostgresServer) -> Iterator[Path]:
    """A cache folder without a server yet, to start and harm one in."""
    folder = new_cache()
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.delenv("BIRDENV_DSN", raising=False)
    yield folder
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))  # a test may have gone elsewhere
    Cluster().stop(force=True)
    remove_cache(folder)


@pytest.fixture
def database_names(server: PostgresServer) -> Callable[[], set[str]]:
    """The names of all databases on the server."""

    def names() -> set[str]:
        with server.connect() as connection:
            return {name for (name,) in connection.execute("SELECT datname FROM pg_database").fetchall()}

    return names


def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for what another process is about to do; fails the test if it never does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.fixture
def wait_until() -> Callable[..., None]:
    return until


@pytest.fixture
def as_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can do this")
