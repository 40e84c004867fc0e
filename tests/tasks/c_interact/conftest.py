"""What every test of c-Interact leaves behind is closed."""

from __future__ import annotations

from collections.abc import Iterator

import opened_sources
import pytest


@pytest.fixture(autouse=True)
def sources_are_closed() -> Iterator[None]:
    yield
    opened_sources.close_all()
