"""Runs: many episodes of one agent, on disk, resumable, summarised."""

from birdenv.runs._agents import Agent, Game, Setting, agent_names, find_agent, is_ours
from birdenv.runs._bird import BirdRun
from birdenv.runs._c_interact import CInteractRun
from birdenv.runs._directory import RunDirectory
from birdenv.runs._episode import AnyTask, RunGame, Summary, Task
from birdenv.runs._runner import make_agent, prepare, run, run_config

__all__ = [
    "Agent",
    "AnyTask",
    "BirdRun",
    "CInteractRun",
    "Game",
    "RunDirectory",
    "RunGame",
    "Setting",
    "Summary",
    "Task",
    "agent_names",
    "find_agent",
    "is_ours",
    "make_agent",
    "prepare",
    "run",
    "run_config",
]
