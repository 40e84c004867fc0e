"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import birdenv

MODULES = sorted(
    module.name for module in pkgutil.walk_packages(birdenv.__path__, "birdenv.") if not module.ispkg
)


def test_docstring_examples() -> None:
    results = {name: doctest.testmod(importlib.import_module(name)) for name in MODULES}
    assert [name for name, result in results.items() if result.failed] == []
    assert sum(result.attempted > 0 for result in results.values()) >= 5
