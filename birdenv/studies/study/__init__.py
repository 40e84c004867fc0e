"""A study without its web pages: the people, their dialogues, their completion codes, and the database."""

from birdenv.studies.study._config import PAID, Partner, StudyConfig
from birdenv.studies.study._config_files import read_config
from birdenv.studies.study._export import is_study, study_game, study_rows
from birdenv.studies.study._records import Person
from birdenv.studies.study._store import Store, open_store
from birdenv.studies.study._study import Study
from birdenv.studies.study._study_game import study_arena

__all__ = [
    "PAID",
    "Partner",
    "Person",
    "Store",
    "Study",
    "StudyConfig",
    "is_study",
    "open_store",
    "read_config",
    "study_arena",
    "study_game",
    "study_rows",
]
