"""Studies with people in the seats of any game, from consent to completion code.

* `StudyConfig` is the configuration of a study. `read_config` reads it from a file in our own format or from
  CoCoA's `app_params.json`, and `example_config` returns one with every field set.
* `Study` leads people through a study and keeps their dialogues in a `Store`. It needs no network.
* `study_rows` returns the dialogues of a study as transcripts.
* `make_app` returns the web application of a study, `make_replay_app` one that shows recorded dialogues, and
  `make_rating_app` one in which people rate dialogues. These functions and `Doors` need the extra `web`;
  reading the data of a study does not.

`birdenv.studies.study` runs a study without a network, `birdenv.studies.replay` shows recorded dialogues, and
`birdenv.studies.rating_round` lets third parties judge them.

A person passes through the stages `instructions`, `waiting`, `chat`, `survey` and `finished`. The stage
`alone` follows a chat that does not count, for example because the partner left.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from birdenv.report.access import Doors
    from birdenv.studies._app import make_app
    from birdenv.studies.rating_round._pages import make_rating_app
    from birdenv.studies.replay._pages import make_replay_app
    from birdenv.studies.study._config import Partner, StudyConfig
    from birdenv.studies.study._config_files import example_config, read_config
    from birdenv.studies.study._export import is_study, study_game, study_rows
    from birdenv.studies.study._store import Store, held_study, open_store
    from birdenv.studies.study._study import Study
    from birdenv.studies.study._study_game import study_arena

_MODULES = {
    "Doors": "report.access",
    "make_app": "studies._app",
    "make_rating_app": "studies.rating_round._pages",
    "make_replay_app": "studies.replay._pages",
    "Partner": "studies.study._config",
    "StudyConfig": "studies.study._config",
    "example_config": "studies.study._config_files",
    "read_config": "studies.study._config_files",
    "is_study": "studies.study._export",
    "study_game": "studies.study._export",
    "study_rows": "studies.study._export",
    "Store": "studies.study._store",
    "held_study": "studies.study._store",
    "open_store": "studies.study._store",
    "Study": "studies.study._study",
    "study_arena": "studies.study._study_game",
}
"""The module of each public name. Modules are imported on first use, to keep the list of commands fast."""

__all__ = [
    "Doors",
    "Partner",
    "Store",
    "Study",
    "StudyConfig",
    "example_config",
    "held_study",
    "is_study",
    "make_app",
    "make_rating_app",
    "make_replay_app",
    "open_store",
    "read_config",
    "study_arena",
    "study_game",
    "study_rows",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f"birdenv.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'birdenv.studies' has no attribute {name!r}")
