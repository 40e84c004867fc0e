"""What many tests share: the demo benchmark, and the real data where a copy is at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from birdenv.benchmarks import demo_folder

ROOT = Path(__file__).resolve().parents[1]


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
