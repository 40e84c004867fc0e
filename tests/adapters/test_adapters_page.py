"""What all adapters share: the table of the docs, and one line for a framework that is missing."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from doors import lines_of_code, pinned

from birdenv.adapters import CANNOT_EXPRESS
from birdenv.testing import MALFORMED

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "adapters.md").read_text()
FRAMEWORKS = {
    "inspect": "inspect_ai",
    "mcp": "mcp",
    "openenv": "openenv",
    "skyrl": "skyrl_gym",
    "verifiers": "verifiers",
}


def test_the_page_says_what_each_framework_cannot_express() -> None:
    rows = re.findall(r"^\| `([a-z_ ]+)` \| (.*)\|$", PAGE, re.MULTILINE)
    assert dict(rows) == {
        name: "".join(f"{each}, " for each in sorted(kinds)).removesuffix(", ") + " " * bool(kinds)
        for name, kinds in CANNOT_EXPRESS.items()
    }


def test_only_known_kinds_cannot_be_expressed() -> None:
    assert {kind for kinds in CANNOT_EXPRESS.values() for kind in kinds} <= set(MALFORMED)


@pytest.mark.parametrize("name", pinned())
def test_an_adapter_is_short(name: str) -> None:
    assert lines_of_code(ROOT / "birdenv" / "adapters" / f"{name}.py") <= 60


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_missing_framework_names_its_extra(name: str) -> None:
    if importlib.util.find_spec(FRAMEWORKS[name]):
        pytest.skip("it is installed")
    command = [sys.executable, "-c", f"import birdenv.adapters.{name}"]
    done = subprocess.run(command, capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and f"pip install 'birdenv[{name}]'" in last
