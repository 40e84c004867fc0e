"""The web room: people in the seats of any game, from consent to completion code.

* `StudyConfig`, `read_config`: what a study is, from our own file or CoCoA's `app_params.json`.
* `Study`: people and dialogues over a `Store`, under any clock; no network.
* `make_app`: pages, forms, sockets and the admin page of a study.
* `study_rows`: the dialogues of a study as transcripts.

`birdenv.web.study` is a study without network, `birdenv.web.replay` shows recorded dialogues, and
`birdenv.web.ratings` lets third parties judge them.

The stages of a person are `instructions`, `waiting`, `chat`, `survey` and `finished`; `alone` follows a chat
whose partner left.
"""

from birdenv.web._access import Doors
from birdenv.web._app import make_app
from birdenv.web.study._config import Partner, StudyConfig
from birdenv.web.study._config_files import read_config
from birdenv.web.study._export import is_study, study_rows
from birdenv.web.study._store import Store, held_study, open_store
from birdenv.web.study._study import Study, study_arena

__all__ = [
    "Doors",
    "Partner",
    "Store",
    "Study",
    "StudyConfig",
    "held_study",
    "is_study",
    "make_app",
    "open_store",
    "read_config",
    "study_arena",
    "study_rows",
]
