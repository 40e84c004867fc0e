"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib.util
import pkgutil
from pathlib import Path

import birdenv

MODULES = sorted(
    module.name for module in pkgutil.walk_packages(birdenv.__path__, "birdenv.") if not module.ispkg
)
WITH_EXAMPLES = [
    name
    for name in MODULES
    if (found := importlib.util.find_spec(name)) and found.origin and ">>>" in Path(found.origin).read_text()
]


def test_docstring_examples() -> None:
    results = {name: doctest.testmod(importlib.import_module(name)) for name in WITH_EXAMPLES}
    assert [name for name, result in results.items() if result.failed] == []
    assert sum(result.attempted > 0 for result in results.values()) >= 5
