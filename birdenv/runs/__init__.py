"""Runs: many episodes of one agent, on disk, resumable, summarised."""

from birdenv.runs._a_interact import AInteractRun
from birdenv.runs._agents import Agent, Game, Setting, agent_names, find_agent, is_ours
from birdenv.runs._bird import BirdRun, is_rated
from birdenv.runs._c_interact import CInteractRun
from birdenv.runs._comparison import Comparison, compare
from birdenv.runs._comparison_text import comparison_text
from birdenv.runs._directory import RunDirectory, episode_name
from birdenv.runs._episode import AnyTask, RunGame, Task
from birdenv.runs._evaluation import Evaluation, evaluate_pairs, queries_on
from birdenv.runs._forest_plot import forest_plot
from birdenv.runs._inspection import inspection_text, read_details
from birdenv.runs._measures import METRIC_TITLES, R_VES_NOTE
from birdenv.runs._newest_run import NewestRun, newest_run
from birdenv.runs._official_files import write_official_files
from birdenv.runs._official_score import OfficialScore, score_official
from birdenv.runs._pairs import Pair, export_pairs, holds_pairs, pairs_of_run, read_pairs, write_pairs
from birdenv.runs._recorded_run import RecordedRun, read_run, run_folder
from birdenv.runs._regrade import AS_PLAYED, Regrade, regrade_c_interact
from birdenv.runs._regrade_bird import BirdRegrade, bird_regrade_record, bird_regrade_text, regrade_bird
from birdenv.runs._regrade_text import regrade_record, regrade_text
from birdenv.runs._run_report import RunReport, report
from birdenv.runs._runner import make_agent, prepare, run, run_config
from birdenv.runs._speeds import read_speeds, speed_record, write_speeds
from birdenv.runs._summary import Summary
from birdenv.runs._summary_text import difficulty_means, difficulty_table
from birdenv.runs._usage import Usage

__all__ = [
    "AS_PLAYED",
    "METRIC_TITLES",
    "R_VES_NOTE",
    "AInteractRun",
    "Agent",
    "AnyTask",
    "BirdRegrade",
    "BirdRun",
    "CInteractRun",
    "Comparison",
    "Evaluation",
    "Game",
    "NewestRun",
    "OfficialScore",
    "Pair",
    "RecordedRun",
    "Regrade",
    "RunDirectory",
    "RunGame",
    "RunReport",
    "Setting",
    "Summary",
    "Task",
    "Usage",
    "agent_names",
    "bird_regrade_record",
    "bird_regrade_text",
    "compare",
    "comparison_text",
    "difficulty_means",
    "difficulty_table",
    "episode_name",
    "evaluate_pairs",
    "export_pairs",
    "find_agent",
    "forest_plot",
    "holds_pairs",
    "inspection_text",
    "is_ours",
    "is_rated",
    "make_agent",
    "newest_run",
    "pairs_of_run",
    "prepare",
    "queries_on",
    "read_details",
    "read_pairs",
    "read_run",
    "read_speeds",
    "regrade_bird",
    "regrade_c_interact",
    "regrade_record",
    "regrade_text",
    "report",
    "run",
    "run_config",
    "run_folder",
    "score_official",
    "speed_record",
    "write_official_files",
    "write_pairs",
    "write_speeds",
]
