"""Settings that all SQL games share."""

from __future__ import annotations

import pytest

from birdenv import make_game
from birdenv.errors import InputError


def test_a_name_that_is_no_setting_is_told_before_a_wrong_value() -> None:
    with pytest.raises(InputError, match="has no setting 'nonsense'; its settings are "):
        make_game("bird", limit=0, nonsense=1)
