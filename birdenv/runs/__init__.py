"""Runs: many episodes of one agent, on disk, resumable, summarised."""

from birdenv.runs._agents import Agent, Game, Setting, agent_names, find_agent, is_ours
from birdenv.runs._bird import BirdRun
from birdenv.runs._bird_measures import (
    METRIC_TITLES,
    R_VES_NOTE,
    difficulty_means,
    difficulty_table,
    is_rated,
)
from birdenv.runs._directory import RunDirectory, episode_name
from birdenv.runs._episode import AnyTask, RunGame, Task
from birdenv.runs._interact import AInteractRun, CInteractRun
from birdenv.runs._runner import make_agent, prepare, run, run_config
from birdenv.runs._speeds import read_speeds, speed_record, write_speeds
from birdenv.runs._summary import Summary
from birdenv.runs._usage import Usage
from birdenv.runs.analysis._comparison import RunComparison, compare, comparison_text
from birdenv.runs.analysis._plot import forest_plot
from birdenv.runs.analysis._recorded_run import RecordedRun, read_run, run_folder
from birdenv.runs.analysis._report import RunReport, report
from birdenv.runs.evaluate._evaluate import (
    Evaluation,
    evaluate_pairs,
    inspection_text,
    queries_on,
    read_details,
)
from birdenv.runs.evaluate._pairs import (
    NewestRun,
    ScoredPair,
    export_pairs,
    holds_pairs,
    newest_run,
    pairs_of_run,
    read_pairs,
    write_pairs,
)
from birdenv.runs.official._score import OfficialScore, score_official
from birdenv.runs.official._write import write_official_files
from birdenv.runs.regrade._bird import BirdRegrade, bird_regrade_record, bird_regrade_text, regrade_bird
from birdenv.runs.regrade._interact import (
    AS_PLAYED,
    Regrade,
    regrade_c_interact,
    regrade_record,
    regrade_text,
)

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
    "Evaluation",
    "Game",
    "NewestRun",
    "OfficialScore",
    "RecordedRun",
    "Regrade",
    "RunComparison",
    "RunDirectory",
    "RunGame",
    "RunReport",
    "ScoredPair",
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
