"""The command line, with one module for each command. Start with `birdenv --help`."""

from birdenv.cli._main import main

__all__ = ["main"]
