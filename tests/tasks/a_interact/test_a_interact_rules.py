"""The protocol of a-Interact, one rule a test (BIRD-Interact, agentic mode)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import examples

sys.path.insert(0, str(Path(__file__).parents[1] / "c_interact"))
from toy_tasks import FOLLOW_UP_RIGHT, MANAGEMENT, QUERY, RIGHT, WRONG, Played, write_benchmark

from birdenv.dialogue import Move
from birdenv.dialogue.chat import chat_messages
from birdenv.dialogue.seat import MAX_TEXT
from birdenv.grading import InteractGrader
from birdenv.grading.interact import Grade, GradingJob
from birdenv.tasks import SYSTEM, USER
from birdenv.tasks.a_interact import COSTS, GAME, PROFILES
from birdenv.tasks.a_interact._budget import budget_for
from birdenv.tasks.a_interact._rules import AInteractRules
from birdenv.tasks.c_interact import load_benchmark
from birdenv.tasks.sql._actions import KINDS, TOOLS

SEAT = GAME.seats[SYSTEM]


def start(folder: Path, record: dict[str, Any] = QUERY, **options: Any) -> Played:
    benchmark = load_benchmark(write_benchmark(folder, record))
    grader = InteractGrader(benchmark.source)
    return Played(AInteractRules(benchmark.tasks[0], benchmark.source, grader, **options))


def use(episode: Played, action: str, data: Any = None) -> str:
    """Make a move, and the user's if one follows; what the system then reads.

    Data that is a text becomes what the action makes of a text.
    """
    tool = SEAT.by_name.get(action)
    if tool is not None and isinstance(data, str):
        data = tool.data_of_text(data)
    episode.apply(SYSTEM, Move(action, data))
    episode.answer()
    return episode.system_view().message


def submit(episode: Played, *statements: str) -> None:
    for sql in statements:
        use(episode, "submit_sql", sql)


def spend(episode: Played, left: float) -> None:
    """Buy looks until that much is left."""
    while episode.budget.left >= left + 1:
        use(episode, "get_schema")
    while episode.budget.left > left:
        use(episode, "get_all_external_knowledge_names")
    assert episode.budget.left == left


@pytest.mark.parametrize(
    ("critical", "knowledge", "other", "patience", "budget"),
    [(1, 1, 0, 3, 16), (3, 1, 2, 3, 20), (0, 0, 3, 3, 12), (0, 0, 0, 0, 6), (2, 1, 0, 5, 22)],
)
def test_the_budget_counts_critical_and_knowledge_ambiguities(
    tmp_path: Path, critical: int, knowledge: int, other: int, patience: int, budget: int
) -> None:
    point = {"term": "grown", "sql_snippet": "age >= 18", "type": "t"}
    ambiguity = {"critical_ambiguity": [point] * critical, "non_critical_ambiguity": [point] * other}
    record = QUERY | {"user_query_ambiguity": ambiguity, "knowledge_ambiguity": [point] * knowledge}
    episode = start(tmp_path, record, patience=patience)
    assert episode.system_view().budget == episode.budget.total == budget
    assert budget == budget_for(critical + knowledge, patience)


@pytest.mark.parametrize(
    ("action", "data", "cost"),
    [
        ("clarify", "What do you mean by 'grown'?", 2),
        ("execute_sql", "SELECT 1", 1),
        ("submit_sql", WRONG, 3),
        ("get_schema", None, 1),
        ("get_all_column_meanings", "", 1),
        ("get_column_meaning", "loan|days", 0.5),
        ("get_all_external_knowledge_names", "", 0.5),
        ("get_knowledge_definition", "Adult", 0.5),
        ("get_all_knowledge_definitions", "", 1),
        ("execute_sql", "SELEC", 1),
        ("get_column_meaning", "no|such", 0.5),
        ("get_knowledge_definition", "nothing", 0.5),
        ("submit_sql", "", 3),
        ("dance", "x", 0.2),
        ("clarify", "  ", 0.2),
        ("clarify", 7, 0.2),
        ("execute_sql", None, 0.2),
        ("execute_sql", "x" * (MAX_TEXT + 1), 0.2),
        ("get_column_meaning", "days", 0.2),
        ("get_column_meaning", "loan|", 0.2),
        ("get_column_meaning", "a|b|c", 0.2),
        ("get_column_meaning", {"table": "loan", "column": "days"}, 0.5),
        ("get_column_meaning", {"table": "loan", "column": "a|b"}, 0.2),
        ("get_column_meaning", {"table": "loan"}, 0.2),
    ],
)
def test_prices(tmp_path: Path, action: str, data: Any, cost: float) -> None:
    episode = start(tmp_path)
    message = use(episode, action, data)
    assert episode.budget.used == cost
    assert message.endswith(f"Budget left: {16 - cost:g} of 16.")
    assert episode.system_view().budget == 16 - cost


def test_every_tool_has_its_published_price() -> None:
    assert tuple(COSTS) == TOOLS and len(TOOLS) == 9
    assert TOOLS[: len(KINDS)] == KINDS


@pytest.mark.parametrize(
    ("statements", "reward"),
    [
        ([RIGHT, FOLLOW_UP_RIGHT], 1.0),
        ([WRONG, RIGHT, FOLLOW_UP_RIGHT], 1.0),
        ([WRONG, WRONG, WRONG, RIGHT, FOLLOW_UP_RIGHT], 1.0),
        ([RIGHT, WRONG, WRONG, FOLLOW_UP_RIGHT], 1.0),
        (["", "SELEC", RIGHT, WRONG, FOLLOW_UP_RIGHT], 1.0),
        ([RIGHT, WRONG, WRONG, WRONG, WRONG, WRONG], 0.7),
        ([WRONG] * 6, 0.0),
    ],
)
def test_a_pass_earns_the_same_at_any_attempt(tmp_path: Path, statements: list[str], reward: float) -> None:
    episode = start(tmp_path)
    submit(episode, *statements)
    assert episode.terminated and not episode.truncated
    assert episode.status == "completed"
    assert episode.rewards == (reward, reward)
    assert [a.attempt for a in episode.attempts if a.phase == 1][-1] == sum(
        a.phase == 1 for a in episode.attempts
    )


def test_a_submission_that_is_not_covered_is_the_last(tmp_path: Path) -> None:
    episode = start(tmp_path)
    spend(episode, 2.5)
    assert "clarify" in episode.system_view().legal
    submit(episode, RIGHT)
    assert (episode.terminated, episode.rewards[0], episode.phase) == (True, 0.7, 1)
    assert episode.budget.left == 0
    assert "Follow-up" not in episode.system_view().message


def test_a_submission_that_takes_the_very_rest_leaves_one_more(tmp_path: Path) -> None:
    episode = start(tmp_path)
    spend(episode, 3)
    submit(episode, RIGHT)
    assert episode.system_view().legal == ("submit_sql",)
    assert episode.budget.left == 0 and episode.turn == SYSTEM
    submit(episode, FOLLOW_UP_RIGHT)
    assert episode.terminated and episode.rewards[0] == 1.0


def test_a_tool_that_is_too_dear_is_refused_and_then_only_submitting_is_possible(tmp_path: Path) -> None:
    episode = start(tmp_path)
    spend(episode, 1.5)
    legal = episode.system_view().legal
    assert "clarify" not in legal and {"execute_sql", "get_column_meaning", "submit_sql"} <= set(legal)
    message = use(episode, "clarify", "What do you mean by 'grown'?")
    assert "Only submit_sql" in message
    assert episode.budget.left == 1.5 and not episode.calls["clarify"]
    assert episode.system_view().legal == ("submit_sql",)
    assert episode.system_view().turns_left == 0
    submit(episode, RIGHT)
    assert episode.terminated and episode.rewards[0] == 0.7


@pytest.mark.parametrize(
    ("action", "data"), [("get_schema", ""), ("dance", "x"), ("submit_sql", None), ("clarify", "Why?")]
)
def test_where_only_submitting_is_possible_anything_else_ends_the_episode(
    tmp_path: Path, action: str, data: Any
) -> None:
    episode = start(tmp_path)
    spend(episode, 0)
    assert episode.system_view().legal == ("submit_sql",)
    use(episode, action, data)
    assert episode.terminated and episode.status == "no_submission"
    assert episode.rewards[0] == 0.0


def test_malformed_actions_end_with_the_budget(tmp_path: Path) -> None:
    episode = start(tmp_path, patience=0)
    for _ in range(200):
        if episode.turn is None:
            break
        use(episode, "nonsense")
    assert episode.terminated and episode.status == "no_submission"
    assert episode.malformed == 48  # 10 at 0.2 each, down to where no tool can be paid for


def test_feedback_on_a_failure_tells_the_database_error_or_only_that_it_failed(tmp_path: Path) -> None:
    episode = start(tmp_path)
    assert "no such column: shoe_size" in use(episode, "submit_sql", "SELECT shoe_size FROM member")
    wrong = use(episode, "submit_sql", WRONG).replace("Budget left: 10 of 16.", "")
    assert not any(character.isdigit() for character in wrong)
    assert "no SQL" in use(episode, "submit_sql", "  ")


def test_the_instruction_holds_prices_and_neither_schema_nor_knowledge(tmp_path: Path) -> None:
    instruction = start(tmp_path).system_view().instruction
    assert QUERY["amb_user_query"] in instruction
    assert all(f"- {kind}" in instruction and f"({COSTS[kind]:g})" in instruction for kind in TOOLS)
    assert "CREATE TABLE" not in instruction and "Risk" not in instruction


def test_questions_are_answered_in_both_phases(tmp_path: Path) -> None:
    episode = start(tmp_path)
    assert "18" in use(episode, "clarify", "What do you mean by 'grown'?")
    submit(episode, RIGHT)
    assert "follow-up request" in episode.system_view().message.lower()
    assert episode.system_view().candidates == ("SELECT 1",)
    before = len(episode.private_log)
    use(episode, "clarify", "Which city?")
    assert [entry["kind"] for entry in episode.private_log[before:]] == ["answer"]


def test_the_leak_guard_holds_for_a_stranger_in_the_users_seat(tmp_path: Path) -> None:
    episode = start(tmp_path)
    episode.apply(SYSTEM, Move("clarify", "What do you mean by 'grown'?"))
    leak = "Use SELECT count(*) FROM member WHERE age >= 18"
    event = episode.apply(USER, Move("answer", leak))
    assert leak not in event.data and leak not in episode.system_view().message


def test_the_systems_own_database_keeps_what_it_writes_and_grading_never_sees_it(tmp_path: Path) -> None:
    episode = start(tmp_path)
    use(episode, "execute_sql", "DELETE FROM member WHERE age >= 18")
    assert "\n1\n" in use(episode, "execute_sql", "SELECT count(*) AS n FROM member")
    submit(episode, RIGHT)
    assert episode.rewards[0] == 0.7
    assert "\n3\n" in use(episode, "execute_sql", "SELECT count(*) AS n FROM member")


def test_grading_begins_when_the_systems_own_database_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode = start(tmp_path)
    use(episode, "execute_sql", "DELETE FROM member WHERE age >= 18")
    use(episode, "execute_sql", "CREATE TEMP TABLE big AS SELECT zeroblob(1000000) AS a")
    open_while_graded = []
    grade = InteractGrader.grade

    def noting(self: InteractGrader, job: GradingJob, sql: str) -> Grade:
        open_while_graded.append(episode.rules._database.is_open)
        return grade(self, job, sql)

    monkeypatch.setattr(InteractGrader, "grade", noting)
    submit(episode, WRONG)
    assert open_while_graded == [False]
    assert "\n1\n" in use(episode, "execute_sql", "SELECT count(*) AS n FROM member")  # what it wrote stays
    assert "no such table" in use(episode, "execute_sql", "SELECT count(*) FROM big")
    submit(episode, WRONG)
    assert "\n1\n" in use(episode, "execute_sql", "SELECT count(*) AS n FROM member")


def test_the_follow_up_of_a_management_task_starts_from_the_accepted_sql(tmp_path: Path) -> None:
    episode = start(tmp_path, MANAGEMENT)
    submit(episode, "DELETE FROM loan WHERE days >= 31")
    assert episode.phase == 2
    assert "\n1\n" in use(episode, "execute_sql", "SELECT count(*) AS n FROM loan")
    submit(episode, "SELECT count(*) FROM loan")
    assert episode.rewards[0] == 1.0


@pytest.mark.parametrize(
    ("record", "status", "reward"),
    [
        (QUERY | {"sol_sql": []}, "ungraded", 0.0),
        (QUERY | {"sol_sql": ["SELECT nope FROM member"]}, "infra_error", 0.0),
        (QUERY | {"follow_up": QUERY["follow_up"] | {"sol_sql": []}}, "completed", 0.7),
        ({k: v for k, v in QUERY.items() if k != "follow_up"}, "completed", 0.7),
    ],
)
def test_tasks_that_lack_something(
    tmp_path: Path, record: dict[str, Any], status: str, reward: float
) -> None:
    episode = start(tmp_path, record)
    submit(episode, RIGHT)
    assert (episode.turn, episode.status, episode.rewards[0]) == (None, status, reward)
    assert episode.truncated == (status == "infra_error")
    assert "nope" not in str(episode.events) and "nope" not in str(episode.outcome())


def test_a_set_up_that_does_not_run_is_the_benchmarks_fault(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY | {"preprocess_sql": ["DROP TABLE nothing"]})
    message = use(episode, "execute_sql", "SELECT 1")
    assert episode.truncated and episode.status == "infra_error"
    assert "nothing" not in message


def test_leaving(tmp_path: Path) -> None:
    early, late = start(tmp_path / "1"), start(tmp_path / "2")
    use(early, "quit")
    submit(late, RIGHT)
    use(late, "quit")
    assert [early.status, late.status] == ["no_submission", "completed"]
    assert late.rewards[0] == 0.7


def test_the_outcome_says_what_was_spent(tmp_path: Path) -> None:
    episode = start(tmp_path)
    use(episode, "get_schema")
    submit(episode, WRONG, RIGHT, FOLLOW_UP_RIGHT)
    outcome = episode.outcome()
    assert (outcome["budget"], outcome["budget_used"], outcome["reward"]) == (16, 10.0, 1.0)
    assert [(a["phase"], a["attempt"], a["reward"]) for a in outcome["attempts"]] == [
        (1, 1, 0.0),
        (1, 2, 0.7),
        (2, 1, 0.3),
    ]


def test_a_move_out_of_turn_is_refused_at_no_price(tmp_path: Path) -> None:
    episode = start(tmp_path)
    before = episode.system_view()
    event = episode.apply(USER, Move("answer", "x"))
    assert event.metadata == {"sender": "judge", "reply": "It is not your turn.", "refused": True}
    assert (episode.turn, episode.budget.used, episode.malformed) == (SYSTEM, 0, 0)
    assert episode.system_view() == before
    with pytest.raises(ValueError, match="no seat 2"):
        episode.view(2)


def test_the_log_as_chat_messages(tmp_path: Path) -> None:
    episode = start(tmp_path)
    use(episode, "get_column_meaning", "loan|days")
    use(episode, "clarify", "What do you mean by 'grown'?")
    use(episode, "get_schema")
    messages = chat_messages("", episode.events, SEAT)[1:]
    assert [m["role"] for m in messages] == ["assistant", "tool"] * 3
    calls = [m["tool_calls"][0]["function"] for m in messages[::2]]
    assert calls[0] == {"name": "get_column_meaning", "arguments": '{"table": "loan", "column": "days"}'}
    assert calls[2] == {"name": "get_schema", "arguments": "{}"}
    assert all("Budget left:" in m["content"] for m in messages[1::2])


MOVES = st.tuples(
    st.sampled_from([*TOOLS, "quit", "malformed", ""]),
    st.one_of(st.none(), st.sampled_from([RIGHT, FOLLOW_UP_RIGHT, WRONG, "loan|days", "Adult"]), st.text()),
)


@settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(moves=st.lists(MOVES, max_size=40))
def test_whatever_is_played_the_rules_hold(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, Any]]
) -> None:
    episode = start(tmp_path_factory.mktemp("episode"))
    for action, data in moves:
        if episode.turn is None:
            break
        before, legal = episode.budget.left, episode.system_view().legal
        assert "submit_sql" in legal
        use(episode, action, data)
        free = episode.turn is None or (action in TOOLS and action not in legal)
        assert free or episode.budget.left < before
    assert 0 <= episode.budget.left <= episode.budget.total
    assert episode.rewards[0] in (0.0, 0.7, 1.0)
    assert (episode.turn is None) == (episode.terminated or episode.truncated)
    episode.close()


DOUBLED = f"{RIGHT} UNION ALL {RIGHT}"


@pytest.mark.parametrize(("profile", "passes"), [("strict", False), ("adk", True)])
def test_a_profile_says_how_submissions_are_judged(tmp_path: Path, profile: str, passes: bool) -> None:
    """Rows as a multiset, or as the set of the reference implementation; and whose ids are shown."""
    episode = start(tmp_path, profile=PROFILES[profile])
    assert ('"id": 2, "knowledge": "Risk"' in use(episode, "get_all_knowledge_definitions")) == passes
    submit(episode, DOUBLED)
    assert episode.attempts[0].passed == passes
