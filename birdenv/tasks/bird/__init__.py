"""BIRD: one question, with or without evidence; `execute_sql`* and then `submit_sql`."""

from birdenv.tasks.bird._controller import BirdController
from birdenv.tasks.bird._loader import DIFFICULTIES, load_tasks
from birdenv.tasks.bird._task import BirdTask, PrivateBirdTask, PublicBirdTask

__all__ = ["DIFFICULTIES", "BirdController", "BirdTask", "PrivateBirdTask", "PublicBirdTask", "load_tasks"]
