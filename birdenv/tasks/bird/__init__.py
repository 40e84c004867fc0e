"""The game BIRD: one question, any number of `execute_sql` actions, and then `submit_sql`."""

from birdenv.tasks.bird._game import GAME, BirdSettings, BirdTasks
from birdenv.tasks.bird._rules import BirdRules
from birdenv.tasks.bird._task import BirdTask, PrivateBirdTask, PublicBirdTask, load_tasks

__all__ = [
    "GAME",
    "BirdRules",
    "BirdSettings",
    "BirdTask",
    "BirdTasks",
    "PrivateBirdTask",
    "PublicBirdTask",
    "load_tasks",
]
