"""Players that are not ours, in child processes that episodes share: few, and no harm to neighbours."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from arenas import bird, c_interact, play

from birdenv.runs import _player_process as player_process

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "notes"
    monkeypatch.setenv("NOTES", str(file))
    return file


def noted(file: Path) -> list[tuple[str, str]]:
    """Process and task of each player that was made; the first is made on trial."""
    lines = [line.split() for line in file.read_text().splitlines()]
    return [(process, task) for process, task in lines][1:]


@pytest.mark.slow
def test_twenty_slow_episodes_at_once_share_two_children(demo: Path, tmp_path: Path, notes: Path) -> None:
    directory = play(bird(demo, 20), "foreign_agents:Noting", tmp_path / "runs", parallel=20)
    made = noted(notes)
    assert len(made) == len(directory.read("runs")) == len(bird(demo, 20).ids)
    children = Counter(process for process, _ in made)
    assert len(children) <= 2
    assert max(children.values()) > 1
    assert {record["status"] for record in directory.read("runs").values()} == {"completed"}


@pytest.mark.slow
def test_repeats_of_a_task_never_share_a_child_at_once(demo: Path, tmp_path: Path, notes: Path) -> None:
    play(bird(demo, 2), "foreign_agents:Noting", tmp_path / "runs", parallel=6, repeats=3)
    made = noted(notes)
    assert len(made) == 6
    assert len(set(made)) == 6, "all six are played at once"
    assert len({process for process, _ in made}) == 3


@pytest.fixture(scope="module")
def quiet(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The records where no child ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        folder = tmp_path_factory.mktemp("quiet")
        return runs_of(c_interact(demo, 4), "foreign_agents:Neighbour:quiet", folder)


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("exit", "process died (exit code 9)"),
        ("raise", "I have had enough"),
        pytest.param("nonsense", "its answer was invalid", marks=pytest.mark.kills),
        pytest.param("unasked", "its answer was invalid", marks=pytest.mark.kills),
        ("wrong kind", "its answer was invalid"),
        pytest.param("long", "its answer was invalid", marks=pytest.mark.kills),
    ],
)
def test_a_child_that_ends_costs_the_episode_that_ended_it(
    demo: Path, tmp_path: Path, quiet: list[dict[str, Any]], how: str, says: str
) -> None:
    loud = runs_of(c_interact(demo, 4), f"foreign_agents:Neighbour:{how}", tmp_path / "b")
    assert [record["status"] for record in quiet] == ["completed"] * 4
    assert (loud[2]["status"], loud[2]["attempts"]) == ("task error", [])
    assert says in loud[2]["error"]
    for place in (0, 1, 3):
        calls = loud[place].pop("usage")["calls"]  # one that was asked for again is paid for twice
        assert 4 <= calls <= 5
        expected = {key: value for key, value in quiet[place].items() if key != "usage"}
        assert loud[place] == expected, loud[place].get("error")


@pytest.mark.slow
def test_a_player_that_hangs_costs_its_own_episode(demo: Path, tmp_path: Path) -> None:
    records = runs_of(c_interact(demo, 4), "foreign_agents:Neighbour:hang", tmp_path, move_timeout=1.0)
    assert [record["status"] for record in records] == ["completed", "completed", "time limit", "completed"]
    hung = records.pop(2)
    assert hung["error"] == "the agent did not move within 1 seconds"
    assert hung["example"]["events"][-1]["data"] == "time limit"
    assert hung["usage"] == {"calls": 3}
    assert all(record["usage"]["calls"] >= 4 for record in records)


def runs_of(arena: Any, agent: str, folder: Path, **more: Any) -> list[dict[str, Any]]:
    """The public records, without the name of the agent."""
    records = list(play(arena, agent, folder, parallel=4, **more).read("runs").values())
    for record in records:
        record["example"].pop("agents")
    return records


@pytest.mark.slow
def test_a_child_that_ends_while_nobody_moves_costs_nothing(demo: Path, tmp_path: Path) -> None:
    directory = play(bird(demo, 4), "foreign_agents:Background", tmp_path)
    assert {record["status"] for record in directory.read("runs").values()} == {"completed"}


def test_players_that_cannot_be_made_take_no_room(demo: Path, tmp_path: Path, notes: Path) -> None:
    arena = bird(demo, 12)
    directory = play(arena, "foreign_agents:Refusing", tmp_path / "runs")
    assert [record["status"] for record in directory.read("runs").values()] == ["completed"] + [
        "task error"
    ] * 11
    assert len({process for process, _ in noted(notes)}) == 1


@pytest.mark.slow
def test_room_for_one_makes_a_child_for_each(
    demo: Path, tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player_process, "MOST_SESSIONS", 1)
    play(bird(demo, 3), "foreign_agents:Noting", tmp_path / "runs", parallel=3)
    assert len({process for process, _ in noted(notes)}) == 3
