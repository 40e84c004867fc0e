"""Training on the candidate setting: rules, intervals, a short training and its report."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from birdenv_baselines.__main__ import _trainings
from birdenv_baselines.training import RULES, Played, Split, family_of, interval, play, tuned_rule
from birdenv_baselines.training._benchmark import HELD_OUT
from birdenv_baselines.training._compare import Compared, _best_returns, joined, trained_lines
from birdenv_baselines.training._learning_curves import Curves, _means, draw_curves
from birdenv_baselines.training._policies import guess
from birdenv_baselines.training._probe import probe

from birdenv.benchmarks.generator import generate
from birdenv.envs.candidates import CInteractCandidatesVectorEnv
from birdenv.errors import InputError

NEEDS_TORCH = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None or importlib.util.find_spec("sb3_contrib") is None,
    reason="torch or sb3_contrib is not installed: the extra `rl`",
)


def test_a_family_is_the_id_without_the_meaning() -> None:
    assert family_of("coop_0012_3") == family_of("coop_0012_0_new") == "coop_0012"
    assert family_of("library_M_0001_1") == "library_M_0001"
    assert [family_of(name) for name in ("coop_12", "coop_M_1")] == ["coop_12", "coop_M_1"]  # no families


def test_what_a_guess_is_worth() -> None:
    assert guess(np.array([1.0, 2.0, 8.0])).tolist() == pytest.approx([1.0, 0.9, 0.225])


def test_an_interval_counts_families_and_not_episodes() -> None:
    rng = np.random.default_rng(0)
    by_family = rng.normal(size=20)
    families = np.repeat(np.array([f"f{i}" for i in range(20)], dtype=object), 50)
    low, high = interval(np.repeat(by_family, 50), families)
    spread = 4 * by_family.std() / np.sqrt(20)
    assert 0.8 * spread < high - low < 1.2 * spread  # 1.96 standard errors of 20 families, each way
    assert low < by_family.mean() < high
    apart = interval(np.stack([np.repeat(by_family, 50), np.repeat(by_family, 50) + 5.0]), families)
    assert apart[1] - apart[0] > 2.0  # two seeds that differ widen it


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("families") / "made"
    generate(folder, tasks=40, seed=1)
    return folder


@pytest.fixture(scope="module")
def few_families(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("few") / "made"
    generate(folder, tasks=9, seed=11)
    return folder


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.mark.slow
def test_before_any_question_nothing_tells_which_meaning_is_played(few_families: Path) -> None:
    split = Split(few_families, "coop")
    seen, unseen = split.train_envs(64), split.test_envs(64)
    families: dict[str, list[int]] = {}
    for task, name in enumerate(seen.instance_ids):
        families.setdefault(family_of(name), []).append(task)
    assert max(map(len, families.values())) > 1
    for tasks in families.values():
        for shown in (
            seen._episodes.tables.spans,
            seen._episodes.tables.candidates,
            seen._episodes.tables.readable,
        ):
            assert (shown[tasks] == shown[tasks[0]]).all()
    for shuffled in (False, True):
        found = probe(seen, unseen, shuffled=shuffled)
        assert abs(found.right - found.chance) < 0.1
    found = probe(seen, unseen, answered=True)
    assert found.right > found.chance + 0.3


def test_the_optimum_of_a_test_takes_the_tables_of_its_episodes(
    few_families: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = Split(few_families, "coop", refusals=0.3)
    envs = split.test_envs(8)
    played = play(envs, RULES["privileged"](), rounds=2)
    monkeypatch.setattr(
        "birdenv.envs.candidates._tables.compile_tables", lambda *_: pytest.fail("compiled again")
    )
    best = _best_returns(split, HELD_OUT, played)
    assert best is not None and len(best) == 16 and (best > 0.3).all() and (best <= 1.0).all()


def test_comparisons_are_joined_where_they_have_the_same_trainings() -> None:
    def played(database: str, returns: float) -> Played:
        tasks = np.array([f"{database}_0001_0", f"{database}_0002_0"], dtype=object)
        return Played(tasks, np.full(2, 0.1), np.full(2, returns), np.ones(2))

    def part(database: str, never: float, seeds: int) -> Compared:
        fixed = {"never-asks": played(database, never), "privileged": played(database, 0.9)}
        trained = {"ppo": [played(database, 0.8)] * seeds}
        return Compared(fixed, trained, np.full(2, 1.0))

    one, other = part("coop", 0.5, 2), part("library", 0.7, 2)
    together = joined([one, other])
    assert together is not None and together.rival == "never-asks"
    (line,) = trained_lines(together)
    assert (line.seeds, line.earned, line.share) == (2, pytest.approx(0.8), pytest.approx(0.8))
    assert line.gain is not None and line.gain[0] == pytest.approx(0.2)
    assert joined([one, part("library", 0.7, 1)]) is None and joined([one]) is None


def test_a_picture_has_what_trainings_earned_on_held_out_tasks(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")

    def played(returns: float) -> Played:
        return Played(
            np.array(["coop_0001_0"], dtype=object), np.full(1, 0.1), np.full(1, returns), np.ones(1)
        )

    compared = Compared({"never-asks": played(0.5), "asks-first": played(0.7)}, {}, np.full(1, 0.9))
    trainings = [("ppo", tmp_path / name) for name in ("one", "two", "other")]
    assert not draw_curves({"coop": Curves(trainings, compared)}, tmp_path)  # nothing was played yet
    for number, (_, folder) in enumerate(trainings[:2]):
        folder.mkdir()
        rows = [(steps, 0.1 * number + steps / 100) for steps in (10, 20, 30 + number)]
        (folder / "held_out_curve.csv").write_text("steps,return\n" + "".join(f"{a},{b}\n" for a, b in rows))
    found = _means(trainings)["ppo"]
    assert (found.seeds, found.steps) == (2, [10, 20])
    assert np.allclose([found.lowest, found.mean, found.highest], [[0.1, 0.2], [0.15, 0.25], [0.2, 0.3]])
    assert draw_curves({"coop": Curves(trainings, compared)}, tmp_path)
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_order_of_policies_without_learning(families: Path) -> None:
    split = Split(families, "coop")
    assert not {name for name in split.training if name.startswith("coop")}
    envs = split.test_envs(64)
    assert {family_of(name).split("_")[0] for name in envs.instance_ids} == {"coop"}
    earned = {name: play(envs, make()).returns.mean() for name, make in RULES.items()}
    assert earned["privileged"] > max(earned["never-asks"], earned["asks-unknown-words"])
    assert earned["random"] < min(earned["asks-everything"], earned["asks-first"])
    _, rule = tuned_rule(split.train_envs(64))
    played = play(envs, rule)
    again = play(envs, rule)
    assert np.array_equal(played.tasks, again.tasks) and np.array_equal(played.returns, again.returns)
    other = play(envs, RULES["random"]())
    assert np.array_equal(played.tasks, other.tasks) and np.array_equal(played.prices, other.prices)
    assert len(Split(families, "coop", train_tasks=20).training) <= 20
    with pytest.raises(InputError, match="cannot be held out"):
        Split(families, "zoo")


def _command(*arguments: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "birdenv_baselines", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@NEEDS_TORCH
@pytest.mark.slow
def test_train_evaluate_report_in_three_commands(families: Path, tmp_path: Path) -> None:
    output = ("-o", tmp_path)
    training = ("train", "--data", families, "--seed", 0, *output)
    done = _command(*training, "--steps", 40_000)
    assert done.returncode == 0, done.stderr
    told = re.findall(r"^([\d,]+) of 40,000 steps: mean return (-?0\.\d+)$", done.stdout, re.MULTILINE)
    assert len(told) >= 4 and float(told[-1][1]) > float(told[0][1]) + 0.2
    folder = tmp_path / "maskable-ppo-coop-seed0"
    assert {"config.json", "model.zip", "curve.csv"} <= {path.name for path in folder.iterdir()}
    curve = [float(line.split(",")[1]) for line in (folder / "curve.csv").read_text().splitlines()[1:]]
    assert np.mean(curve[-3:]) > np.mean(curve[:3]) + 0.2  # it learns
    refused = _command(*training, "--steps", 40_000)
    assert refused.returncode == 2 and "--resume" in refused.stderr
    resumed = _command(*training, "--steps", 50_000, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    steps = [int(line.split(",")[0]) for line in (folder / "curve.csv").read_text().splitlines()[1:]]
    assert steps == sorted(steps) and steps[-1] > 45_000
    held_out = [line.split(",") for line in (folder / "held_out_curve.csv").read_text().splitlines()[1:]]
    assert int(held_out[-1][0]) >= steps[-1] and float(held_out[-1][1]) > float(held_out[0][1])
    evaluated = _command("evaluate", *output)
    assert evaluated.returncode == 0, evaluated.stderr
    done = _command("report", *output)
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "report.md").read_text()
    for policy in (*RULES, "value-of-information", "maskable-ppo", "optimum"):
        assert f"| {policy}" in report
    for test in ("held out", "new forms", "demo"):
        assert f"| all tasks | {test} | coop | maskable-ppo, 1 seed |" in report
    assert "shuffled labels" in report
    measured = _command("evaluate", "--policy", folder / "model.zip", "--data", families)
    assert measured.returncode == 0, measured.stderr
    tables = re.findall(r"\*\*coop, (.+)\*\*(?:\n.*)+?\n\| model, 1 seed \| (\S+)", measured.stdout)
    assert len(tables) == 3
    for test, mean in tables:
        assert f"coop-seed0, {test}: return {mean} " in evaluated.stdout
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert (
        f"{folder.name},held out,{held_out[-1][0]},{float(held_out[-1][1])}"
        in (tmp_path / "curves.csv").read_text().splitlines()
    )


@NEEDS_TORCH
@pytest.mark.slow
@pytest.mark.parametrize("algo", ["ppo", "dqn"])
def test_the_other_algorithms_run(families: Path, tmp_path: Path, algo: str) -> None:
    output = ("-o", tmp_path)
    done = _command("train", "--algo", algo, "--data", families, "--steps", 12_000, *output)
    assert done.returncode == 0, done.stderr
    done = _command("evaluate", *output)
    assert done.returncode == 0 and f"{algo}-coop-seed0, new forms: return" in done.stdout, done.stderr


@NEEDS_TORCH
@pytest.mark.slow
def test_a_policy_that_cannot_be_measured_is_told(few_families: Path, tmp_path: Path) -> None:
    from sb3_contrib import MaskablePPO
    from stable_baselines3 import PPO

    from birdenv.envs.sb3 import CandidatesVecEnv

    split = Split(few_families, "coop")
    envs = CandidatesVecEnv(split.train_envs(2))
    PPO("MultiInputPolicy", envs).save(tmp_path / "ppo.zip")
    narrow = CandidatesVecEnv(CInteractCandidatesVectorEnv(2, max_spans=8, instances=["coop_1"]))
    MaskablePPO("MultiInputPolicy", narrow).save(tmp_path / "narrow.zip")
    (tmp_path / "text.zip").write_text("no zip")
    for file, why in {
        "ppo.zip": "is not a model of maskable-ppo",
        "text.zip": "is not a model of maskable-ppo",
        "absent.zip": "does not exist",
        "narrow.zip": "different observations or actions",
    }.items():
        refused = _command("evaluate", "--policy", tmp_path / file, "--data", few_families)
        assert refused.returncode == 2 and why in refused.stderr and refused.stderr.count("\n") == 1


def test_without_trainings_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no training below"):
        _trainings(None, tmp_path)
