"""Find and import the extensions that birdenv and other packages declare as entry points."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from birdenv.errors import InputError, describe_error


class PluginError(InputError):
    """The object that an entry point refers to cannot be imported.

    Args:
        entry: the entry point.
        why: the reason. The message also names the entry point.
    """

    def __init__(self, entry: EntryPoint, why: str) -> None:
        super().__init__(f"{entry.name} ({entry.group}: {entry.value}) cannot be imported: {why}")
        self.why = why


def plugins(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points in a group, keyed by name.

    If several packages use the same name, birdenv's own entry point takes precedence.
    """
    return _installed(group, tuple(sys.path))


def load_plugin(entry: EntryPoint) -> Any:
    """Import and return the object that an entry point refers to.

    Raises:
        PluginError: the import fails, for example because a module is missing.
    """
    try:
        return entry.load()
    except InputError:
        raise
    except Exception as error:
        why = str(error) if isinstance(error, ModuleNotFoundError) else describe_error(error)
        raise PluginError(entry, why) from None


def ships_with_birdenv(entry: EntryPoint) -> bool:
    """Return True if birdenv's own distribution declares the entry point."""
    return entry.dist is not None and entry.dist.name == "birdenv"


@lru_cache(maxsize=16)
def _installed(group: str, path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """Return the entry points in a group. Cached, because reading all packages takes milliseconds."""
    found = sorted(entry_points(group=group), key=ships_with_birdenv)
    return {entry.name: entry for entry in found}
