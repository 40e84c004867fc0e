"""The neural player: training, its file, what it may say, reinforcement, and the figures of its words."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from math import exp
from pathlib import Path
from random import Random
from typing import Any

import pytest

from birdenv.cocoa.acts import Transcripts
from birdenv.cocoa.acts._tokens import DialogueTokens
from birdenv.cocoa.files import read_examples
from birdenv.dialogue import Dialogue, Move, make_game, play
from birdenv.dialogue.games import find_game
from birdenv.errors import InputError

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")
from birdenv_agents.neural import _train, neural, reinforce, train  # noqa: E402 (needs torch)
from birdenv_agents.neural._network import Network, Settings, read_network, write_network  # noqa: E402
from birdenv_agents.neural._player import NeuralPlayer  # noqa: E402

Command = Callable[..., Any]
GAMES = {
    "deal-or-no-deal": ("agent_0", "agent_1"),
    "bargain": ("buyer", "seller"),
    "mutual-friends": ("agent_0", "agent_1"),
}
DEAL = "deal-or-no-deal"


@pytest.fixture(scope="module", autouse=True)
def short() -> Iterator[None]:
    """Make training short; the network learns little."""
    torch.optim.Adam(
        [torch.ones(1, requires_grad=True)]
    )  # imports half of torch, which should not count as time of a test
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_train, "_PASSES", (2, 2))
        yield


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory, short: None) -> Callable[[str], Path]:
    """The file of a player of a game, trained once."""
    return cache(lambda game: trained(game, tmp_path_factory.mktemp("player")))


def dialogues(game: str, folder: Path, count: int = 3) -> Path:
    """Write dialogues of the rule-based player with itself."""
    path = folder / f"{game}.json"
    with make_game(game, limit=count, **dict.fromkeys(GAMES[game], "rulebased")) as arena:
        rows = []
        for place, instance_id in enumerate(arena.ids):
            dialogue = arena.start(instance_id)
            play(dialogue, arena.seat_players(dialogue, instance_id), first=place % 2)
            scenario = arena._tasks.scenario(instance_id)
            events = [each.to_json() for each in dialogue.events]
            rows.append(
                {"uuid": f"E{place}", "scenario_uuid": instance_id, "scenario": scenario, "events": events}
            )
    path.write_text(json.dumps(rows))
    return path


def trained(game: str, folder: Path, name: str = "player", seed: int = 0, **options: Any) -> Path:
    examples = read_examples(dialogues(game, folder))
    with Transcripts(find_game(game), examples) as transcripts:
        train(transcripts, folder / name, seed, lambda share: None, **options)
    return folder / name


def held(game: str, player: Any, count: int = 1, first: int = 0, **settings: Any) -> list[Dialogue]:
    found = []
    with make_game(game, limit=count, **dict.fromkeys(GAMES[game], player), **settings) as arena:
        for instance_id in arena.ids:
            dialogue = arena.start(instance_id)
            play(dialogue, arena.seat_players(dialogue, instance_id, seed=1), first=first)
            found.append(dialogue)
    return found


def log(found: list[Dialogue]) -> str:
    return json.dumps([[each.to_json() for each in dialogue.events] for dialogue in found])


@pytest.mark.every(3)
@pytest.mark.parametrize("game", GAMES)
def test_whatever_it_has_learned_its_moves_are_possible(game: str, player: Callable[[str], Path]) -> None:
    """A network of two passes says nonsense, so only the slots keep its moves legal."""
    path = player(game)
    found = held(game, f"neural:temperature=3:{path}", max_events=8)
    events = [event for dialogue in found for event in dialogue.events]
    assert events and not any((event.metadata or {}).get("refused") for event in events)
    assert log(held(game, f"neural:temperature=3:{path}", max_events=8)) == log(found)
    assert log(held(game, f"neural:{path}", max_events=8)) != log(found)
    greedy = held(game, f"neural:greedy:{path}", max_events=8)
    assert log(greedy) == log(held(game, f"neural:temperature=0:{path}", max_events=8))


@pytest.mark.slow
def test_numbers_are_those_of_the_scenario(player: Callable[[str], Path]) -> None:
    for dialogue in held(DEAL, f"neural:temperature=9:{player(DEAL)}", count=4, max_events=30):
        counts = {each["Name"]: each["Count"] for each in dialogue.rules.kbs[0]}
        values = [{each["Value"] for each in kb} for kb in dialogue.rules.kbs]
        for event in dialogue.events:
            if event.action == "select":
                assert all(taken <= counts[thing] for thing, taken in event.data.items())
            elif event.action == "message":
                numbers = {int(word) for word in event.data.split() if word.isdecimal()}
                assert all(n <= max(counts.values()) or n in values[event.agent] for n in numbers)


@pytest.mark.slow
def test_both_seats_read_the_same_share_off_a_dialogue(player: Callable[[str], Path]) -> None:
    """Whatever was said, one seat takes what the other leaves."""
    agreed = 0
    for dialogue in held(DEAL, f"neural:temperature=2:{player(DEAL)}", count=4, max_events=24):
        split = dialogue.outcome()["item_split"]
        assert dialogue.outcome()["valid_deal"] == (None not in split)
        agreed += None not in split
    assert agreed


@pytest.mark.slow
def test_the_same_seed_gives_the_same_file_also_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = trained(DEAL, tmp_path, "whole").read_bytes()
    assert trained(DEAL, tmp_path, "again").read_bytes() == whole
    assert trained(DEAL, tmp_path, "other", seed=1).read_bytes() != whole

    def interrupt(path: Path, data: bytes) -> None:
        written(path, data)
        raise KeyboardInterrupt

    written = _train.write_bytes
    with monkeypatch.context() as patch:
        patch.setattr(_train, "write_bytes", interrupt)
        with pytest.raises(KeyboardInterrupt):
            trained(DEAL, tmp_path, "torn")
    assert not (tmp_path / "torn").exists()
    part = tmp_path / "torn.part"
    kept = part.read_bytes()
    with pytest.raises(
        InputError, match="is incomplete, or was made with different dialogues or a different seed"
    ):
        trained(DEAL, tmp_path, "torn", seed=1, resume=True)
    for bad in (kept[:-100], b"", pickle.dumps(Path, protocol=2)):
        part.write_bytes(bad)
        with pytest.raises(
            InputError, match=r"torn\.part is incomplete, or was made with different dialogues"
        ):
            trained(DEAL, tmp_path, "torn", resume=True)
    part.write_bytes(kept)
    assert trained(DEAL, tmp_path, "torn", resume=True).read_bytes() == whole
    with pytest.raises(InputError, match=r"there is no .*torn\.part to continue from"):
        trained(DEAL, tmp_path, "torn", resume=True)


class Hostile:
    """A pickle that runs code when it is loaded."""

    def __reduce__(self) -> Any:
        return (Path.touch, (Path(sys.argv[0]).parent / "hacked",))


def network(**settings: Any) -> Network:
    return Network(Settings(game=DEAL, words=("hello", "=1", "<select>"), **settings))


def with_settings(path: Path, change: Mapping[str, Any], weights: Mapping[str, Any] | None = None) -> None:
    """Write a network with settings or weights that do not fit it."""
    made = network()
    told = json.dumps(made.settings.model_dump(mode="json") | change)
    path.write_bytes(safetensors.save({**made.state_dict(), **(weights or {})}, {"birdenv_neural": told}))


def test_a_file_that_is_none_is_told_and_runs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "player"
    write_network(path, network())
    assert read_network(path, DEAL).settings.game == DEAL
    good = path.read_bytes()

    def refused(why: str, content: bytes | None = None) -> None:
        if content is not None:
            path.write_bytes(content)
        read_network.__globals__["_read"].cache_clear()
        with pytest.raises(InputError, match=why):
            read_network(path, DEAL)

    for content in (good[:-1], good[:20], b"", b"{}", pickle.dumps(Hostile()), b"\xff" * 64):
        refused(r"is not a neural player \(.*\): train one with birdenv train-player GAME --kind", content)
    torch.save({"weights": torch.ones(1)}, path)
    refused("is not a neural player")
    assert not (Path(sys.argv[0]).parent / "hacked").exists()
    path.unlink()
    refused("cannot be read")
    refused("is not a neural player", safetensors.save({"a": torch.ones(1)}))
    with_settings(path, {"version": 2})
    refused("was written by a newer version of birdenv")
    for change in (
        {"words": ["a"]},
        {"words": [str(number) for number in range(99_000)]},
        {"words": None},
        {"secret": 1},
        {"version": "one"},
    ):
        with_settings(path, change)
        refused("is not a neural player")
    with_settings(path, {}, {"bias": torch.tensor([float("nan")] * 8)})
    refused("a weight is not a finite number")
    with_settings(path, {}, {"reader.bias": torch.zeros(8)})
    refused("is not a neural player")
    with_settings(path, {"game": "bargain"})
    refused("was trained for bargain, not for deal-or-no-deal")


def test_a_player_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    with make_game(DEAL, limit=1) as arena:
        context = arena.context(arena.start(arena.ids[0]), arena.ids[0], 0)
    for argument in ("", "greedy:", "temperature=1:"):
        with pytest.raises(InputError, match="needs a file from birdenv train-player --kind neural"):
            neural(argument, context)
    for number in ("x", "-1", "nan", "1e9"):
        with pytest.raises(InputError, match="needs a file from birdenv"):
            neural(f"temperature={number}:f", context)
    for game in ("bird", "c-interact"):
        with make_game(game) as arena, Transcripts.__new__(Transcripts) as transcripts:
            transcripts.game, transcripts.arena = arena.game, arena
            with pytest.raises(InputError, match="neural plays games in which two seats talk"):
                train(transcripts, tmp_path / "p", 0, lambda share: None)


def test_it_goes_on_after_whatever_the_partner_says(player: Callable[[str], Path]) -> None:
    path = player(DEAL)
    said = [
        "\x00",
        "zyxwv qqq",
        "{own} {thing 9} <select> =3",
        "a" * 65_536,
        "b " * 2_000,
        "9" * 4_000,
        "ſ ı İ",
    ]
    with make_game(DEAL, limit=1, agent_0=None, agent_1=f"neural:{path}") as arena:
        for words in said:
            with arena.episode(arena.ids[0], seat="agent_0") as episode:
                episode.act("message", words)
                episode.act("message", "and now?")
                own = [event for event in episode._dialogue.events if event.agent == 1]
                assert own and not any((event.metadata or {}).get("refused") for event in own)


def test_the_surprise_of_words_is_that_of_the_network(player: Callable[[str], Path], tmp_path: Path) -> None:
    """The perplexity of all moves of a dialogue from both seats is that of one pass through the network."""
    path = player(DEAL)
    examples = read_examples(dialogues(DEAL, tmp_path))[:1]
    found = read_network(path, DEAL)
    with Transcripts(find_game(DEAL), examples) as transcripts, transcripts.dialogue(0) as dialogue:
        turns = transcripts.turns(0)
        contexts = [transcripts.arena.context(dialogue, transcripts.ids[0], seat) for seat in (0, 1)]
        players = [NeuralPlayer(found, context) for context in contexts]
        told = [0, 0]
        for view, move in turns:
            heard, own = players[view.seat].surprise(view, move)
            tokens = DialogueTokens(view, transcripts.game)
            before, made = [*tokens.follow(view), "<own>"], tokens.of(move)
            scores, _ = found(
                found.encode_context(tokens.context())[None], found.encode([*before, *made])[None, :-1]
            )
            chances = scores[0].softmax(-1).tolist()
            expected = [
                row[found.numbers[token]] for row, token in zip(chances, [*before, *made][1:], strict=True)
            ]
            words = [
                each for each, token in zip(expected[-len(made) :], made, strict=True) if token[0] != "="
            ]
            assert [exp(-each) for each in own] == pytest.approx(words, rel=1e-3)
            assert len(own) == (1 if move.action == "select" else len(made))
            since = expected[told[view.seat] : len(before) - 1]
            assert [exp(-each) for each in heard] == pytest.approx(since, rel=1e-3)
            told[view.seat] = len(expected)


@pytest.mark.slow
def test_reinforcement_makes_what_was_rewarded_likelier(
    player: Callable[[str], Path], tmp_path: Path
) -> None:
    start, better = player(DEAL), tmp_path / "better"
    before = start.read_bytes()
    for path in (better, tmp_path / "again"):
        reinforce(find_game(DEAL), start, path, 0, lambda share: None, 8, {"max_events": 6, "limit": 4})
    assert start.read_bytes() == before != better.read_bytes() == (tmp_path / "again").read_bytes()
    first, second = (read_network(path, DEAL) for path in (start, better))
    assert second.settings.trained["reinforced"] == 8 and first.reader is None and second.reader is not None
    weights = second.reader.state_dict()
    assert all(torch.equal(tensor, weights[name]) for name, tensor in first.state_dict().items())
    assert not torch.equal(first.gru.weight_hh_l0, second.gru.weight_hh_l0)

    from birdenv_agents.neural._player import Said
    from birdenv_agents.neural._reinforce import _update

    made, fixed = network(), network()
    numbers = made.encode(["<own>", "hello"]).tolist()
    said = Said(torch.zeros(64, dtype=torch.long), numbers, [torch.ones(len(made.numbers), dtype=torch.bool)])

    def likely() -> float:
        with torch.no_grad():
            scores, _ = made(said.context[None], torch.tensor([numbers[:1]]))
        return float(scores[0, -1].softmax(-1)[numbers[1]])

    for gain in (1.0, -1.0):
        chance = likely()
        fixed.load_state_dict(made.state_dict())
        _update(made, fixed, torch.optim.SGD(made.parameters(), 0.1), [[([said], gain)]])
        assert (likely() - chance) * gain > 0
    fixed.bias.data[numbers[1]] += 2  # what nothing was gained from comes closer to the first self
    chance = likely()
    _update(made, fixed, torch.optim.SGD(made.parameters(), 0.1), [[([said], 0.0)]])
    assert likely() > chance


def test_reinforcement_compares_dialogues_on_the_same_scenario(
    player: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gains are relative to the same seat's other dialogues, and with itself both seats learn."""
    from birdenv_agents.neural import _reinforce

    monkeypatch.setattr(_reinforce, "_REPEATS", 2)
    fixed = read_network(player(DEAL), DEAL)
    learner = deepcopy(fixed)
    with make_game(DEAL, limit=4, max_events=6) as arena:
        groups = _reinforce._play(arena, learner, fixed, range(16), 0)
    assert [len(group) for group in groups] == [2] * (4 + 2 * 4)
    gains = [[gain for _, gain in group] for group in groups]
    assert any(map(any, gains)) and all(sum(each) == pytest.approx(0) for each in gains)
    for each in (each for group in groups for said, _ in group for each in said):
        drawn = each.tokens[len(each.tokens) - len(each.allowed) :]
        assert all(allowed[token] for allowed, token in zip(each.allowed, drawn, strict=True))


