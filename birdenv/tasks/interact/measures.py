"""The measures of c-Interact and a-Interact (BIRD-Interact §5.1, §5.2).

The measures are the success rates in both phases before and after debugging, the mean reward, the effort per
episode, the types of answers from the user, and the published score for all tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from birdenv.dialogue.measures import Details, GameMeasures, Measure, Record
from birdenv.statistics import counted
from birdenv.tasks.interact.official_score import (
    EpisodeScore,
    answers_line,
    official_figures,
    official_lines,
    questions_text,
    rate_lines,
)
from birdenv.tasks.sql._actions import TOOLS
from birdenv.tasks.sql._doubtful_passes import doubtful_notes, doubtful_passes
from birdenv.tasks.sql._settings import REPORTED

GROUPS: Final = {
    "category": "By category",
    "difficulty": "By difficulty",
    "high_level": "By level",
    "ambiguity": "By ambiguity",
    "database": "By database",
}
"""The titles of the tables with a row for each group of tasks, by the kind of group. The paper calls the
categories Query and Management BI and DM. A task may have several types of ambiguities."""

_CALLS: Final = ("labelled", "unlabelled", "unanswerable", "unclear")
_DEBUG: Final = frozenset(
    ("a", "b", "c", "d", "phase_1_first", "phase_1_debug_gain", "phase_2_first", "phase_2_debug_gain")
)
"""The published figures that a-Interact leaves out, because all its submissions earn the same reward."""


def task_groups(
    *, category: str, difficulty: str, database: str, high_level: bool | None, ambiguity: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """Return the groups that a task belongs to, keyed by kind, such as `{"database": ("shop",), ...}`.

    `ambiguity` contains the type of each ambiguity in the task.
    """
    level = "unknown" if high_level is None else "high level" if high_level else "detailed"
    return {
        "category": (category,),
        "difficulty": (difficulty,),
        "high_level": (level,),
        "ambiguity": tuple(sorted(set(ambiguity))),
        "database": (database,),
    }


def passed(run: Record, phase: int, attempt: str | None = None) -> bool:
    """Return True if an episode passed a phase in the given attempt (`first` or `debug`; None for either)."""
    return any(
        a["reward"] > 0 and a["phase"] == phase and attempt in (None, a["attempt"]) for a in run["attempts"]
    )


def _phase(phase: int, attempt: str | None = None) -> Callable[[Record], float | None]:
    """Return a function that maps an episode's record to 1 if the episode passed a phase, and otherwise to 0.

    For phase 2, the function returns None if the task has no follow-up that can be graded.
    """

    def value(run: Record) -> float | None:
        if phase == 2 and run["follow_up"] != "graded":
            return None
        return float(passed(run, phase, attempt))

    return value


def _of_reached(run: Record) -> float | None:
    """Return 1 if an episode passed phase 2, 0 if not, and None if the episode did not reach phase 2."""
    return float(passed(run, 2)) if run["follow_up"] == "graded" and passed(run, 1) else None


def _solved(run: Record) -> float:
    """Return 1 if an episode passed all graded phases of its task, and otherwise 0."""
    return float(passed(run, 1) and (run["follow_up"] != "graded" or passed(run, 2)))


_REACHED: Final = Measure(
    "phase_2_of_reached", "Phase 2, of reached", _of_reached, compared=False, headline=False
)  # not compared: which episodes reach phase 2 is itself an outcome
_SOLVED: Final = Measure("solved", "Solved, all phases", _solved, headline=False)
_REWARD: Final = Measure("reward", "Mean reward", lambda run: float(run["reward"]), is_rate=False, drawn=True)


_MOST_PAID: Final = 1e6


def _seat_reward(name: str) -> Measure:
    def earned(run: Record) -> float | None:
        rewards = run.get("rewards")
        return None if rewards is None else float(rewards[name])

    words = f"Reward of the {name}"
    return Measure(f"{name}_reward", words, earned, is_rate=False, least=-_MOST_PAID, most=_MOST_PAID)


_SEAT_REWARDS: Final = (_seat_reward("system"), _seat_reward("user"))


def _of_paid_seats(records: Sequence[Record]) -> Sequence[Measure]:
    """Return the measures of both seats' rewards if the run has a reward scheme other than the default."""
    return _SEAT_REWARDS if any("rewards" in record for record in records) else ()


