"""`Markup`: the published parsing rules as tables, and the prompt that grows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from envs_benchmark import GOLD_1, GOLD_1_FOLLOW_UP, GOLD_BIRD
from gymnasium.error import InvalidAction
from postgres_server import start_postgres

from birdenv.dialogue import make_game
from birdenv.envs.wrappers import Markup
from birdenv.tasks.sql.markup_reading import NO_SQL, extract_sql, read_output

Make = Callable[..., Any]


@pytest.mark.parametrize(
    ("text", "kind", "utterance"),
    [
        ("<s>Q?</s>", "question", "Q?"),
        ("<s>Q</s> and <t>SELECT 1</t>", "question", "Q"),
        ("<t>SELECT 1</t> or <s>Q</s>", "question", "Q"),
        ("x </t>", "submission", "x"),
        ("<t>SELECT 1</t>", "submission", "SELECT 1"),
        ("no tags at all", "untagged", "no tags at all"),
        ("A ### Turn 3 <t>SELECT 1</t>", "untagged", "A "),
        ("<s>a<s>b</s>c</s>", "question", "ab"),
        ("thinking aloud <s> Q? </s> more", "question", "Q?"),
        ("no opening tag </s>", "question", "no opening tag"),
        ("</s>", "question", ""),
        ("", "untagged", ""),
        ("<S>Q</S>", "untagged", "<S>Q</S>"),
    ],
)
def test_reading_an_output(text: str, kind: str, utterance: str) -> None:
    assert read_output(text) == (kind, utterance)


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("<t>```{own}\nSELECT 1\n```</t>", "SELECT 1"),
        ("<t>```sql\nSELECT 1\n```</t>", "SELECT 1"),
        ("<t>```SQL\nSELECT 1\n```</t>", "SELECT 1"),
        ("<t>```{other}\nSELECT 1\n```</t>", "SELECT 1"),
        ("```{other}\nSELECT 1\n```\n```{own}\nSELECT 2\n```", "SELECT 2"),
        ("<t>```\nSELECT 1\n```</t>", "SELECT 1"),
        ("```text\nwell\n```\n```\n  with a AS (SELECT 1) TABLE a\n```", "with a AS (SELECT 1) TABLE a"),
        ("<t>SELECT 1;</t>", "SELECT 1;"),
        ("<t>-- so\n(SELECT 1) UNION (SELECT 2)", "-- so\n(SELECT 1) UNION (SELECT 2)"),
        ("<t>UPDATE t SET a = 1</t>", "UPDATE t SET a = 1"),
        ("```{own}\nSELECT 1", "SELECT 1"),
        ("```{own}\nSELECT 1\n``` ```{own}\nSELECT 2\n```", "SELECT 1"),
        ("```{own} SELECT 1; SELECT 2```", "SELECT 1; SELECT 2"),
        ("<t>SELECT 1; SELECT 2</t>", NO_SQL),
        ("<t>The answer is: SELECT 1</t>", NO_SQL),
        ("```python\nSELECT = 1\n```", NO_SQL),
        ("### Turn 9 ```{own}\nSELECT 1\n```", NO_SQL),
        ("<t></t>", NO_SQL),
        ("", NO_SQL),
    ],
)
def test_extracting_sql(text: str, sql: str, dialect: str) -> None:
    own, other = ("sqlite", "PostgreSQL") if dialect == "sqlite" else ("postgresql", "SQLite")
    assert extract_sql(text.format(own=own, other=other), dialect) == sql


def _fenced(sql: str) -> str:
    return f"<t>```sqlite\n{sql}\n```</t>"


def _started(c_interact: Make, **arguments: Any) -> tuple[Any, str]:
    env = Markup(c_interact(**arguments))
    prompt, _ = env.reset(options={"instance_id": "shop_1"})
    return env, prompt


def _last_event(env: Any) -> tuple[str, Any]:
    event = [event for event in env.unwrapped._dialogue.events if event.agent == 0][-1]
    return event.action, event.data


def test_the_first_prompt(c_interact: Make) -> None:
    _, prompt = _started(c_interact)
    assert "Which items are dear? Größe egal 🐦" in prompt and "```sqlite" in prompt
    assert prompt.endswith("### Turn 1 (4 questions left):\nYou: ")


def test_an_episode_in_one_growing_prompt(c_interact: Make) -> None:
    env, first = _started(c_interact)
    second, *_ = env.step("Hm. <s>What does dear mean?</s> ### Turn 2 <t>never said</t>")
    assert second.startswith(first + "What does dear mean?\nUser: ") and "never said" not in second
    assert second.endswith("### Turn 2 (3 questions left):\nYou: ")
    third, reward, *_ = env.step(_fenced(GOLD_1))
    assert reward == 0.7
    assert third.startswith(second) and "How many of these are blue?" in third
    assert third.endswith("### Turn 3 (0 questions left):\nYou: <t>")
    last, reward, terminated, *_ = env.step(f"```sqlite\n{GOLD_1_FOLLOW_UP}\n```</t>")
    assert (reward, terminated) == (0.3, True)
    assert last.startswith(third) and "### Turn 4" not in last


@pytest.mark.parametrize(
    ("output", "action"),
    [
        ("<s>Which?</s>", ("clarify", "Which?")),
        ("Which, without tags?", ("clarify", "Which, without tags?")),
        (_fenced("SELECT 1"), ("submit_sql", "SELECT 1")),
        ("<t>SELECT 1</t>", ("submit_sql", "SELECT 1")),
        ("<t>It is one.</t>", ("submit_sql", NO_SQL)),
        ("", ("clarify", "")),
        ("x" * 100_000, ("malformed", None)),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_outputs_as_actions(c_interact: Make, output: Any, action: tuple[str, Any]) -> None:
    env, _ = _started(c_interact)
    env.step(output)
    assert _last_event(env) == action


@pytest.mark.parametrize("output", [None, 5])
def test_a_wrong_type_raises_and_costs_nothing(c_interact: Make, output: Any) -> None:
    env, _ = _started(c_interact)
    with pytest.raises(InvalidAction, match="must be text"):
        env.step(output)
    assert not env.unwrapped._dialogue.events


@pytest.mark.parametrize(
    ("output", "sql"),
    [
        ("<s>Which?</s>", NO_SQL),
        ("```sqlite\nSELECT 1\n``` <s>?</s>", "SELECT 1"),
        ("SELECT 1", "SELECT 1"),
        ("<t>SELECT 1", "SELECT 1"),
    ],
)
def test_where_no_question_is_left_every_output_is_a_submission(
    c_interact: Make, output: str, sql: str
) -> None:
    env, prompt = _started(c_interact, patience=0)
    prompt, *_ = env.step("<s>What does dear mean?</s>")
    assert prompt.endswith("(0 questions left):\nYou: <t>")
    env.step(output)
    assert _last_event(env) == ("submit_sql", sql)


def test_what_holds_no_sql_is_told_what_was_expected(c_interact: Make) -> None:
    env, _ = _started(c_interact)
    prompt, *_ = env.step("<t>I would count them.</t>")
    assert "No SQL was found in your message. Write it as a fenced code block between <t> and </t>." in prompt


def test_a_postgresql_environment_asks_for_its_own_fence(c_interact: Make) -> None:
    env = Markup(c_interact(dialect="postgres", dsn=start_postgres().admin))
    prompt, _ = env.reset(options={"instance_id": "shop_1"})
    assert "```postgresql" in prompt
    assert "```sqlite" not in prompt
    assert env.step(f"<t>```postgresql\n{GOLD_1}\n```</t>")[1] == 0.7
    env.close()


def test_bird_is_explored_by_tags(bird: Make) -> None:
    env = Markup(bird())
    prompt, _ = env.reset(options={"index": 0})
    assert "<s>" not in prompt and "<execute_sql>sql</execute_sql>" in prompt
    assert prompt.endswith("### Turn 1:\nYou: ")
    prompt, *_ = env.step("First <execute_sql>SELECT 7 + 1</execute_sql> ### Turn 2 <t>never said</t>")
    assert _last_event(env) == ("execute_sql", "SELECT 7 + 1")
    assert "You: <execute_sql>SELECT 7 + 1</execute_sql>\nDatabase: " in prompt and "8" in prompt
    _, reward, terminated, *_ = env.step(_fenced(GOLD_BIRD))
    assert (reward, terminated) == (1.0, True)


def test_a_interact_has_all_its_tools(a_interact: Make) -> None:
    env = Markup(a_interact())
    prompt, _ = env.reset(options={"instance_id": "shop_1"})
    assert (
        "<s>your question</s>" in prompt and "<get_column_meaning>table|column</get_column_meaning>" in prompt
    )
    env.step("<get_column_meaning>items|price</get_column_meaning>")
    assert _last_event(env) == ("get_column_meaning", {"table": "items", "column": "price"})
    env.step("<get_schema></get_schema>")
    assert _last_event(env) == ("get_schema", None)
    env.step("<s>What does dear mean?</s> <get_schema></get_schema>")
    assert _last_event(env) == ("clarify", "What does dear mean?")
    assert env.step(_fenced(GOLD_1))[1] == 0.7


def test_tags_of_actions_that_are_not_possible_are_words(c_interact: Make) -> None:
    env, _ = _started(c_interact)
    env.step("<execute_sql>SELECT 1</execute_sql>")
    assert _last_event(env)[0] == "clarify"


@pytest.mark.parametrize("game", ["c-interact", "a-interact", "bird"])
def test_episodes_read_the_same_markup(game: str) -> None:
    with make_game(game, limit=1) as arena, arena.episode(arena.ids[0]) as episode:
        assert arena.game.markup_help
        assert not episode.say("<t>```sqlite\nSELECT 1\n```</t>").malformed
        assert episode.events[-1].data == "SELECT 1"
