"""birdenv: interactive text-to-SQL environments for the BIRD family.

Once this package and Gymnasium have both been imported, in either order, Gymnasium knows
`birdenv/CInteract-v0`, `birdenv/AInteract-v0`, `birdenv/BirdSql-v0` and the other environments. Subpackages
are imported on first use.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if sys.platform == "win32":
    raise ImportError(
        "birdenv does not run on Windows, because it needs processes that a POSIX kernel can limit and end. "
        "Install it in WSL, the Windows Subsystem for Linux (wsl --install)"
    )

from birdenv.registration import register_environments
from birdenv.version import __version__

if TYPE_CHECKING:
    from birdenv.dialogue import Move, Usage, View, make_game
    from birdenv.errors import BenchmarkError, BirdenvError, InfrastructureError, InputError
    from birdenv.grading import score_pairs
    from birdenv.runs import run_episodes
    from birdenv.runs.summaries import compare
    from birdenv.tasks import (
        clarify,
        execute_sql,
        get_all_column_meanings,
        get_all_external_knowledge_names,
        get_all_knowledge_definitions,
        get_column_meaning,
        get_knowledge_definition,
        get_schema,
        submit_sql,
    )

__all__ = [
    "BenchmarkError",
    "BirdenvError",
    "InfrastructureError",
    "InputError",
    "Move",
    "Usage",
    "View",
    "__version__",
    "clarify",
    "compare",
    "execute_sql",
    "get_all_column_meanings",
    "get_all_external_knowledge_names",
    "get_all_knowledge_definitions",
    "get_column_meaning",
    "get_knowledge_definition",
    "get_schema",
    "make_game",
    "run_episodes",
    "score_pairs",
    "submit_sql",
]

_ROOMS = {
    "Move": "dialogue",
    "Usage": "dialogue",
    "View": "dialogue",
    "make_game": "dialogue",
    "BenchmarkError": "errors",
    "BirdenvError": "errors",
    "InfrastructureError": "errors",
    "InputError": "errors",
    "compare": "runs.summaries",
    "run_episodes": "runs",
    "score_pairs": "grading",
}
"""The packages of the names that do not come from `birdenv.tasks`."""

register_environments()


def __getattr__(name: str) -> Any:
    if name in __all__:
        room = importlib.import_module(f"birdenv.{_ROOMS.get(name, 'tasks')}")
        found = globals()[name] = getattr(room, name)  # so that later uses do not come here
        return found
    raise AttributeError(f"module 'birdenv' has no attribute {name!r}")
