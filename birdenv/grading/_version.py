"""The version of what verdicts mean: a change that can move one is a new version, and a release note."""

from __future__ import annotations

from typing import Final

__all__ = ["GRADER_VERSION"]

GRADER_VERSION: Final = "4"
