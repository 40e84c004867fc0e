"""The game c-Interact: an ambiguous request, questions, SQL, and a follow-up request (BIRD-Interact §2)."""

from birdenv.tasks.c_interact._messages import USED_UP
from birdenv.tasks.c_interact._rules import GAME, CInteractRules, CInteractSettings
from birdenv.tasks.interact._databases import grading_job
from birdenv.tasks.interact._knowledge import DatabaseNotes, KnowledgeEntry, read_notes
from birdenv.tasks.interact._record import TaskRecord, misspelt_fields, parse_record
from birdenv.tasks.interact._shared_rules import InteractRules
from birdenv.tasks.interact._task import (
    Attempt,
    AttemptName,
    CInteractTask,
    FollowUp,
    PrivateTask,
    PublicTask,
    split_record,
)
from birdenv.tasks.interact._task_list import (
    Benchmark,
    InteractSettings,
    InteractTasks,
    find_task_file,
    load_benchmark,
    read_task_records,
)
from birdenv.tasks.interact.profile import PROFILES, Profile

__all__ = [
    "GAME",
    "PROFILES",
    "USED_UP",
    "Attempt",
    "AttemptName",
    "Benchmark",
    "CInteractRules",
    "CInteractSettings",
    "CInteractTask",
    "DatabaseNotes",
    "FollowUp",
    "InteractRules",
    "InteractSettings",
    "InteractTasks",
    "KnowledgeEntry",
    "PrivateTask",
    "Profile",
    "PublicTask",
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
