"""The line formats of end-to-end-negotiator: one dialogue from two lines, and what is none."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birdenv.cocoa.acts import Transcripts
from birdenv.cocoa.files import read_examples
from birdenv.dialogue.games import find_game
from birdenv.errors import InputError

Command = Callable[..., Any]
FIRST = "1 2 2 4 3 0 YOU: may i have the hats ? <eos> THEM: fine <eos> YOU: <selection> "
SECOND = "1 4 2 3 3 0 THEM: may i have the hats ? <eos> YOU: fine <eos> THEM: <selection> "
AGREED = [
    FIRST + "item0=0 item1=2 item2=3 <eos> reward=8 agree 1 4 2 3 3 0",
    SECOND + "item0=1 item1=0 item2=0 <eos> reward=4 agree 1 2 2 4 3 0",
]
TAGGED = (
    "<input> 1 4 2 3 3 0 </input> <dialogue> THEM: may i have the hats ? <eos> YOU: fine <eos> "
    "THEM: <selection> </dialogue> <output> {} </output> <partner_input> 1 2 2 4 3 0 </partner_input>"
)
TOLD = TAGGED.format("item0=1 item1=0 item2=0 item0=0 item1=2 item2=3")


def read(tmp_path: Path, *lines: str, name: str = "some.txt") -> list[Any]:
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    return read_examples(path)


def ends(example: Any) -> list[tuple[int, str, Any]]:
    return [(each.agent, each.action, each.data) for each in example.events if each.action != "message"]


@pytest.mark.parametrize(
    "lines", [AGREED, AGREED[::-1], [TOLD], [*AGREED, TOLD]], ids=["both", "turned", "tags", "all"]
)
def test_one_dialogue_is_read_from_either_seats_line_in_either_format(
    tmp_path: Path, lines: list[str]
) -> None:
    (example,) = read(tmp_path, *lines)
    assert [(each.agent, each.data) for each in example.events[:2]] == [
        (0, "may i have the hats ?"),
        (1, "fine"),
    ]
    assert ends(example) == [
        (0, "select", {"book": 0, "hat": 2, "ball": 3}),
        (1, "select", {"book": 1, "hat": 0, "ball": 0}),
    ]
    kinds = [[tuple(kind.values()) for kind in kb] for kb in example.scenario.kbs]
    assert kinds == [
        [("book", 1, 2), ("hat", 2, 4), ("ball", 3, 0)],
        [("book", 1, 4), ("hat", 2, 3), ("ball", 3, 0)],
    ]
    assert example.outcome["valid_deal"] and example.outcome["reward"] == {"0": 8, "1": 4}
    assert example.uuid == read(tmp_path, TOLD)[0].uuid
    with Transcripts(find_game("deal-or-no-deal"), [example]) as transcripts:
        assert [turn.move.action for turn in transcripts.turns(0)] == [
            "message",
            "message",
            "select",
            "select",
        ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (FIRST + "no agreement <eos> reward=no agreement agree 1 4 2 3 3 0", [(0, "quit", None)]),
        (TAGGED.format(" ".join(["<no_agreement>"] * 6)), [(1, "quit", None)]),
        (FIRST + "disconnect <eos> reward=disconnect agree 1 4 2 3 3 0", []),
        (TAGGED.format(" ".join(["<disagree>"] * 6)), []),
        (AGREED[1], [(1, "select", {"book": 1, "hat": 0, "ball": 0})]),
    ],
    ids=["no agreement", "no agreement, tags", "disconnect", "disagree", "one line only"],
)
def test_what_a_line_does_not_tell_is_missing(
    tmp_path: Path, line: str, expected: list[tuple[int, str, Any]]
) -> None:
    (example,) = read(tmp_path, line)
    assert ends(example) == expected and len(example.events) == 2 + len(expected)
    assert not example.outcome["valid_deal"] and set(example.outcome["reward"].values()) == {0}


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        AGREED[0].replace("1 2 2", "1 2", 1),
        AGREED[0].replace("YOU:", "HIM:", 1),
        TOLD[:-1],
        "1 " * 5000,
    ],
)
def test_a_line_of_no_such_format_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match=r"some\.txt: line 2 is not a DealOrNoDeal dialogue"):
        read(tmp_path, AGREED[0], line)


def test_compressed_files_are_read_and_torn_ones_are_told(tmp_path: Path) -> None:
    path = tmp_path / "data.txt.gz"
    data = gzip.compress("\n".join(AGREED).encode())
    path.write_bytes(data)
    assert len(read_examples(path)) == 1
    for torn in (data[:-9], b"no archive", b""):
        path.write_bytes(torn)
        with pytest.raises(InputError, match=r"data\.txt\.gz"):
            read_examples(path)


def test_a_text_file_may_hold_json(tmp_path: Path) -> None:
    written = json.dumps([each.to_json() for each in read(tmp_path, *AGREED)])
    assert [each.uuid for each in read(tmp_path, written)] == [each.uuid for each in read(tmp_path, *AGREED)]


def test_analyze_export_and_training_take_the_lines(tmp_path: Path, birdenv: Command) -> None:
    path = tmp_path / "data.txt"
    others = [line.replace("may i", "could i") for line in AGREED]
    path.write_text("\n".join([*AGREED, *others]))
    (tmp_path / "test.txt").write_text(TOLD)
    ran = birdenv("analyze", path, "--json")
    assert ran.code == 0 and json.loads(ran.out)["dialogues"] == 2, ran
    train = (
        "train-player",
        "deal-or-no-deal",
        "--held-out-share",
        0,
        "-o",
        tmp_path / "p.json",
        "--data",
        path,
    )
    ran = birdenv(*train, "--without", tmp_path / "test.txt")
    assert ran.code == 0 and "Trained on 1 dialogues" in ran.out, ran
    ran = birdenv(*train, "--without", path)
    assert ran.code == 2 and "no dialogues are left to train on" in ran.err, ran


@pytest.mark.real_tasks
def test_nothing_of_the_test_data_is_left_in_the_training_data(shared_data: Path) -> None:
    """The lines themselves are compared, and dialogues as lines of either seat."""
    folder = shared_data / "cocoa/dealornodeal/negotiate"
    names = ("data", "val", "test")
    lines = {
        name: gzip.decompress((folder / f"{name}.txt.gz").read_bytes()).decode().split("\n") for name in names
    }
    held = {example.uuid for name in ("val", "test") for example in read_examples(folder / f"{name}.txt.gz")}
    examples = read_examples(folder / "data.txt.gz")
    left = [example for example in examples if example.uuid not in held]
    assert len(examples) == 6318 and len(held) == 562 + 545 and len(left) == 6318 - 1107

    def views(example: Any) -> set[str]:
        made = set()
        for seat in (0, 1):
            talk = "".join(
                f"{'YOU' if each.agent == seat else 'THEM'}: {each.data} <eos> "
                for each in example.events
                if each.action == "message"
            )
            known = " ".join(f"{kind['Count']} {kind['Value']}" for kind in example.scenario.kbs[seat])
            made.add(f"{known} {talk}")
        return made

    of_left = set().union(*map(views, left))
    seen = [line.partition("YOU: <selection>")[0].partition("THEM: <selection>")[0] for line in lines["data"]]
    assert sum(talk in of_left for talk in seen) == 12_234 - 1_087 - 1_052
    for name in ("val", "test"):
        for line in filter(None, lines[name]):
            known = line.partition("<input> ")[2].partition(" </input>")[0]
            talk = (
                line.partition("<dialogue> ")[2]
                .partition("YOU: <selection>")[0]
                .partition("THEM: <selection>")[0]
            )
            assert f"{known} {talk}" not in of_left
