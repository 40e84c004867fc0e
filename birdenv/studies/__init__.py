"""Studies: people in the seats of any game, from consent to completion code.

* `StudyConfig`, `read_config`: what a study is, from our own file or CoCoA's `app_params.json`;
  `example_config` is a file with every field.
* `Study`: people and dialogues over a `Store`, under any clock; no network.
* `study_rows`: the dialogues of a study as transcripts.
* `make_app`, `make_replay_app`, `make_rating_app`: the pages of a study, of recorded dialogues, of a round of
  rating. These, and `Doors`, need the extra `web`; to read what was collected needs none.

`birdenv.studies.study` is a study without network, `birdenv.studies.replay` shows recorded dialogues, and
`birdenv.studies.rating_round` lets third parties judge them.

The stages of a person are `instructions`, `waiting`, `chat`, `survey` and `finished`; `alone` follows a chat
whose partner left.
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
"""Where each name of this door is. The list of commands imports the door, so it imports nothing itself."""

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
