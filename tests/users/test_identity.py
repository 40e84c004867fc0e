"""Who a user is: each fact that its answers depend on changes the digest, and nothing else does."""

from __future__ import annotations

import pytest

from birdenv.users.identity import changed_facts, standard_line, user_facts

SETTINGS = {
    "profile": "strict",
    "user_style": "plain",
    "user_sees": "words",
    "leak_guard": "filter",
    "patience": 3,
}


def test_the_standard_user_is_named_with_its_digest() -> None:
    facts = user_facts("rule", SETTINGS, {})
    assert standard_line(facts).startswith("This is the standard user (version ")
    assert facts["digest"] in standard_line(facts)
    assert facts == user_facts("rule:cooperative", {**SETTINGS, "patience": 9}, {"temperature": 1.0})


@pytest.mark.parametrize(
    ("user", "settings", "said"),
    [
        ("rule:busy", {}, "kind rule:busy"),
        ("rule", {"profile": "adk"}, "profile adk"),
        ("rule", {"user_style": "terse"}, "style terse"),
        ("rule", {"user_sees": "all"}, "sees all"),
        ("rule", {"leak_guard": "log"}, "guard log"),
        ("llm:small", {}, "kind llm:small"),
    ],
)
def test_another_user_has_another_digest_and_says_why(user: str, settings: dict[str, str], said: str) -> None:
    standard, other = user_facts("rule", SETTINGS, {}), user_facts(user, {**SETTINGS, **settings}, {})
    assert other["digest"] != standard["digest"]
    assert f"This is not the standard user: {said} (" in standard_line(other)
    assert changed_facts(standard, other)


def test_a_model_and_its_prompts_are_part_of_the_user() -> None:
    facts = [
        user_facts("llm", SETTINGS, models)
        for models in (
            {"user_model": "small"},
            {"user_model": "large"},
            {"user_model": "small", "prompts": "compact"},
            {"user_model": "small", "user_prompts_sha256": {"encoder.txt": "1", "decoder.txt": "2"}},
        )
    ]
    assert len({each["digest"] for each in facts}) == 4
    assert changed_facts(facts[0], facts[1]) == ["model (small and large)"]
    assert changed_facts(user_facts("rule", SETTINGS, {}), user_facts("rule+llm:small", SETTINGS, {}))[1] == (
        "model (none and small)"
    )