def test_the_moves_of_a_dialogue_share_a_row() -> None:
    from birdenv_agents.neural._player import Said
    from birdenv_agents.neural._reinforce import _rows

    first, again, second = (Said(torch.zeros(1), tokens, []) for tokens in ([1, 2], [1, 3], [1, 2, 3]))
    assert _rows([first, second]) == [[second, first]]
    assert _rows([again, second]) == [[second], [again]]


@pytest.mark.slow
def test_the_commands_train_resume_reinforce_and_test(tmp_path: Path, birdenv: Command) -> None:
    data, path, better = dialogues(DEAL, tmp_path), tmp_path / "p.safetensors", tmp_path / "b.safetensors"
    train_it = ("train-player", DEAL, "--kind", "neural")
    ran = birdenv(*train_it, "--data", data, "-o", path)
    assert ran.code == 0 and f"Use the player as neural:{path}" in ran.out and "word perplexity" in ran.out, (
        ran
    )
    ran = birdenv(*train_it, "--reinforce", 4, "--from", path, "-o", better, "--max-events", 6)
    assert ran.code == 0 and f"Use the player as neural:{better}" in ran.out, ran
    both = ("--player", f"neural:{path}", "--player", "rulebased")
    told = tmp_path / "figures.json"
    ran = birdenv("test-player", DEAL, *both, "--data", data, "--selfplay", 2, "--json", told)
    assert f"neural:{path} takes " in ran.err and " ms of CPU time (99th percentile: " in ran.err, ran
    assert ran.code == 0 and "| player | word perplexity | own word perplexity | selection" in ran.out, ran
    (of_neural, of_rules) = json.loads(told.read_text())["players"]
    assert of_neural["moves"]["word_perplexity"]["value"] > 1
    assert of_rules["moves"]["selection_accuracy"]["value"] == 1
    assert of_rules["moves"]["word_perplexity"]["value"] is None
    for arguments, why in (
        ((*train_it, "--data", data, "--resume"), "to continue from: train without --resume"),
        (("train-player", DEAL, "--data", data, "--resume"), "--kind learned trains in one step"),
        ((*train_it, "--reinforce", 4), "only work together: specify both"),
        ((*train_it, "--from", path), "only work together: specify both"),
        (
            ("train-player", DEAL, "--reinforce", 4, "--from", path),
            "--kind 'learned' is unknown; choose from neural",
        ),
        ((*train_it, "--reinforce", 4, "--from", data), "is not a neural player"),
        (
            ("train-player", "bargain", "--kind", "neural", "--reinforce", 4, "--from", path),
            "was trained for deal",
        ),
    ):
        ran = birdenv(*arguments, *(("-o", tmp_path / "no") if arguments[0] == "train-player" else ()))
        assert ran.code == 2 and why in ran.err, ran


