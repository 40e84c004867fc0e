"""The command line, with a module for each command or group of related commands."""

from birdenv.cli._main import main

__all__ = ["main"]
