"""A study's file: our own, and CoCoA's `app_params.json` in the shapes that are out there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from birdenv.errors import InputError
from birdenv.studies.rating_round._config import RatingConfig
from birdenv.studies.study._config import StudyConfig
from birdenv.studies.study._config_files import AppParams, read_config

STATUSES = {"waiting": {"num_seconds": 180}, "chat": {"num_seconds": -1}, "survey": {"num_seconds": -1}}
MODELS = {
    "rulebased": {"active": True, "type": "rulebased", "prob": 0.5},
    "off": {"active": False, "type": "rulebased"},
}


def written(folder: Path, **record: Any) -> Path:
    path = folder / "app_params.json"
    path.write_text(json.dumps(record))
    return path


@pytest.mark.filterwarnings("ignore:.*app_params.json. not used")
@pytest.mark.parametrize(
    ("quotas", "expected"),
    [
        ({"num_chats_per_scenario": 3, "models": MODELS}, {"human": 3, "rulebased": 3}),
        (
            {"num_chats_per_scenario": {"human": 2, "rulebased": 1}, "models": MODELS},
            {"human": 2, "rulebased": 1},
        ),
        ({"num_chats_per_scenario": {"human": 1}}, {"human": 1}),
        ({"models": MODELS, "skip_chat_enabled": False}, {"human": None, "rulebased": None}),
    ],
    ids=["one number", "a number each", "no models", "no quotas"],
)
def test_the_four_shapes_of_app_params(
    tmp_path: Path, quotas: dict[str, Any], expected: dict[str, Any]
) -> None:
    (tmp_path / "told.html").write_text("<p>Find the <b>friend</b> &amp; win.</p>")
    path = written(
        tmp_path,
        status_params=STATUSES,
        task_title="Friends",
        instructions="told.html",
        templates_dir="/nowhere",
        idle_timeout_num_seconds=90,
        connection_timeout_num_seconds=5,
        **quotas,
    )
    config = read_config(path)
    assert {name: each.chats for name, each in config.partners.items()} == expected
    assert (config.title, config.survey) == ("Friends", ())
    assert config.instructions.split() == "Find the friend & win.".split()
    limits = config.limits
    assert (limits.waiting, limits.chat, limits.idle, limits.away) == (180, None, 90, 5)


def test_an_unknown_type_of_model_is_left_out_with_a_warning(tmp_path: Path) -> None:
    path = written(tmp_path, status_params=STATUSES, models={"net": {"active": True, "type": "dynanet"}})
    with pytest.warns(UserWarning, match="'net' is left out, because its type 'dynanet' is unknown"):
        assert list(read_config(path).partners) == ["human"]


def test_what_has_no_effect_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, status_params=STATUSES, templates_dir="pages", icon="a.jpg", debug=None)
    with pytest.warns(UserWarning) as told:
        read_config(path)
    [warning] = told
    why = "birdenv uses its own pages: write text for participants in `instructions`"
    assert str(warning.message) == f"{path}: these fields are ignored: icon, templates_dir. {why}"


def test_a_checkpoint_is_the_file_of_its_player(tmp_path: Path) -> None:
    models = {
        "net": {"type": "neural", "checkpoint": "nets/deal.safetensors", "prob": 0.5},
        "bot": {"type": "rulebased", "checkpoint": None},
    }
    partners = read_config(written(tmp_path, status_params=STATUSES, models=models)).partners
    assert partners["net"].player == f"neural:{tmp_path}/nets/deal.safetensors"
    assert partners["bot"].player == "rulebased"


def test_null_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    model = {"active": True, "type": "rulebased"}
    record = {"status_params": STATUSES, "task_title": "Friends", "models": {"bot": model}}
    without = read_config(written(tmp_path, **record))
    nothing = dict.fromkeys(set(AppParams.model_fields) - record.keys())
    models = {"bot": {**model, "prob": None}, "old": None}
    statuses = {**STATUSES, "finished": None}
    nulls = {**record, **nothing, "models": models, "status_params": statuses, "debug": None}
    assert read_config(written(tmp_path, **nulls)) == without
    people = {"status_params": STATUSES, "models": None}
    assert list(read_config(written(tmp_path, **people)).partners) == ["human"]


def test_a_quota_of_nobody_is_left_out_with_a_warning(tmp_path: Path) -> None:
    quotas = {"human": 1, "neural": 2, "off": 0, "rulebased": 1}
    path = written(tmp_path, status_params=STATUSES, models=MODELS, num_chats_per_scenario=quotas)
    with pytest.warns(UserWarning) as told:
        assert list(read_config(path).partners) == ["human", "rulebased"]
    words = [str(each.message).partition("num_chats_per_scenario.")[2] for each in told]
    assert words == [f"{name} is ignored: no active model has that name" for name in ("neural", "off")]


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ({"status_params": {"waiting": {"num_seconds": 1}}}, "status_params.chat.num_seconds is missing"),
        ({"status_params": []}, "status_params: Input should"),
        ({"status_params": None}, "status_params.waiting.num_seconds is missing"),
        ({"models": MODELS, "task_title": "x"}, "status_params.waiting.num_seconds is missing"),
        ({"status_params": {**STATUSES, "chat": None}}, "status_params.chat.num_seconds is missing"),
        (
            {
                "status_params": STATUSES,
                "models": {"bot": {"type": "rulebased"}},
                "num_chats_per_scenario": {"human": 1, "bot": None},
            },
            "does not mention 'bot'",
        ),
        (
            {"status_params": STATUSES, "models": MODELS, "num_chats_per_scenario": {"human": 1}},
            "does not mention 'rulebased'",
        ),
        ({"status_params": STATUSES, "models": 3}, "models"),
        (
            {"status_params": STATUSES, "models": {"human": {"active": True, "type": "rulebased"}}},
            "a model cannot have the name 'human'",
        ),
        ({"status_params": STATUSES, "num_chats_per_scenario": {"human": 0}}, "no partner is left"),
        ({"titel": "x"}, "json: titel: there is no such field; the fields are title, consent, instructions"),
        ({"limits": {"idle": "soon"}}, "json: limits.idle: Input should be a valid number.*got 'soon'$"),
        ({"limits": {"waitng": 5}}, "json: limits.waitng: there is no such field$"),
        ({"codes": {"dne": "C1"}}, "json: codes.dne: Input should be 'done', 'partner_left'"),
        ({"codes": {"done": ""}}, "json: codes.done: String should have at least 1 character"),
        ({"standby": "bot"}, "json: standby is 'bot'"),
        ({"partners": {"x": {"player": "human"}}}, "partners.x: for a partner who is a person"),
        ({"check": [{"question": "?", "options": ["a", "b"], "answer": 2}]}, "the last option is 1"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, record: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        read_config(written(tmp_path, **record))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"name": "form"}, "the page already uses that name"),
        ({"name": "item"}, "the page already uses that name"),
        ({"name": "a", "scale": -1}, "the scale of 'a' is -1"),
        ({"name": "a", "scale": 10**9}, "the scale of 'a' is 1000000000"),
        ({"name": "a", "about": "xyz"}, "`about` of the question 'a' is 'xyz'"),
    ],
)
@pytest.mark.parametrize(("config", "field"), [(StudyConfig, "survey"), (RatingConfig, "questions")])
def test_questions_that_a_page_cannot_ask_are_refused(
    config: type[BaseModel], field: str, question: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValidationError, match=said):
        config.model_validate({field: [{"text": "?", **question}]})
    twice = [{"name": "a", "text": "?"}] * 2
    with pytest.raises(ValidationError, match="two questions have the name 'a'"):
        config.model_validate({field: twice})
