"""Running the command line inside the test process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from birdenv.cli import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def birdenv(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """`birdenv("bird", "--agent", "oracle")` -> exit code, standard output, standard error."""

    def call(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["birdenv", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return Ran(int(end.value.code or 0), captured.out, captured.err)

    return call
