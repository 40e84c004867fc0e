"""Grading a stored run of a-Interact again: any number of attempts, each worth the same, on one budget."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from arenas import a_interact, c_interact, play, tasks_of

from birdenv.dialogue import Move, PlayerContext, View
from birdenv.errors import InputError
from birdenv.runs import RunDirectory
from birdenv.runs.regrade import regrade_interact, regrade_record, regrade_text
from birdenv.runs.regrade._interact import AS_PLAYED, Regrade
from birdenv.tasks.a_interact import PROFILES
from birdenv.tasks.a_interact._rules import AInteractRules
from birdenv.tasks.c_interact import PROFILES as ALL_PROFILES

sys.path.insert(0, str(Path(__file__).parents[2] / "tasks" / "c_interact"))
from toy_tasks import FOLLOW_UP_RIGHT, MANAGEMENT, QUERY, RIGHT, WRONG, write_benchmark

DOUBLED = f"{RIGHT} UNION ALL {RIGHT}"
"""Right as a set of rows, as adk compares them; strictly it is wrong."""

BROKEN = "SELECT count(*) FROM member WHERE (age >= 18) IS NOT DISTINCT FROM TRUE"
"""Strictly right; without the word DISTINCT it is no SQL."""

HOLE = "UPDATE member SET age = 1; SELECT 0"
PAID = 5
"""Submissions that the budget of 16 pays for; a sixth is waived in part, and is the last."""

EPISODES: dict[str, list[Any]] = {
    "right": [RIGHT, FOLLOW_UP_RIGHT],
    "later": [WRONG, "SELECT", "", RIGHT, FOLLOW_UP_RIGHT],
    "wrong": [WRONG] * (PAID + 1),
    "doubled": [DOUBLED],
    "doubled_then_right": [DOUBLED, RIGHT, FOLLOW_UP_RIGHT],
    "doubled_at_last": [*[WRONG] * PAID, DOUBLED],
    "broken": [WRONG, BROKEN, FOLLOW_UP_RIGHT],
    "broken_at_last": [*[WRONG] * PAID, BROKEN],
    "doubled_later": [RIGHT, WRONG, f"{FOLLOW_UP_RIGHT} UNION ALL {FOLLOW_UP_RIGHT}"],
    "hole": [HOLE],
    "no_tool": [Move("dance"), Move("submit_sql", 7), RIGHT],
    "left_at_once": [],
}


class Scripted:
    """Makes players that make the moves of their task, where text is a submission, then leave."""

    def __init__(self, scripts: dict[str, list[Any]]) -> None:
        self._scripts = scripts

    def __call__(self, argument: str, context: PlayerContext) -> _Script:
        return _Script(iter(self._scripts[context.instance_id]))


class _Script:
    def __init__(self, moves: Iterator[Any]) -> None:
        self._moves = moves

    def move(self, view: View) -> Move:
        made = next(self._moves, Move("quit"))
        return made if isinstance(made, Move) else Move("submit_sql", made)


def played(
    folder: Path, episodes: dict[str, list[Any]], record: Any = QUERY, **settings: Any
) -> RunDirectory:
    data = write_benchmark(folder / "data", *(record | {"instance_id": name} for name in episodes))
    return play(a_interact(data), Scripted(episodes), folder / "runs")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return played(tmp_path_factory.mktemp("regrade"), EPISODES)


@pytest.fixture(scope="module")
def found(stored: RunDirectory) -> Regrade:
    return regrade_interact(stored, list(PROFILES.values()))


def test_the_profile_that_was_played_gives_its_own_figures_again(
    stored: RunDirectory, found: Regrade
) -> None:
    assert list(found.figures) == [AS_PLAYED, "strict", "adk"]
    assert found.figures["strict"] == found.figures[AS_PLAYED]
    own = json.loads((stored.path / "overall.json").read_text())["figures"]
    strict = found.figures["strict"]
    assert (strict.phase_1, strict.phase_2) == (own["phase_1"]["passed"], own["phase_2"]["passed"]) == (7, 4)
    assert strict.mean_reward == pytest.approx(own["reward"]["value"], abs=1e-6)
    assert found.cut_short["strict"] == {}


def test_the_other_profile_side_by_side(found: Regrade) -> None:
    adk = found.figures["adk"]
    assert (adk.tasks, adk.phase_1, adk.phase_2) == (len(EPISODES), 8, 4)
    assert adk.mean_reward == pytest.approx((0.7 * 8 + 0.3 * 4) / len(EPISODES))
    judged = {(each.episode, each.phase, each.attempt): each.verdicts for each in found.disagreements}
    assert set(judged) == {
        ("doubled", 1, 1),
        ("doubled_then_right", 1, 1),
        ("doubled_at_last", 1, PAID + 1),
        ("broken", 1, 2),
        ("broken_at_last", 1, PAID + 1),
        ("doubled_later", 2, 2),
        ("hole", 1, 1),
    }
    assert judged["hole", 1, 1]["adk"].flags == ("integrity",)


def test_where_nobody_knows_how_it_goes_on(found: Regrade) -> None:
    """After a submission that was the last anyway, nothing would have come."""
    assert found.cut_short["adk"] == {
        "doubled": "it passes phase 1, and phase 2 was never played",
        "hole": "it passes phase 1, and phase 2 was never played",
        "broken": "its attempt 2 in phase 1 fails, and no further one was made",
    }


def test_what_is_printed_and_kept(found: Regrade) -> None:
    text = regrade_text(found)
    assert "a-interact, regraded (played under strict)" in text
    assert "Phase 1                      7/12  58.3 %" in text and "first try" not in text
    assert "broken           phase 1 attempt 2 as played: passed; strict: passed; adk: " in text
    record = regrade_record(found)
    assert record["game"] == "a-interact" and "phase_1_first" not in record["figures"]["adk"]
    assert "duplicate rows" not in text + json.dumps(record)


def test_the_end_of_the_budget_is_seen_as_the_rules_saw_it(tmp_path: Path) -> None:
    """Also where it was spent to the last tenth, so that one more submission would have been possible."""
    episodes = {
        "exactly": [*[Move("get_schema")] * 13, BROKEN],
        "over": [*[Move("get_schema")] * 14, BROKEN],
        "malformed": [*[Move("get_schema")] * 13, Move("dance"), BROKEN],
        "asked_after": [*[WRONG] * 4, BROKEN, Move("get_schema"), Move("get_schema")],
    }
    ended = []
    rules = AInteractRules._judged

    def judged(self: Any, sql: str, grade: Any) -> Any:
        ended.append((self.task.public.instance_id, self._is_last))
        return rules(self, sql, grade)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AInteractRules, "_judged", judged)
        run = played(tmp_path, episodes)
    assert {name for name, is_last in ended if is_last} == {"over", "malformed"}
    found = regrade_interact(run, [PROFILES["adk"]])
    assert set(found.cut_short["adk"]) == {"exactly", "asked_after"}


def test_management_goes_on_from_the_submission_that_passed(tmp_path: Path) -> None:
    episodes = {"a_M_1": ["DELETE FROM loan WHERE days > 99 OR days > 30", "SELECT count(*) FROM loan"]}
    run = played(tmp_path, episodes, MANAGEMENT)
    figures = regrade_interact(run, list(PROFILES.values())).figures
    assert {name: of.mean_reward for name, of in figures.items()} == dict.fromkeys(
        (AS_PLAYED, "strict", "adk"), 1.0
    )


def test_doubtful_passes_of_a_stored_run_fail_if_that_is_asked(tmp_path: Path) -> None:
    for number, game in enumerate((a_interact, c_interact)):
        data = write_benchmark(tmp_path / f"data{number}", QUERY)
        script = Scripted({"club_1": ["SELECT 2", FOLLOW_UP_RIGHT]})
        run = play(game(data), script, tmp_path / f"runs{number}")
        profiles = [ALL_PROFILES[name] for name in ("strict", "adk")]
        rewards = [
            {name: of.mean_reward for name, of in found.figures.items()}
            for found in (regrade_interact(run, profiles, fail_doubtful=asked) for asked in (False, True))
        ]
        assert [each["strict"] for each in rewards] == [1.0, 0.0]
        assert [each["adk"] for each in rewards] == [1.0, 1.0], "published rules judge as published"
        found = regrade_interact(run, profiles, fail_doubtful=True)
        assert "strict with fail_doubtful" in regrade_text(found) and regrade_record(found)["fail_doubtful"]
        careful = play(game(data, fail_doubtful=True), script, tmp_path / f"careful{number}")
        again = regrade_interact(careful, profiles[:1])
        assert again.figures["strict"] == again.figures[AS_PLAYED], "a run keeps its setting"


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    run = played(tmp_path, {"right": EPISODES["right"]})
    record = json.loads(run.file("runs").read_text())
    for change in ({"calls": 7}, {"calls": {"fly": 1}}, {"malformed": "x"}, {"attempts": []}):
        run.file("runs").write_text(json.dumps(record | change) + "\n")
        if change == {"attempts": []}:
            assert regrade_interact(run, [PROFILES["adk"]]).submissions == 0
        else:
            with pytest.raises(InputError, match="right: this is not a BIRD-Interact episode record"):
                regrade_interact(run, [PROFILES["adk"]])


def test_an_oracle_run_of_the_demo(demo: Path, tmp_path: Path) -> None:
    arena = a_interact(demo, 4)
    assert len(tasks_of(arena)) == 4
    found = regrade_interact(play(arena, "oracle", tmp_path), list(PROFILES.values()))
    assert {of.mean_reward for of in found.figures.values()} == {1.0}