def _groups(record: Record, private: Record) -> dict[str, tuple[str, ...]]:
    """Return the groups that an episode's task belongs to, keyed by kind of group."""
    return task_groups(
        category=record["category"],
        difficulty=record["difficulty"],
        database=record["database"],
        high_level=record.get("high_level"),  # old runs do not have this field
        ambiguity=private.get("ambiguity_types", ()),
    )


def _details(
    records: Sequence[Record],
    private: Sequence[Record],
    passes: Callable[[Record], frozenset[tuple[int, str]]],
    own: Details,
    *,
    tells_first: bool,
) -> Details:
    """Return the details that both games have, followed by the game's own details."""
    scores = [
        EpisodeScore(run["instance_id"], run["status"], passes(run), run["follow_up"]) for run in records
    ]
    official = official_figures(scores)
    if not tells_first:
        official = {name: of for name, of in official.items() if name not in _DEBUG}
    withheld = sum(score.is_rated and score.follow_up == "ungraded" for score in scores)
    without = sum(score.is_rated and score.follow_up == "none" for score in scores)
    log = (entry for record in private for entry in record.get("log", ()))
    called = Counter(entry["call"] for entry in log if entry["kind"] == "answer")
    answers = {call: called[call] for call in _CALLS if called[call] or call != "unclear"}
    attempts = Counter(attempt.get("status", "") for run in records for attempt in run["attempts"])
    doubtful = doubtful_passes(records, private)
    figures = {
        **doubtful,
        "follow_ups_without_gold": withheld,
        "tasks_without_follow_up": without,
        "attempts": dict(sorted(attempts.items())),
        **own.figures,
        "answers": answers,
        "answer_shares": {
            call: round(answers[call] / called.total(), 6) if called else None for call in answers
        },
        "official": official,
    }
    reference = [*official_lines(official), *rate_lines({"end_to_end": official["phase_2"]})]
    screen = dict(own.screen)
    notes = [f"{counted(withheld, 'follow-up')} without gold: not asked or counted."] if withheld else []
    if without:
        graded = sum(score.is_rated and score.follow_up == "graded" for score in scores)
        notes.append(
            f"{counted(without, 'task')} without a follow-up can earn 0.7 at most: the rates of phase 2 are "
            f"over the {graded} with a follow-up."
        )
    notes += doubtful_notes(doubtful)
    failures: list[str] = []
    culprits = Counter(str(run["culprit"]) for run in records if "culprit" in run)
    if culprits:
        figures["failures"] = {name: culprits[name] for name in _CULPRITS}
        figures["users_share_of_failures"] = round(culprits["user"] / culprits.total(), 6)
        said = ", ".join(f"{name} {culprits[name]}" for name in _CULPRITS)
        screen["Failures by fault"] = said
        share = f"{100 * culprits['user'] / culprits.total():.1f} %"
        failures = [f"{'Failures by fault':<32}{said}; the user's share is {share} (birdenv blame)"]
    courses = Counter(map(_course, records))
    figures["what_happened"] = dict(sorted(courses.items()))
    happened = [f"  {course:<48}{count:>5}" for course, count in courses.most_common()]
    lines = [*own.lines, answers_line(answers), *failures, "", "What happened (episodes)", *happened]
    return Details(figures, lines, notes, screen, reference)


_CULPRITS: Final = ("agent", "user", "benchmark")


def _course(run: Record) -> str:
    """Return a short description of what happened in an episode."""
    if run["status"] not in ("completed", "task limit reached"):
        return str(run["status"]).replace("_", " ")
    told = []
    for phase, name in ((1, "request"), (2, "follow-up")):
        attempts = [a for a in run["attempts"] if a["phase"] == phase]
        if not attempts:
            told += [f"{name} never answered"] if phase == 1 else []
        elif passed(run, phase):
            told.append(f"{name} solved {'at once' if attempts[0]['reward'] > 0 else 'later'}")
        else:
            told.append(f"{name} not solved")
    return ", ".join(told)


def _mean(values: Sequence[float]) -> float | None:
    """Return the mean, rounded to six digits, or None if there are no values."""
    return round(sum(values) / len(values), 6) if values else None


