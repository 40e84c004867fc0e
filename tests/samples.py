"""What `make test` takes of what `make test-all` takes whole: always the same part."""

from __future__ import annotations

import pytest
from hypothesis import settings

EVERY_TENTH = (
    pytest.param(10, id="every tenth"),
    pytest.param(1, id="all", marks=pytest.mark.real_tasks),
)
"""Steps through a file of real tasks."""


def examples(most: int) -> int:
    """So many examples in `make test-all`, which has its own hypothesis profile, and 25 in `make test`."""
    return most if settings.get_current_profile_name() == "all" else settings.default.max_examples
