"""Runs: many episodes of one agent, on disk, resumable, summarised."""

from birdenv.runs._bird_measures import (
    EX_BIRD_NOTE,
    EX_NOTE,
    GOLDS_COUNTED,
    METRIC_TITLES,
    R_VES_NOTE,
    difficulty_means,
    difficulty_table,
    ex_difference_notes,
    ex_differences,
    is_rated,
)
from birdenv.runs._directory import RunDirectory, episode_name, folder_name, run_folder
from birdenv.runs._mishaps import mishaps
from birdenv.runs._run_episodes import RunResult, run_episodes
from birdenv.runs._runner import RunPlan, prepare, run
from birdenv.runs._seating import Seating
from birdenv.runs._speeds import read_speeds, speed_record, write_speeds
from birdenv.runs._summary import Summary
from birdenv.runs.analysis._comparison import RunComparison, compare, comparison_text
from birdenv.runs.analysis._plot import forest_plot
from birdenv.runs.analysis._recorded_run import RecordedRun, read_run
from birdenv.runs.analysis._report import RunReport, report
from birdenv.runs.blame._blame import RunBlame, blame_run
from birdenv.runs.evaluate._evaluate import (
    METRIC_WORDS,
    Evaluation,
    evaluate_pairs,
    inspection_text,
    queries_on,
    read_details,
)
from birdenv.runs.evaluate._pairs import (
    SOURCES,
    NewestRun,
    ScoredPair,
    export_folder,
    export_pairs,
    holds_pairs,
    newest_run,
    pairs_folder,
    pairs_of_run,
    read_pairs,
    write_pairs,
)
from birdenv.runs.export._episodes import ExportedEpisode, exported_episodes
from birdenv.runs.export._rows import EXPORT_FORMATS, export_rows
from birdenv.runs.official._grade import grade_official
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
    "EXPORT_FORMATS",
    "EX_BIRD_NOTE",
    "EX_NOTE",
    "GOLDS_COUNTED",
    "METRIC_TITLES",
    "METRIC_WORDS",
    "R_VES_NOTE",
    "SOURCES",
    "BirdRegrade",
    "Evaluation",
    "ExportedEpisode",
    "NewestRun",
    "OfficialScore",
    "RecordedRun",
    "Regrade",
    "RunBlame",
    "RunComparison",
    "RunDirectory",
    "RunPlan",
    "RunReport",
    "RunResult",
    "ScoredPair",
    "Seating",
    "Summary",
    "bird_regrade_record",
    "bird_regrade_text",
    "blame_run",
    "compare",
    "comparison_text",
    "difficulty_means",
    "difficulty_table",
    "episode_name",
    "evaluate_pairs",
    "ex_difference_notes",
    "ex_differences",
    "export_folder",
    "export_pairs",
    "export_rows",
    "exported_episodes",
    "folder_name",
    "forest_plot",
    "grade_official",
    "holds_pairs",
    "inspection_text",
    "is_rated",
    "mishaps",
    "newest_run",
    "pairs_folder",
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
    "run_episodes",
    "run_folder",
    "score_official",
    "speed_record",
    "write_official_files",
    "write_pairs",
    "write_speeds",
]
