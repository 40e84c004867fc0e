"""The text space of observations and actions against Gymnasium's."""

from __future__ import annotations

from functools import partial

from gymnasium.spaces import Text

from birdenv.envs import UnicodeText
from birdenv_baselines.bench._measure import Bar, Contender, Figure, Line, side_by_side, times_as_fast
from birdenv_baselines.bench._setting import Setting

__all__ = ["lines"]

_CHARACTERS = 4096


def lines(setting: Setting) -> list[Line]:
    return [
        Line(
            "text space: contains, 4,096 characters",
            "gymnasium Text (ASCII letters)",
            partial(_contains, setting),
            Bar("at least", 20.0),
        )
    ]


def _contains(setting: Setting) -> Figure:
    ours, theirs = UnicodeText(2 * _CHARACTERS), Text(2 * _CHARACTERS)
    unicode, letters = "é" * _CHARACTERS, "x" * _CHARACTERS
    times = side_by_side(
        [Contender(lambda: ours.contains(unicode)), Contender(lambda: theirs.contains(letters))],
        setting.effort,
    )
    return times_as_fast(*times)
