"""Users that differ, on annotated points of the demo."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from samples import examples

import birdenv
from birdenv.dialogue import Arena
from birdenv.errors import InputError
from birdenv.users._rule_player import NO_TIME, UNSURE


def points() -> Iterator[tuple[str, str]]:
    """Tasks and terms, each once, to be asked about by name."""
    with birdenv.make_game("c-interact", user=None) as arena:
        for task in arena.ids:
            for item in arena._tasks.tasks[task].private.brief.ambiguities:
                yield task, item.term


def talk(arena: Arena, task: str, *questions: str) -> list[str]:
    with arena.episode(task) as episode:
        for question in questions:
            episode.act("clarify", question)
        return [event.data for event in episode.events if event.action == "answer"]


@pytest.fixture(scope="module")
def cooperative() -> dict[tuple[str, str], str]:
    every = sorted(set(points()))
    asked = every[:: len(every) // examples(len(every))]
    with birdenv.make_game("c-interact") as arena:
        return {point: talk(arena, point[0], f"What do you mean by '{point[1]}'?")[0] for point in asked}


@pytest.mark.slow
def test_a_mistaken_user_is_never_silently_wrong(cooperative: dict[tuple[str, str], str]) -> None:
    mistaken = 0
    with birdenv.make_game("c-interact", user="rule:mistaken") as arena:
        for point, right in cooperative.items():
            first, again = talk(arena, point[0], f"What do you mean by '{point[1]}'?", "Please confirm that.")
            mistaken += first != right
            assert first == right or first.endswith(UNSURE)
            assert right in again, (point, again)
            assert UNSURE not in again
    assert mistaken > len(cooperative) // 5


def test_a_vague_user_needs_a_second_question(cooperative: dict[tuple[str, str], str]) -> None:
    with birdenv.make_game("c-interact", user="rule:vague") as arena:
        for (task, term), right in cooperative.items():
            first, second = talk(arena, task, f"What do you mean by '{term}'?", "Yes, exactly please.")
            assert first == f"By '{term}' I mean the usual thing. Do you need it exactly?"
            content = right.rstrip(".").split(" I mean ")[-1].split(", please ")[-1].split(" I want it ")[-1]
            content = content.split(" only those where ")[-1]
            assert content.split(", called ")[0].removeprefix("that ") in second


@pytest.mark.parametrize(("user", "answers"), [("rule:busy", 3), ("rule:busy:2", 2)])
def test_a_busy_user_leaves(user: str, answers: int) -> None:
    with birdenv.make_game("c-interact", user=user) as arena:
        said = talk(arena, "library_4", *["What do you mean by 'central branches'?"] * 5)
    assert [text == NO_TIME for text in said] == [False] * answers + [True] * (5 - answers)


def test_a_literal_user_says_no_more_than_yes_or_no() -> None:
    with birdenv.make_game("c-interact", user="rule:literal") as arena:
        assert talk(arena, "library_1", "Does roomy mean more than 50 seats?") == ["No."]


@pytest.mark.slow
def test_styles_have_the_same_content(cooperative: dict[tuple[str, str], str]) -> None:
    asked = [*cooperative][:25]
    said = {style: said_in(style, asked) for style in ("terse", "chatty")}
    assert said["chatty"][:5] == said_in("chatty", asked[:5])
    for point, terse, chatty in zip(asked, said["terse"], said["chatty"], strict=True):
        assert terse[1:-1].split(", called ")[0] in cooperative[point]
        assert cooperative[point] in chatty
    assert len({text.split(" By ")[0] for text in said["chatty"]}) > 3


def said_in(style: str, asked: list[tuple[str, str]]) -> list[str]:
    with birdenv.make_game("c-interact", user_style=style) as arena:
        return [talk(arena, task, f"What do you mean by '{term}'?")[0] for task, term in asked]


def test_a_style_needs_the_profile_that_has_conversations() -> None:
    with pytest.raises(InputError, match="strict"):
        birdenv.make_game("c-interact", user_style="terse", profile="shell")
