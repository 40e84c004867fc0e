"""The protocol of c-Interact, one rule a test (BIRD-Interact §2, §5.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import examples
from toy_tasks import FOLLOW_UP_RIGHT, MANAGEMENT, QUERY, RIGHT, WRONG, Played, start, write_benchmark

from birdenv.dialogue import DialogueOver, Move
from birdenv.dialogue.seat import MAX_TEXT
from birdenv.grading import InteractGrader
from birdenv.tasks import SYSTEM, USER
from birdenv.tasks.c_interact import PROFILES, CInteractRules, load_benchmark
from birdenv.tasks.c_interact import _messages as messages


def submit(episode: Played, *statements: str) -> None:
    for sql in statements:
        episode.apply(SYSTEM, Move("submit_sql", sql))


def ask(episode: Played, question: str = "What do you mean by 'grown'?") -> str:
    episode.apply(SYSTEM, Move("clarify", question))
    episode.answer()
    return episode.system_view().message


@pytest.mark.parametrize(
    ("statements", "reward"),
    [
        ([RIGHT, FOLLOW_UP_RIGHT], 1.0),
        ([WRONG, RIGHT, FOLLOW_UP_RIGHT], 0.8),
        ([RIGHT, WRONG, FOLLOW_UP_RIGHT], 0.9),
        ([WRONG, RIGHT, WRONG, FOLLOW_UP_RIGHT], 0.7),
        ([RIGHT, WRONG, WRONG], 0.7),
        ([WRONG, RIGHT, WRONG, WRONG], 0.5),
        ([WRONG, WRONG], 0.0),
        (["", ""], 0.0),
        (["SELEC", RIGHT, FOLLOW_UP_RIGHT], 0.8),
    ],
)
def test_reward_schedule(tmp_path: Path, statements: list[str], reward: float) -> None:
    episode = start(tmp_path, QUERY)
    submit(episode, *statements)
    assert episode.terminated
    assert not episode.truncated
    assert episode.rewards == (reward, reward)


def test_a_task_without_follow_up_ends_after_phase_one(tmp_path: Path) -> None:
    episode = start(tmp_path, {k: v for k, v in QUERY.items() if k != "follow_up"})
    submit(episode, RIGHT)
    assert episode.terminated
    assert episode.rewards[0] == 0.7


@pytest.mark.parametrize(
    ("profile", "critical", "knowledge", "other", "patience", "questions"),
    [
        ("strict", 3, 1, 2, 2, 6),
        ("strict", 2, 1, 1, 3, 6),
        ("strict", 0, 0, 3, 3, 3),
        ("adk", 3, 1, 2, 2, 6),
        ("shell", 3, 1, 2, 2, 5),
        ("shell", 2, 1, 1, 3, 5),
        ("shell", 0, 0, 3, 3, 2),
    ],
)
def test_turn_budget(
    tmp_path: Path, profile: str, critical: int, knowledge: int, other: int, patience: int, questions: int
) -> None:
    point = {"term": "grown", "sql_snippet": "age >= 18", "type": "t"}
    ambiguity = {"critical_ambiguity": [point] * critical, "non_critical_ambiguity": [point] * other}
    record = QUERY | {"user_query_ambiguity": ambiguity, "knowledge_ambiguity": [point] * knowledge}
    episode = start(tmp_path, record, profile, patience=patience)
    assert episode.system_view().turns_left == questions
    for _ in range(questions):
        ask(episode)
    assert episode.system_view().turns_left == 0
    assert ("clarify" in episode.system_view().legal) == (profile == "adk")


def test_a_question_beyond_the_budget_is_an_empty_submission(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY, patience=0)
    ask(episode), ask(episode)
    for expected in (["malformed"], ["malformed"], ["malformed"], ["malformed", "malformed"]):
        ask(episode)
        assert [attempt.status for attempt in episode.attempts] == expected
    assert episode.terminated
    assert episode.rewards[0] == 0.0


def test_a_refused_action_costs_a_question_while_there_are_some(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    before = episode.system_view().turns_left
    for move in (
        Move("execute_sql", "SELECT 1"),
        Move("dance", "x"),
        Move("clarify", "  "),
        Move("clarify", 7),
    ):
        episode.apply(SYSTEM, move)
    assert episode.system_view().turns_left == before - 4
    assert episode.system_view().sender == "judge"
    assert not episode.attempts


def test_an_action_without_its_text_is_told_what_it_needs(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    for action, data, needs in (
        ("submit_sql", None, "submit_sql needs sql: code of at most 65,536 characters. "),
        ("submit_sql", "x" * 65_537, "submit_sql needs sql: code of at most 65,536 characters. "),
        ("clarify", None, "clarify needs question: text of at most 65,536 characters that is not blank. "),
    ):
        episode.apply(SYSTEM, Move(action, data))
        assert episode.system_view().message.startswith(needs)


def test_no_question_is_possible_after_the_first_submission(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    assert (episode.system_view().turns_left, ask(episode) != "") == (5, True)
    submit(episode, WRONG)
    assert (episode.system_view().legal, episode.system_view().turns_left) == (("submit_sql",), 0)
    not_now = "clarify is not possible now. Possible actions: submit_sql."
    for free in (
        "That was free; 1 more such action will be free in this phase.",
        "That was free, but the next such action in this phase uses up your attempt.",
    ):
        assert ask(episode) == f"{not_now} {free}"
        assert not episode.terminated
    last = ask(episode)
    assert last.startswith(f"{not_now} Such actions were free twice in this phase; this one uses up")
    assert "budget" not in last
    assert episode.terminated


def test_refused_moves_are_free_twice_in_each_phase(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    submit(episode, WRONG)
    ask(episode), ask(episode)
    submit(episode, RIGHT)
    for statuses in (2, 2, 3, 4):
        ask(episode)
        assert len(episode.attempts) == statuses
    assert (episode.terminated, episode.rewards[0]) == (True, 0.5)


def test_what_uses_up_an_attempt_is_said_at_the_beginning(tmp_path: Path) -> None:
    words = "free twice in each phase; the next one uses up the attempt."
    assert words in start(tmp_path / "strict", QUERY).system_view().instruction
    assert words not in start(tmp_path / "shell", QUERY, "shell").system_view().instruction


def test_shell_keeps_the_published_rule_and_says_so(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY, "shell")
    submit(episode, WRONG)
    assert episode.system_view().turns_left == 0
    last = ask(episode)
    assert "by the rules of the profile shell it counts as an empty submission" in last
    assert "budget" not in last
    assert episode.terminated


def test_adk_answers_questions_in_the_debug_attempt(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY, "adk")
    submit(episode, WRONG)
    assert "18" in ask(episode)
    submit(episode, RIGHT)
    assert episode.rewards[0] == 0.5


def test_adk_truncates_a_dialogue_that_never_ends(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY, "adk")
    while episode.turn is not None:
        ask(episode)
    assert episode.truncated
    assert not episode.terminated
    assert episode.status == "task limit reached"


@pytest.mark.parametrize(
    ("moves", "reward", "status"),
    [
        (["", RIGHT, FOLLOW_UP_RIGHT], 1.0, "completed"),
        (["", RIGHT, "", FOLLOW_UP_RIGHT], 1.0, "completed"),
        ([WRONG, RIGHT, "", FOLLOW_UP_RIGHT], 0.8, "completed"),
        (["", WRONG], 0.0, "completed"),
        ([WRONG, ""], 0.0, "completed"),
        (["", ""], 0.0, "no_submission"),
        ([RIGHT, "", ""], 0.7, "completed"),
    ],
)
def test_words_alone_end_an_attempt_under_adk(
    tmp_path: Path, moves: list[str], reward: float, status: str
) -> None:
    """After an attempt without a submission comes one paid as the first (BIRD-Interact §2.5). "": words."""
    episode = start(tmp_path, QUERY, "adk")
    assert messages.NO_CALL in episode.system_view().instruction
    for sql in moves:
        assert not episode.terminated
        episode.apply(SYSTEM, Move("submit_sql", sql) if sql else Move("no_call", "It is about age."))
    assert (episode.terminated, episode.rewards[0], episode.status) == (True, reward, status)
    assert len(episode.attempts) == len([sql for sql in moves if sql])


def test_words_alone_cost_a_question_elsewhere(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    left = episode.system_view().turns_left
    episode.apply(SYSTEM, Move("no_call", "It is about age."))
    assert (episode.system_view().turns_left, episode.attempts) == (left - 1, [])
    assert messages.NO_CALL not in episode.system_view().instruction


def test_answer_comes_from_the_annotation(tmp_path: Path) -> None:
    message = ask(start(tmp_path, QUERY))
    assert "age" in message
    assert "18" in message
    assert ">=" not in message


@pytest.mark.parametrize(
    "leak",
    [
        "Use SELECT count(*) FROM member WHERE age >= 18",
        "The ground truth counts members.",
        "Look at member_id in the other table.",
    ],
)
def test_leak_guard_holds_for_a_stranger_in_the_users_seat(tmp_path: Path, leak: str) -> None:
    episode = start(tmp_path, QUERY)
    episode.apply(SYSTEM, Move("clarify", "What do you mean by 'grown'?"))
    event = episode.apply(USER, Move("answer", leak))
    assert leak not in event.data
    assert episode.system_view().message == event.data
    assert episode.private_log[-1]["guard"]


def test_a_strangers_honest_answer_passes(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    episode.apply(SYSTEM, Move("clarify", "What do you mean by 'grown'?"))
    assert episode.apply(USER, Move("answer", "Old enough to vote: 18 or more.")).data.endswith("18 or more.")


def test_debug_feedback_shows_the_database_error_but_not_the_expected_result(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    submit(episode, "SELECT shoe_size FROM member")
    assert "no such column: shoe_size" in episode.system_view().message
    episode = start(tmp_path / "again", QUERY)
    submit(episode, WRONG)
    assert "2" not in episode.system_view().message


def test_shell_feedback_has_no_error_text(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY, "shell")
    submit(episode, "SELECT shoe_size FROM member")
    assert "shoe_size" not in episode.system_view().message
    assert "could not be executed" in episode.system_view().message


def test_visible_knowledge_hides_the_deleted_entry_and_its_gap(tmp_path: Path) -> None:
    instruction = start(tmp_path, QUERY).system_view().instruction
    assert "days > 30" not in instruction
    assert '"id": 1, "knowledge": "Risk"' in instruction
    assert "children_knowledge" not in instruction


def test_shell_shows_raw_knowledge_lines(tmp_path: Path) -> None:
    instruction = start(tmp_path, QUERY, "shell").system_view().instruction
    assert "days > 30" not in instruction
    assert '"id": 2, "knowledge": "Risk"' in instruction
    assert "children_knowledge" in instruction


def test_execute_sql_is_an_opt_in(tmp_path: Path) -> None:
    assert "execute_sql" not in start(tmp_path / "off", QUERY).system_view().legal
    episode = start(tmp_path / "on", QUERY, execute_sql=True)
    episode.apply(SYSTEM, Move("execute_sql", "SELECT name FROM member WHERE city = 'Rome'"))
    assert episode.system_view().message == "name\n----\nCy\n(1 row)"
    assert episode.system_view().turns_left == 5


def test_what_the_system_does_to_its_database_does_not_reach_the_grader(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY, execute_sql=True)
    episode.apply(SYSTEM, Move("execute_sql", "UPDATE member SET age = 5"))
    submit(episode, RIGHT)
    assert episode.attempts[0].passed


def test_management_follow_up_starts_from_the_accepted_state(tmp_path: Path) -> None:
    episode = start(tmp_path, MANAGEMENT, execute_sql=True)
    submit(episode, "DELETE FROM loan WHERE NOT days <= 30;")
    assert episode.system_view().phase == 2
    episode.rules._accepted = "THIS DOES NOT RUN"  # nor is it run again: the state itself was kept
    episode.apply(SYSTEM, Move("execute_sql", "SELECT count(*) AS n FROM loan"))
    assert episode.system_view().message == "n\n-\n1\n(1 row)"
    submit(episode, "SELECT count(book) FROM loan")
    assert episode.rewards[0] == 1.0


def test_a_query_answer_may_not_write(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    submit(episode, "UPDATE member SET age = 1")
    assert episode.attempts[0].status == "sql_error"


def test_task_without_gold_ends_as_ungraded(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY | {"sol_sql": []})
    submit(episode, RIGHT)
    assert episode.terminated
    assert episode.status == "ungraded"


@pytest.mark.parametrize(
    "broken", [{"sol_sql": ["SELECT nope FROM member"]}, {"preprocess_sql": ["DROP TABLE nope"]}]
)
def test_a_broken_benchmark_is_not_the_agents_failure(tmp_path: Path, broken: dict[str, Any]) -> None:
    episode = start(tmp_path, QUERY | broken)
    submit(episode, RIGHT)
    assert episode.truncated
    assert episode.status == "infra_error"


def test_what_the_data_say_does_not_come_back_in_an_error(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    submit(episode, "SELECT json_extract('{}', (SELECT group_concat(name) FROM member))")
    assert "could not be executed" in episode.system_view().message
    assert "Ann" not in episode.system_view().message


def test_a_long_or_odd_error_message_is_cut_and_escaped(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    submit(episode, 'SELECT "\x1b[31m' + "x" * 5000 + '" FROM member, loan WHERE missing_column = 1')
    message = episode.system_view().message
    assert len(message) < 500
    assert "\x1b" not in message


def test_a_text_beyond_the_limit_is_malformed(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    submit(episode, RIGHT + " " * MAX_TEXT)
    assert not episode.attempts
    assert episode.system_view().turns_left == 4
    assert episode.events[-1].data == {"cut": len(RIGHT) + MAX_TEXT}


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_the_systems_own_database_never_holds_the_golds_work(tmp_path: Path, profile: str) -> None:
    record = MANAGEMENT | {"sol_sql": ["CREATE VIEW late AS SELECT book FROM loan WHERE days > 30"]}
    episode = start(tmp_path, record, profile, execute_sql=True)
    submit(episode, "CREATE VIEW late AS SELECT l.book FROM loan l WHERE NOT l.days <= 30")
    assert episode.system_view().phase == 2
    episode.apply(SYSTEM, Move("execute_sql", "SELECT sql FROM sqlite_master WHERE name = 'late'"))
    assert "NOT l.days <= 30" in episode.system_view().message
    assert "days > 30" not in episode.system_view().message


def test_the_last_failure_names_its_error(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    submit(episode, WRONG, "SELECT shoe_size FROM member")
    assert "no such column: shoe_size\nThe episode ends." in episode.system_view().message


def test_set_up_that_fails_under_execute_sql_is_not_the_agents_failure(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY | {"preprocess_sql": ["DROP TABLE nope"]}, execute_sql=True)
    episode.apply(SYSTEM, Move("execute_sql", "SELECT 1"))
    assert episode.truncated
    assert episode.status == "infra_error"


def test_a_move_out_of_turn_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    before = episode.system_view()
    event = episode.apply(USER, Move("answer", "x"))
    assert (event.agent, event.metadata) == (
        USER,
        {"sender": "judge", "reply": "It is not your turn.", "refused": True},
    )
    assert episode.system_view() == before and episode.turn == SYSTEM
    assert not episode.private_log


def test_moving_after_the_end_is_the_drivers_mistake(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    submit(episode, WRONG, WRONG)
    events = list(episode.events)
    for seat, move in ((SYSTEM, Move("submit_sql", RIGHT)), (USER, Move("answer", "x"))):
        with pytest.raises(DialogueOver):
            episode.apply(seat, move)
    assert issubclass(DialogueOver, ValueError)
    assert episode.events == events


def test_the_systems_view_holds_nothing_private(tmp_path: Path) -> None:
    episode = start(tmp_path, QUERY)
    texts = [repr(episode.system_view())]
    ask(episode)
    submit(episode, WRONG)
    texts.append(repr(episode.system_view()))
    submit(episode, RIGHT)
    texts.append(repr(episode.system_view()))
    for text in texts:
        for secret in (QUERY["query"], QUERY["sol_sql"][0], QUERY["follow_up"]["sol_sql"][0], "age >= 18'"):
            assert secret not in text
    assert QUERY["follow_up"]["query"] not in texts[1]
    assert QUERY["follow_up"]["query"] in texts[2]


moves = st.lists(
    st.tuples(
        st.sampled_from(["clarify", "execute_sql", "submit_sql", "", "reset"]),
        st.one_of(
            st.none(), st.integers(), st.text(max_size=20), st.sampled_from([RIGHT, WRONG, FOLLOW_UP_RIGHT])
        ),
    ),
    max_size=40,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_benchmark(tmp_path_factory.mktemp("benchmark"), QUERY)


@settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(moves=moves, profile=st.sampled_from(sorted(PROFILES)), execute=st.booleans())
def test_any_moves_lead_to_an_end_with_at_most_one(
    folder: Path, moves: list[tuple[str, object]], profile: str, execute: bool
) -> None:
    benchmark = load_benchmark(folder)
    grader = InteractGrader(benchmark.source)
    rules = CInteractRules(
        benchmark.tasks[0], benchmark.source, grader, profile=PROFILES[profile], execute_sql=execute
    )
    episode = Played(rules)
    for action, data in [*moves, *[("nothing", None)] * 70]:
        if episode.turn is None:
            break
        if episode.turn == USER:
            episode.apply(USER, Move("answer", data))
        else:
            episode.apply(SYSTEM, Move(action, data))
    assert episode.turn is None
    assert 0.0 <= episode.rewards[0] <= 1.0
    assert [event.time for event in episode.events] == list(range(1, len(episode.events) + 1))
