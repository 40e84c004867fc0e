"""The command line, one module a command. `birdenv --help` teaches."""

from birdenv.cli._main import main

__all__ = ["main"]
