"""Players that have learned from dialogues, in each of CoCoA's games: `learned` and `hybrid`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import mean

import pytest
from birdenv_agents.cocoa_rules import rulebased
from birdenv_agents.learned import train_policy
from birdenv_agents.learned._policy import PolicyFile, write_policy

from birdenv.cocoa.acts import Transcripts
from birdenv.cocoa.files import ExampleRecord, write_examples
from birdenv.dialogue import Dialogue, make_game, play
from birdenv.dialogue.games import find_game
from birdenv.errors import InputError
from birdenv.studies.study._config import Partner, StudyConfig
from birdenv.studies.study._running_dialogue import PARTNER_ERROR
from birdenv.studies.study._store import Store
from birdenv.studies.study._study import Study
from birdenv.studies.study._study_game import study_arena

GAMES = ("mutual-friends", "bargain", "deal-or-no-deal")


def dialogues(game: str, player: str, number: int, scenario_seed: int, seed: int = 1) -> list[Dialogue]:
    """Dialogues of a player with itself."""
    seats = dict.fromkeys(find_game(game).seat_names, player)
    with make_game(game, limit=number, scenario_seed=scenario_seed, **seats) as arena:
        made = []
        for instance_id in arena.ids:
            dialogue = arena.start(instance_id)
            play(dialogue, arena.seat_players(dialogue, instance_id, seed=seed))
            made.append(dialogue)
    return made


def success(made: list[Dialogue]) -> float:
    outcomes = [dialogue.outcome() for dialogue in made]
    return mean(bool(each.get("valid_deal", each["reward"])) for each in outcomes)


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A policy for each game, of 20 dialogues of the rules."""
    folder = tmp_path_factory.mktemp("policies")
    for game in GAMES:
        with make_game(game, limit=20, scenario_seed=7) as arena:
            scenarios = [arena._tasks.scenario(instance_id) for instance_id in arena.ids]
        made = dialogues(game, "rulebased", 20, 7)
        examples = [
            ExampleRecord.model_validate(
                {"uuid": "E", "scenario": scenario, "events": [event.to_json() for event in dialogue.events]}
            )
            for scenario, dialogue in zip(scenarios, made, strict=True)
        ]
        write_examples(folder / f"{game}.dialogues", examples)
        with Transcripts(find_game(game), examples) as transcripts:
            train_policy(transcripts, folder / f"{game}.json", 0, lambda share: None)
    return {game: folder / f"{game}.json" for game in GAMES}


@pytest.mark.every(4)
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("player", ["learned", "learned:greedy", "hybrid"])
def test_it_plays_to_the_end_in_scenarios_that_it_has_not_seen(
    game: str, player: str, policies: dict[str, Path]
) -> None:
    made = dialogues(game, f"{player}:{policies[game]}", 8, 3)
    assert success(made) >= 0.75
    assert not [
        event for dialogue in made for event in dialogue.events if "refused" in (event.metadata or {})
    ]
    again = dialogues(game, f"{player}:{policies[game]}", 2, 3)
    assert [dialogue.events for dialogue in again] == [dialogue.events for dialogue in made[:2]]


def test_training_is_better_than_none(policies: dict[str, Path], tmp_path: Path) -> None:
    file = PolicyFile.model_validate_json(policies["mutual-friends"].read_text())
    write_policy(tmp_path / "untrained.json", file.model_copy(update={"weights": {}}))
    trained, untrained = (
        success(dialogues("mutual-friends", f"learned:{path}", 20, 3))
        for path in (policies["mutual-friends"], tmp_path / "untrained.json")
    )
    assert trained >= untrained + 0.3


@pytest.mark.parametrize("action", ["select", "message"])
def test_the_policy_decides_what_the_rules_do(action: str, policies: dict[str, Path], tmp_path: Path) -> None:
    file = PolicyFile.model_validate_json(policies["mutual-friends"].read_text())
    write_policy(tmp_path / "p.json", file.model_copy(update={"weights": {action: {"always": 50.0}}}))
    made = dialogues("mutual-friends", f"hybrid:greedy:{tmp_path / 'p.json'}", 4, 3)
    assert {dialogue.events[0].action for dialogue in made} == {action}


def test_the_same_dialogues_and_seed_give_the_same_file(tmp_path: Path) -> None:
    [dialogue] = dialogues("bargain", "rulebased", 1, 0)
    with make_game("bargain", limit=1) as arena:
        scenario = arena._tasks.scenario(arena.ids[0])
    events = [event.to_json() for event in dialogue.events]
    example = ExampleRecord.model_validate({"uuid": "E", "scenario": scenario, "events": events})
    for name in ("a", "b"):
        with Transcripts(find_game("bargain"), [example]) as transcripts:
            train_policy(transcripts, tmp_path / name, 0, lambda share: None)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda text: text[:200], "is not valid JSON|cut off"),
        (lambda text: "dialogue,rater\n", "is not a policy: train one with birdenv train-player"),
        (lambda text: "[]", "is not a policy: train one with birdenv train-player"),
        (lambda text: json.dumps({**json.loads(text), "acts": []}), "acts"),
        (lambda text: text.replace('"counts":[', '"counts":[0,', 1), "greater than 0"),
        (lambda text: text.replace('"counts":[', '"counts":[1,', 1), "one number for each entry of data"),
        (lambda text: re.sub(r'(":)-?\d+\.\d+', r"\g<1>1e300", text, count=1), "less than or equal"),
        (lambda text: json.dumps({**json.loads(text), "game": "bargain"}), "was trained for bargain"),
    ],
)
def test_a_file_that_cannot_be_used_is_told(
    damage: object, says: str, policies: dict[str, Path], tmp_path: Path
) -> None:
    assert callable(damage)
    (tmp_path / "p.json").write_text(damage(policies["deal-or-no-deal"].read_text()))
    with pytest.raises(InputError, match=says):
        dialogues("deal-or-no-deal", f"learned:{tmp_path / 'p.json'}", 1, 0)
    with pytest.raises(InputError, match="learned:FILE needs a policy: train one with birdenv train-player"):
        dialogues("deal-or-no-deal", "learned", 1, 0)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("player", ["rulebased", "learned", "hybrid", "retrieval"])
def test_it_plays_with_people_in_studies(game: str, player: str, policies: dict[str, Path]) -> None:
    """The person does what the rules would."""
    if player == "retrieval":
        pytest.importorskip("bm25s")
    file = {"rulebased": "", "retrieval": f":{policies[game].with_suffix('.dialogues')}"}
    spec = player + file.get(player, f":{policies[game]}")
    seat = find_game(game).seat_names[1]
    config = StudyConfig(seat=seat, partners={"bot": Partner(player=spec)})
    with study_arena(game, config, {"limit": 4, "scenario_seed": 3}) as arena:
        study = Study(arena, config, Store(":memory:"))
        for number in range(4):
            study.agree(f"p{number}")
            study.understood(f"p{number}", {})
            study.presence.connect(f"p{number}")
        rooms = study.tick()
        for room in rooms:
            [person] = study.store.seated(room.stored.id).values()
            dialogue = room.dialogue
            likely = rulebased("", arena.context(dialogue, room.stored.task, 1))
            while not room.dialogue.is_over:
                if (made := room.next_move()) is not None:
                    room.play_for(*made)
                elif (move := likely.move(dialogue.view(1))) is not None:
                    study.play(person, move, str(len(dialogue.events)))
                else:
                    room.stop("silence")
        assert {room.dialogue.status for room in rooms} & {"completed"}, [
            room.dialogue.status for room in rooms
        ]
        assert PARTNER_ERROR not in {room.dialogue.status for room in rooms}
