"""What `make test` takes of what `make test-all` takes whole: always the same part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from cpu_gate import HEAVY
from hypothesis import settings

EVERY_TWENTIETH = (
    pytest.param(20, id="every twentieth"),
    pytest.param(1, id="all", marks=pytest.mark.real_tasks),
)
"""Steps through a file of tasks, for tests that go through all of it."""


def sampled(records: Sequence[Any], ids: Sequence[str]) -> list[Any]:
    """Parameters for a test that takes one record; every twentieth is not marked."""
    return [
        pytest.param(record, id=name, marks=() if number % 20 == 0 else pytest.mark.real_tasks)
        for number, (record, name) in enumerate(zip(records, ids, strict=True))
    ]


def examples(most: int) -> int:
    """How many examples a property gets: so many in `make test-all`, which has a profile for it; else 25."""
    return most if settings.get_current_profile_name() == "all" else settings.default.max_examples


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what `every` leaves out: all but the first of each n variants of a test."""
    seen: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("every")
        if mark is None or any(item.get_closest_marker(heavy) for heavy in HEAVY):
            continue
        test = item.nodeid.partition("[")[0]
        if seen[test] % mark.args[0]:
            item.add_marker("slow")
        seen[test] += 1
