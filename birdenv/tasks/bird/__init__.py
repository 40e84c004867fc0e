"""BIRD: one question, with or without evidence; `execute_sql`* and then `submit_sql`."""

from birdenv.tasks.bird._controller import BirdController
from birdenv.tasks.bird._loader import DIFFICULTIES, BirdTask, PrivateBirdTask, PublicBirdTask, load_tasks

__all__ = ["DIFFICULTIES", "BirdController", "BirdTask", "PrivateBirdTask", "PublicBirdTask", "load_tasks"]
