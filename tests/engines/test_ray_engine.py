"""The engine `ray` on a local cluster of two nodes; skipped where Ray is not installed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_servers import KEY
from test_engines import CALLS, check_ended, contents, play

from birdenv import make_game
from birdenv.llm import ModelSettings
from birdenv.testing.openai_server import Server

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
QUIET = {"RAY_worker_niceness": "0", "RAY_USAGE_STATS_ENABLED": "0"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one processor each, in processes of this machine; workers can import the agents here."""
    os.environ.update(QUIET)
    os.environ["PYTHONPATH"] = str(HERE)
    ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
    from ray.cluster_utils import Cluster

    options = {"num_cpus": 1, "object_store_memory": 100_000_000, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=options)
    made.add_node(num_cpus=1, object_store_memory=100_000_000)
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


def on(cluster: Any, folder: Path, *arguments: Any, **more: Any) -> Any:
    return play(folder, "ray", *arguments, address=cluster.address, **({"parallel": 4} | more))


@pytest.mark.parametrize(
    ("game", "agent"),
    [
        ("bird", "random"),
        ("c-interact", "asks-first"),
        ("a-interact", "never-asks"),
        ("mutual-friends", "rulebased"),
        ("bird", "deadly_agents:First"),
    ],
)
def test_ray_gives_the_bytes_of_threads(cluster: Any, tmp_path: Path, game: str, agent: str) -> None:
    there = on(cluster, tmp_path / "there", agent, game, limit=6)
    here = play(tmp_path / "here", "threads", agent, game, limit=6)
    assert contents(here) == contents(there)
    config = json.loads((there.folder / "config.json").read_text())
    assert (config["run_engine"], config["workers"]) == ("ray", 2)
    timings = [json.loads(line) for line in (there.folder / "timings.jsonl").open()]
    assert len({each["worker"] for each in timings}) == 2 and all(each["host"] for each in timings)


def test_language_models_on_ray(cluster: Any, demo_server: Server, tmp_path: Path) -> None:
    models = ModelSettings(base_url=demo_server.url, key_variable="OPENAI_API_KEY")
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY={KEY}\n")
    there = on(cluster, tmp_path / "there", "llm:scripted", "c-interact", models=models)
    here = play(tmp_path / "here", "threads", "llm:scripted", "c-interact", models=models)
    assert contents(here, CALLS) == contents(there, CALLS)
    assert {request.headers["authorization"] for request in demo_server.requests} == {f"Bearer {KEY}"}


def test_a_killed_actor_changes_no_byte(cluster: Any, tmp_path: Path) -> None:
    agent = f"deadly_agents:Once:{tmp_path / 'mark'}"
    killed = on(cluster, tmp_path / "killed", agent)
    assert (tmp_path / "mark").exists()
    assert contents(killed) == contents(play(tmp_path / "whole", "threads", agent))


def test_a_poisoned_episode_costs_itself_only(cluster: Any, tmp_path: Path) -> None:
    poisoned = sorted(make_game("bird", limit=6).ids)[1]
    records = on(cluster, tmp_path, f"deadly_agents:Poison:{poisoned}", limit=6).records
    assert [r["instance_id"] for r in records if r["status"] == "infra_error"] == [poisoned]
    assert sum(r["status"] == "completed" for r in records) == 5


def test_a_killed_node_changes_no_byte(cluster: Any, tmp_path: Path) -> None:
    extra = cluster.add_node(num_cpus=1, object_store_memory=100_000_000)
    cluster.wait_for_nodes()
    whole = play(tmp_path / "whole", "threads", "deadly_agents:Slow", limit=12)

    def kill(record: Any) -> None:
        if not killed:
            killed.append(record)
            os.kill(extra.all_processes["raylet"][0].process.pid, signal.SIGKILL)

    killed: list[Any] = []
    found = on(cluster, tmp_path / "killed", "deadly_agents:Slow", limit=12, parallel=6, progress=kill)
    assert killed and contents(found) == contents(whole)
    cluster.remove_node(extra, allow_graceful=False)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a small disk")
def test_a_node_whose_disk_is_full_changes_no_byte(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.decode()}")
    try:
        with pytest.raises(OSError, match="No space left"):
            (disk / "file").write_bytes(bytes(2_000_000))
        with monkeypatch.context() as environment:
            for name in ("TMPDIR", "XDG_CACHE_HOME", "BIRDENV_SCRATCH"):
                environment.setenv(name, str(disk))
            extra = cluster.add_node(num_cpus=1, object_store_memory=100_000_000)
        cluster.wait_for_nodes()
        there = on(cluster, tmp_path / "there", "oracle", "c-interact", limit=None, parallel=6)
        here = play(tmp_path / "here", "threads", "oracle", "c-interact", limit=None)
        assert contents(here) == contents(there)
        assert json.loads((there.folder / "config.json").read_text())["workers"] == 3
        cluster.remove_node(extra)
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_leaves_nothing_and_goes_on_elsewhere(
    cluster: Any, tmp_path: Path, birdenv: Any, kill: signal.Signals
) -> None:
    check_ended(tmp_path, birdenv, kill, "--engine", "ray", "--address", cluster.address)


def refused(address: str, tmp_path: Path, before: str = "") -> str:
    """Return what a run says to an address, in a process that has no cluster."""
    program = before + (
        "import birdenv, sys\n"
        "try: birdenv.run_episodes('bird', 'random', limit=1, engine='ray', address=sys.argv[1])\n"
        "except birdenv.InputError as error: print('InputError:', error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, address], capture_output=True, text=True, cwd=tmp_path, timeout=300
    )
    return done.stdout + done.stderr


def test_an_address_where_nothing_listens(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    assert "InputError: cannot use a Ray cluster at 127.0.0.1:9: " in refused("127.0.0.1:9", tmp_path)


def test_without_ray_the_extra_is_named(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['ray'] = None\n"
        "import birdenv\n"
        "birdenv.run_episodes('bird', 'random', limit=1, engine='ray')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert "requires the `ray` extra" in done.stderr


def test_a_cluster_of_another_version(cluster: Any, tmp_path: Path) -> None:
    said = refused(cluster.address, tmp_path, "import ray; ray.__version__ = '1.2.3'\n")
    assert f"InputError: cannot use a Ray cluster at {cluster.address}: Version mismatch" in said


BLOCKING = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name == "birdenv" and any("default_worker" in word for word in sys.orig_argv):
            raise ModuleNotFoundError("No module named 'birdenv'", name="birdenv")
sys.meta_path.insert(0, Block())
"""


def test_a_worker_without_birdenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    (tmp_path / "sitecustomize.py").write_text(BLOCKING)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    said = refused("local", tmp_path)
    assert "InputError: cannot create a Ray actor: " in said and "No module named 'birdenv'" in said