_PLACES: Final = [(phase, attempt) for phase in (1, 2) for attempt in ("first", "debug")]


def _c_interact_details(records: Sequence[Record], private: Sequence[Record]) -> Details:
    """Return the details for c-Interact: the mean number of questions of each kind in the played episodes."""
    played = [run for run in records if "example" in run]
    asked = _mean([run["questions"] for run in played])
    allowed = _mean([run["max_questions"] for run in played])
    free = _mean([run.get("free_questions", 0) for run in played])
    screen = {"Questions per task": questions_text(asked, allowed, free)} if played else {}
    lines = [f"{name:<31}{text}" for name, text in screen.items()]
    own = Details({"questions_asked": asked, "questions_allowed": allowed}, lines, screen=screen)
    return _details(records, private, _passes_by_attempt, own, tells_first=True)


def _passes_by_attempt(run: Record) -> frozenset[tuple[int, str]]:
    return frozenset(place for place in _PLACES if passed(run, *place))


def _a_interact_details(records: Sequence[Record], private: Sequence[Record]) -> Details:
    """Return the details of a-Interact: the mean effort in the episodes that were played."""
    played = [run for run in records if "example" in run]
    calls = {kind: _mean([run["calls"].get(kind, 0) for run in played]) for kind in TOOLS}
    spent: dict[str, Any] = {
        "submissions": _mean([len(run["attempts"]) for run in played]),
        "budget": _mean([run["budget"] for run in played]),
        "budget_used": _mean([run["budget_used"] for run in played]),
        "calls": calls,
        "malformed": _mean([run["malformed"] for run in played]),
    }
    of_budget = "" if spent["budget"] is None else f" of {spent['budget']:.2f}"
    screen = {
        "Questions per task": _shown(calls["clarify"], 6),
        "Submissions per task": _shown(spent["submissions"], 6),
        "Budget used per task": f"{_shown(spent['budget_used'], 6)}{of_budget}",
    }
    lines = [
        *(f"{name:<31}{text}" for name, text in screen.items()),
        "",
        "Calls per task",
        *(f"  {kind:<33}{_shown(mean, 6)}" for kind, mean in calls.items()),
        f"  {'malformed':<33}{_shown(spent['malformed'], 6)}",
        "",
    ]
    return _details(records, private, _passes, Details(spent, lines, screen=screen), tells_first=False)


def _passes(run: Record) -> frozenset[tuple[int, str]]:
    """Return the passed phases, all as first attempts, because later submissions earn no less."""
    return frozenset((phase, "first") for phase in (1, 2) if passed(run, phase))


def _shown(value: float | None, width: int) -> str:
    return f"{'-':>{width}}" if value is None else f"{value:>{width}.2f}"


C_INTERACT: Final = GameMeasures(
    measures=(
        _REWARD,
        Measure("phase_1_first", "Phase 1, first try", _phase(1, "first")),
        Measure("phase_1", "Phase 1, after debug", _phase(1), drawn=True),
        Measure(
            "phase_1_debug_gain",
            "Phase 1, gained by debug",
            _phase(1, "debug"),
            compared=False,
            headline=False,
        ),
        Measure("phase_2_first", "Phase 2, first try", _phase(2, "first")),
        Measure("phase_2", "Phase 2, after debug", _phase(2)),
        Measure(
            "phase_2_debug_gain",
            "Phase 2, gained by debug",
            _phase(2, "debug"),
            compared=False,
            headline=False,
        ),
        _REACHED,
        _SOLVED,
    ),
    optional=_of_paid_seats,
    groups=_groups,
    group_titles=GROUPS,
    clusters="database",
    details=_c_interact_details,
    settings=("profile", "patience", "execute_sql", *REPORTED),
)

A_INTERACT: Final = GameMeasures(
    measures=(
        _REWARD,
        Measure("phase_1", "Phase 1", _phase(1), drawn=True),
        Measure("phase_2", "Phase 2", _phase(2)),
        _REACHED,
        _SOLVED,
    ),
    optional=_of_paid_seats,
    groups=_groups,
    group_titles=GROUPS,
    clusters="database",
    details=_a_interact_details,
    settings=("profile", "patience", *REPORTED),
)
