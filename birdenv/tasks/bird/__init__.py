"""The game BIRD: one question, any number of `execute_sql` actions, and then `submit_sql`."""

from birdenv.tasks.bird._game import GAME, BirdTasks
from birdenv.tasks.bird._task import BirdTask, PrivateBirdTask, PublicBirdTask, load_tasks

__all__ = ["GAME", "BirdTask", "BirdTasks", "PrivateBirdTask", "PublicBirdTask", "load_tasks"]
