"""Regrade the submissions of a stored BIRD-Interact run under several profiles, without playing.

Only recorded submissions are graded, because the agent's reaction to a different verdict is unknown. If an
episode would have continued under a profile with a step that was never played (a debug attempt or phase 2),
the step counts as failed and the episode as cut short. The metrics for that profile are therefore lower
bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from birdenv.dialogue.measures import UNRATED
from birdenv.grading import InteractGrader
from birdenv.grading.interact import GradingJob
from birdenv.runs._run_folder import RunDirectory
from birdenv.runs.regrade._data import (
    Submission,
    check_unchanged,
    limits_of,
    place_of,
    source_of,
    submissions_of,
)
from birdenv.tasks.c_interact import AttemptName, CInteractTask, Profile, grading_job, load_benchmark
from birdenv.tasks.interact.official_score import EpisodeScore, count_phases

AS_PLAYED: Final = "as played"
_WITHOUT_SQL: Final = frozenset({"malformed", "no_submission"})
_NOBODYS: Final = frozenset({"infra_error", "test_error"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a submission under a profile, with its private `reason`."""

    status: str
    reason: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Figures:
    """The metrics of a run under one profile.

    In a-Interact, all attempts have the same value and count as first attempts.

    Attributes:
        tasks: number of rated tasks.
        followed: number of rated tasks whose follow-up has gold SQL, which are the tasks that phase 2 counts.
        phase_1_first: number of tasks that passed phase 1 at the first attempt.
        phase_1: number of tasks that passed phase 1 at any attempt.
        phase_2_first: number of tasks that passed phase 2 at the first attempt.
        phase_2: number of tasks that passed phase 2 at any attempt.
        mean_reward: the mean reward over the rated tasks.
        cut_short: number of episodes that would have continued under this profile with a step that was never
            played.
    """

    tasks: int
    followed: int
    phase_1_first: int
    phase_1: int
    phase_2_first: int
    phase_2: int
    mean_reward: float
    cut_short: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A submission whose verdict depends on the profile, or that exploits a gap in the rules.

    Attributes:
        episode: the name of the episode.
        phase: the phase of the submission.
        attempt: the name or number of the attempt in the phase.
        verdicts: the verdicts, keyed by profile; the recorded verdict has the key `AS_PLAYED`. Profiles under
            which the episode ends before the submission are left out.
    """

    episode: str
    phase: int
    attempt: AttemptName
    verdicts: Mapping[str, Verdict]


@dataclass(frozen=True, slots=True)
class Regrade:
    """The result of regrading a BIRD-Interact run.

    Attributes:
        figures: the metrics, keyed by profile; the recorded metrics have the key `AS_PLAYED`.
        disagreements: the submissions whose verdicts need attention.
        cut_short: the unplayed step with which an episode would have continued, keyed by profile and episode
            name.
        changes: descriptions of the data that have changed since the run.
        game: the name of the game.
        played_profile: the profile under which the run was played.
        fail_doubtful: True if passes that the grader flagged as doubtful were graded as failures.
        submissions: the number of submissions.
        left_out: the episodes whose task is no longer in the task file.
    """

    figures: Mapping[str, Figures]
    disagreements: tuple[Disagreement, ...]
    cut_short: Mapping[str, Mapping[str, str]]
    changes: tuple[str, ...]
    game: str
    played_profile: str
    fail_doubtful: bool
    submissions: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Replay:
    """An episode as a profile judges it. `passes` holds pairs of phase and attempt."""

    passes: frozenset[_Place]
    verdicts: Mapping[_Place, Verdict]
    is_rated: bool
    cut_short: str

    @property
    def counted_passes(self) -> frozenset[tuple[int, str]]:
        return frozenset((phase, name if isinstance(name, str) else "first") for phase, name in self.passes)


_Place = tuple[int, AttemptName]
_Judge = Callable[[GradingJob, str], Verdict]


def regrade_interact(
    directory: RunDirectory,
    profiles: Sequence[Profile],
    *,
    folder: Path | None = None,
    task_file: Path | None = None,
    allow_changed: bool = False,
    fail_doubtful: bool = False,
    parallel: int = 1,
) -> Regrade:
    """Regrade a stored run of c-Interact or a-Interact.

    Args:
        directory: the run folder.
        profiles: the profiles to grade under.
        folder: the new path of the database folder, if the folder has moved since the run.
        task_file: the new path of the task file, if the file has moved since the run.
        allow_changed: True to grade even if data have changed since the run.
        fail_doubtful: True to fail passes that the grader flags as doubtful under the profile `strict`.
            Implied if the run was played with this setting.
        parallel: the number of episodes to grade at the same time.

    Raises:
        InputError: data are missing, or have changed and `allow_changed` is false.
    """
    config = directory.read_config(hint="")
    fail_doubtful = fail_doubtful or bool(config.get("fail_doubtful"))
    profiles = [replace(p, grading=replace(p.grading, fail_doubtful=fail_doubtful)) for p in profiles]
    runs = directory.read("runs")
    root = place_of(config, "db_dir", "--data-dir", folder)
    data_file = place_of(config, "data_file", "--data", task_file)
    wanted = {run["instance_id"] for run in runs.values()}
    benchmark = load_benchmark(
        root,
        data_file,
        source=source_of(config, root),
        select=lambda record: record.instance_id in wanted,
    )
    tasks = {task.public.instance_id: task for task in benchmark.tasks}
    source, limits = benchmark.source, limits_of(config)
    names = sorted({task.public.database for task in tasks.values()})
    changes = check_unchanged(config, data_file, source, names, allow_changed)
    grader = InteractGrader(source, limits)

    def judge(job: GradingJob, sql: str) -> Verdict:
        grade = grader.grade(job, sql)
        return Verdict(grade.status, grade.reason, grade.flags)

    there = {name: run for name, run in runs.items() if run["instance_id"] in tasks}
    played = {name: submissions_of(run, f"{directory.file('runs')}: {name}") for name, run in there.items()}

    def replay(name: str) -> dict[str, _Replay]:
        task = tasks[there[name]["instance_id"]]
        return {p.name: _replay(task, p, played[name], judge) for p in profiles}

    with closing(source), ThreadPoolExecutor(parallel) as pool:
        replays = dict(zip(there, pool.map(replay, there), strict=True))
    by_profile: dict[str, dict[str, _Replay]] = {
        AS_PLAYED: {name: _as_played(run, played[name]) for name, run in there.items()}
    }
    for profile in profiles:
        by_profile[profile.name] = {name: replays[name][profile.name] for name in there}
    return Regrade(
        figures={
            column: _figures([(there[name], replay) for name, replay in episodes.items()])
            for column, episodes in by_profile.items()
        },
        disagreements=tuple(_disagreements(played, by_profile)),
        cut_short={
            profile.name: {n: r.cut_short for n, r in by_profile[profile.name].items() if r.cut_short}
            for profile in profiles
        },
        changes=tuple(changes),
        game=str(config.get("game", "")),
        played_profile=str(config.get("profile", "")),
        fail_doubtful=fail_doubtful,
        submissions=sum(map(len, played.values())),
        left_out=tuple(name for name in runs if name not in there),
    )


def _replay(task: CInteractTask, profile: Profile, played: Sequence[Submission], judge: _Judge) -> _Replay:
    """Return an episode under a profile, as far as it was played."""
    verdicts: dict[_Place, Verdict] = {}
    passes: dict[_Place, None] = {}
    accepted: str | None = None
    cut_short = ""
    for phase in (1, 2) if task.has_gold else ():
        follow_up = task.private.follow_up
        if phase == 2 and (accepted is None or follow_up is None or not follow_up.gold):
            break
        submitted = [submission for submission in played if submission.phase == phase]
        job = replace(grading_job(task, profile, phase, accepted), keeps_state=False)
        has_passed = has_ended = False
        for submission in submitted:
            place = (phase, submission.attempt)
            if submission.status in _WITHOUT_SQL:
                verdicts[place] = Verdict(submission.status)
                continue
            verdicts[place] = judge(job, submission.sql)
            if verdicts[place].status == "passed" and not has_passed:
                has_passed, has_ended = True, submission.is_last
                passes[place] = None
                accepted = submission.sql if phase == 1 else accepted
        if not has_passed:
            cut_short = _missing(phase, submitted, played)
        if has_ended or not has_passed:
            break
    is_rated = task.has_gold and not any(v.status in _NOBODYS for v in verdicts.values())
    return _Replay(frozenset(passes), verdicts, is_rated, cut_short)


def _missing(phase: int, submitted: Sequence[Submission], played: Sequence[Submission]) -> str:
    """Return which step was never played because the run's own verdict differed, or an empty text."""
    last = submitted[-1] if submitted else None
    if last is not None and last.passed and last.attempt == "first":
        return f"its first attempt in phase {phase} fails, and the debug attempt was never made"
    if last is not None and last.passed and isinstance(last.attempt, int) and not last.is_last:
        return f"its attempt {last.attempt} in phase {phase} fails, and no further one was made"
    if phase == 2 and not submitted and not any(s.passed for s in played if s.phase == 1):
        return "it passes phase 1, and phase 2 was never played"
    return ""


