"""Runs: many episodes of one agent, on disk, resumable, summarised."""

from birdenv.runs._agents import Agent, Game, Setting, agent_names, find_agent, is_ours
from birdenv.runs._bird import BirdRun
from birdenv.runs._c_interact import CInteractRun
from birdenv.runs._directory import RunDirectory
from birdenv.runs._episode import RunGame, Summary
from birdenv.runs._runner import make_agent, prepare, run, run_config

__all__ = [
    "Agent",
    "BirdRun",
    "CInteractRun",
    "Game",
    "RunDirectory",
    "RunGame",
    "Setting",
    "Summary",
    "agent_names",
    "find_agent",
    "is_ours",
    "make_agent",
    "prepare",
    "run",
    "run_config",
]
