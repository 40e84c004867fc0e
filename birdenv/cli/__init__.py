"""The command line: one module for each command or family of commands. Start with `birdenv --help`."""

from birdenv.cli._main import main

__all__ = ["main"]
