"""Play and record the episodes of a run, and resume, summarise and compare runs."""

from birdenv.runs._merge import merge_runs
from birdenv.runs._run_episodes import RunResult, run_episodes
from birdenv.runs._run_folder import (
    STREAMS,
    RunDirectory,
    data_name,
    folder_name,
    name_of,
    player_name,
    run_folder,
)
from birdenv.runs._run_plan import ENGINES, OpenRun, RunPlan, find_engine, prepare
from birdenv.runs._run_warnings import run_warnings
from birdenv.runs._runner import planned_jobs, run, write_run
from birdenv.runs.summaries._run_report import Summary

__all__ = [
    "ENGINES",
    "STREAMS",
    "OpenRun",
    "RunDirectory",
    "RunPlan",
    "RunResult",
    "Summary",
    "data_name",
    "find_engine",
    "folder_name",
    "merge_runs",
    "name_of",
    "planned_jobs",
    "player_name",
    "prepare",
    "run",
    "run_episodes",
    "run_folder",
    "run_warnings",
    "write_run",
]
