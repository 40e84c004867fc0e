"""Tests of adapters run on their own in the environment of each framework: `make test-doors`."""

from __future__ import annotations

import pytest

from birdenv.adapters import CANNOT_EXPRESS
from birdenv.testing import SCRIPTS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test of golden dialogues those that its framework can express."""
    if "script" in metafunc.fixturenames:
        left_out = {f"malformed: {name}" for name in CANNOT_EXPRESS[metafunc.cls.framework]}
        scripts = [script for script in SCRIPTS if script.name not in left_out]
        metafunc.parametrize("script", scripts, ids=lambda script: script.name)