def _as_played(run: Mapping[str, Any], played: Sequence[Submission]) -> _Replay:
    verdicts = {(s.phase, s.attempt): Verdict(s.status) for s in played}
    passes = frozenset((s.phase, s.attempt) for s in played if s.passed)
    return _Replay(passes, verdicts, run["status"] not in UNRATED, "")


def _figures(episodes: Iterable[tuple[Mapping[str, Any], _Replay]]) -> Figures:
    valid = [(run, replay) for run, replay in episodes if replay.is_rated]
    counts = count_phases(
        [
            EpisodeScore(
                run["instance_id"], run["status"], replay.counted_passes, run.get("follow_up", "none")
            )
            for run, replay in valid
        ]
    )
    return Figures(
        tasks=counts.tasks,
        followed=counts.followed,
        phase_1_first=counts.a,
        phase_1=counts.a + counts.b,
        phase_2_first=counts.c,
        phase_2=counts.c + counts.d,
        mean_reward=counts.mean_reward,
        cut_short=sum(bool(replay.cut_short) for _, replay in valid),
    )


def _disagreements(
    played: Mapping[str, Sequence[Submission]], by_profile: Mapping[str, Mapping[str, _Replay]]
) -> Iterable[Disagreement]:
    """Yield the submissions whose verdicts differ, and those that exploit a gap in a profile's rules."""
    for name, submissions in played.items():
        for submission in submissions:
            place = (submission.phase, submission.attempt)
            verdicts = {
                column: episodes[name].verdicts[place]
                for column, episodes in by_profile.items()
                if place in episodes[name].verdicts
            }
            if len({verdict.status == "passed" for verdict in verdicts.values()}) > 1 or any(
                "integrity" in verdict.flags for verdict in verdicts.values()
            ):
                yield Disagreement(name, submission.phase, submission.attempt, verdicts)
