"""Register the environments with Gymnasium as soon as Gymnasium is imported.

`import birdenv` does not import Gymnasium itself, because that would double the start-up time of commands.
Neither commands nor player processes need Gymnasium.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

_TEXT: Final = ("CInteract", "AInteract", "BirdSql")
_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Names of games that can become ids: `mutual-friends` becomes `birdenv/MutualFriends-v0`."""


def register_environments() -> None:
    """Register the environments with Gymnasium now if it is already imported, or as soon as it is."""
    if "gymnasium" in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _AtImport())


def _register() -> None:
    from gymnasium.envs.registration import register

    from birdenv.plugins import plugins

    # These environments check actions and a missing `reset` themselves, so they do not need Gymnasium's
    # wrappers. After a failed `reset`, such as for a mistyped task id, the checker's wrapper stays unusable.
    doors = dict.fromkeys(_TEXT, "birdenv.envs") | {"CInteractCandidates": "birdenv.envs.candidates"}
    for name, door in doors.items():
        register(
            id=f"birdenv/{name}-v0",
            entry_point=f"{door}:{name}Env",
            vector_entry_point=f"{door}:{name}VectorEnv",
            order_enforce=name not in _TEXT,
            disable_env_checker=True,
        )
    for game in filter(_NAME.fullmatch, plugins("birdenv.games")):
        name = "".join(map(str.capitalize, game.split("-")))
        if name in doors or name == "Bird":  # these games have their own environment classes
            continue
        register(
            id=f"birdenv/{name}-v0",
            entry_point="birdenv.envs:DialogueEnv",
            vector_entry_point="birdenv.envs:DialogueVectorEnv",
            order_enforce=False,
            disable_env_checker=True,
            kwargs={"game": game},
        )


class _AtImport(MetaPathFinder):
    """An import hook that registers the environments after the code of Gymnasium has run."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "gymnasium":
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def run_and_register(module: ModuleType) -> None:
            run(module)
            if module.__name__ == "gymnasium":  # the loader of an archive is shared by all its modules
                _register()

        spec.loader.exec_module = run_and_register  # type: ignore[method-assign]
        return spec
