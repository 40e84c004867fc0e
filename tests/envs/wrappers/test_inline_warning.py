"""Wrappers for language models warn where the models' SQL would run in this process."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from birdenv.envs.wrappers import ChatMessages, Markup

Make = Callable[..., Any]


@pytest.mark.parametrize("wrapper", [ChatMessages, Markup])
def test_a_wrapper_over_an_inline_environment_warns(c_interact: Make, wrapper: Any) -> None:
    with pytest.warns(UserWarning, match="isolation='inline'.*isolation='process'") as caught:
        wrapper(c_interact())
    assert [warning.filename for warning in caught] == [__file__]  # the caller's line, not one of birdenv's
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wrapper(c_interact(isolation="process"))


def test_python_shows_the_warning_once(bird: Make) -> None:
    env = bird()
    with warnings.catch_warnings(record=True) as shown:
        warnings.resetwarnings()  # as Python does by itself
        for _ in range(3):
            ChatMessages(env)
    assert len(shown) == 1
