"""The game c-Interact: an ambiguous request, questions, SQL, and a follow-up request (BIRD-Interact §2)."""

from birdenv.tasks.c_interact._messages import USED_UP
from birdenv.tasks.c_interact._rules import GAME, CInteractRules
from birdenv.tasks.interact._databases import grading_job
from birdenv.tasks.interact._knowledge import DatabaseNotes, read_notes
from birdenv.tasks.interact._record import TaskRecord, misspelt_fields, parse_record
from birdenv.tasks.interact._shared_rules import InteractRules
from birdenv.tasks.interact._task import AttemptName, CInteractTask, split_record
from birdenv.tasks.interact._task_list import InteractTasks, find_task_file, load_benchmark, read_task_records
from birdenv.tasks.interact.profile import PROFILES, Profile

__all__ = [
    "GAME",
    "PROFILES",
    "USED_UP",
    "AttemptName",
    "CInteractRules",
    "CInteractTask",
    "DatabaseNotes",
    "InteractRules",
    "InteractTasks",
    "Profile",
    "TaskRecord",
    "find_task_file",
    "grading_job",
    "load_benchmark",
    "misspelt_fields",
    "parse_record",
    "read_notes",
    "read_task_records",
    "split_record",
]
