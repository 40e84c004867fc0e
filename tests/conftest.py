"""What many tests share: the demo benchmark, and the real data where a copy is at hand."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from postgres_server import start_postgres

from birdenv.demo import demo_folder

ROOT = Path(__file__).resolve().parents[1]

# Where nothing compiled may be written, every program that a test starts would compile the package again, and
# every test process all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

pytest_plugins = ("command_line", "in_memory", "cpu_gate", "containment_table", "model_servers", "samples")

# The same examples in every run, so that a commit is judged by what it changed; the slow property tests
# draw new ones. `make test-all` asks for the second profile. No example has a deadline: how long one takes
# depends on what else the machine does.
settings.register_profile("sample", derandomize=True, max_examples=25, deadline=None)
settings.register_profile("all", derandomize=True, deadline=None)
settings.load_profile("sample")


def pytest_collection_finish() -> None:
    """Let the collector of garbage pass over thousands of tests, which stay: it takes a tenth of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real benchmark data; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("BIRDENV_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no benchmark data at {folder} (set BIRDENV_SHARED_DATA)")
    return folder


@pytest.fixture(scope="session")
def demo() -> Path:
    return demo_folder()


@pytest.fixture
def postgres_dsn(monkeypatch: pytest.MonkeyPatch) -> str:
    """The superuser's DSN of this test process's PostgreSQL server, which BIRDENV_DSN names meanwhile."""
    dsn = start_postgres().admin
    monkeypatch.setenv("BIRDENV_DSN", dsn)
    return dsn


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium: one for all tests of a process, since playwright runs only once in a thread."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if (path := shutil.which("chromium")) is None:
        pytest.skip("no chromium: apt-get install chromium")
    options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=options)
        yield browser
        browser.close()
