"""How submissions are judged: the switches in which the published graders of c-Interact differ from ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from birdenv.grading._published_tests import TestWay

__all__ = ["GRADING_RULES", "STRICT_RULES", "GradingRules"]


@dataclass(frozen=True, slots=True)
class GradingRules:
    """One way of judging submissions, as data.

    Attributes:
        comparison: how a Query is judged. `strict`: it may only read, the gold runs on a pristine copy of its
            own, rows agree by `compare_strict`. `published`: BIRD-Interact §4.2, on a disposable copy:
            comments, DISTINCT and ROUND are cut out of both texts; the prediction runs as it is, then as it
            was cut, then the gold on the same database; rows agree by `compare_published`.
        tests: how a Management task's test cases are run. `contract`: BIRD-Interact §4.3, ours. Otherwise as
            `TestWay` says.
    """

    name: str
    comparison: Literal["strict", "published"]
    tests: Literal["contract"] | TestWay


STRICT_RULES: Final = GradingRules("strict", comparison="strict", tests="contract")

GRADING_RULES: Final[Mapping[str, GradingRules]] = MappingProxyType(
    {
        rules.name: rules
        for rules in (
            STRICT_RULES,
            GradingRules("shell", comparison="published", tests="every_callable"),
            GradingRules("adk", comparison="published", tests="test_case"),
        )
    }
)
"""By name: `strict` is birdenv's own, `shell` the original batch evaluator, `adk` the later service."""