def test_it_partners_environments(player: Callable[[str], Path]) -> None:
    from birdenv.cocoa import deal_or_no_deal_v0

    path = player(DEAL)
    env = deal_or_no_deal_v0.env(limit=1, agent_1=f"neural:{path}")
    env.reset(seed=0)
    assert env.agents
    env.close()


def test_without_torch_one_line_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from birdenv.cli import main\n"
        "sys.argv[1:] = ['play', 'deal-or-no-deal', '--agent', 'neural:f']\n"
        "main()"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    (line,) = ran.stderr.strip().splitlines()
    assert ran.returncode == 2 and "pip install 'birdenv[neural]'" in line


def test_nothing_else_imports_it() -> None:
    modules = "sys, birdenv.cli, birdenv.cocoa.commands.train_player, birdenv.studies, birdenv_agents.learned"
    code = f"import {modules}; print('torch' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True
    )
    assert ran.stdout.strip() == "False"


def test_a_draw_follows_the_seats_random_stream(player: Callable[[str], Path]) -> None:
    path = player(DEAL)
    with make_game(DEAL, limit=1) as arena:
        dialogue = arena.start(arena.ids[0])
        made: list[Move | None] = []
        for seed in (1, 1, 2, 3, 4):
            context = arena.context(dialogue, arena.ids[0], 0, seed=seed)
            torch.manual_seed(Random().randrange(2**30))
            made.append(neural(f"temperature=2:{path}", context).move(dialogue.view(0)))
    assert made[0] == made[1] and len({str(each) for each in made}) > 1
