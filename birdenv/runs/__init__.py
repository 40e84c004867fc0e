"""Runs: many episodes of one agent, on disk, resumable, summarised."""

from birdenv.runs._run_episodes import RunResult, run_episodes
from birdenv.runs._run_folder import (
    RunDirectory,
    data_name,
    episode_name,
    folder_name,
    player_name,
    run_folder,
)
from birdenv.runs._run_warnings import run_warnings
from birdenv.runs._runner import RunPlan, prepare, run, write_run
from birdenv.runs.seating import Seating
from birdenv.runs.summaries._run_report import Summary

__all__ = [
    "RunDirectory",
    "RunPlan",
    "RunResult",
    "Seating",
    "Summary",
    "data_name",
    "episode_name",
    "folder_name",
    "player_name",
    "prepare",
    "run",
    "run_episodes",
    "run_folder",
    "run_warnings",
    "write_run",
]
