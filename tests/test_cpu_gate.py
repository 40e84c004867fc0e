"""A test that costs much and bears no mark fails the run, and the summary names it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CASES = """
import subprocess, sys, time
import pytest

WORK = "import time\\nend = time.process_time() + 0.1\\nwhile time.process_time() < end: pass"
SERVER = f"input()\\n{WORK}\\nprint('done', flush=True)\\ninput()"

def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def test_that_sleeps():
    time.sleep(0.3)

def test_that_works():
    work(0.1)

def test_whose_child_works():
    subprocess.run([sys.executable, "-I", "-S", "-c", WORK], check=True)

@pytest.fixture
def prepared():
    work(0.05)
    yield
    work(0.05)

def test_whose_fixture_works(prepared):
    pass

@pytest.mark.slow
def test_with_a_mark():
    work(0.1)

@pytest.fixture(scope="module")
def part():
    work(0.05)

@pytest.fixture(scope="module")
def shared(part):
    work(0.05)
    yield
    work(0.1)

def test_that_is_first_to_need_what_is_shared(shared):
    pass

@pytest.fixture(scope="module")
def server():
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

def test_that_has_a_server_work(server):
    print(file=server.stdin, flush=True)
    assert server.stdout.readline() == "done\\n"

def test_that_ends_the_server(server):
    server.communicate("\\n")

def test_that_comes_last(shared):
    pass
"""
EXPENSIVE = {"test_that_works", "test_whose_child_works", "test_whose_fixture_works"}
WITH_PROC = {"test_that_has_a_server_work"} if Path("/proc/self/task").is_dir() else set()


def ran(folder: Path, *options: str) -> tuple[int, str]:
    """A run of the cases, of which none may use more than 0.05 s, and the noise."""
    folder.joinpath("test_cases.py").write_text(CASES)
    folder.joinpath("pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    plugins = ("-p", "xdist", "-p", "cpu_gate", "-p", "no:cacheprovider")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "--most-cpu", "0.05", *options, str(folder)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    return run.returncode, run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["0", "1", "2"])
def test_what_costs_much_without_a_mark_fails_the_run(tmp_path: Path, processes: str) -> None:
    code, told = ran(tmp_path, "-n", processes, "--dist", "loadfile")
    assert code == pytest.ExitCode.TESTS_FAILED
    assert "9 passed" in told
    _, _, over = told.partition("too much processor time")
    assert set(re.findall(r" s  \S+::(\w+)", over)) == EXPENSIVE | WITH_PROC
    assert "A test may use 0.05 s" in over


def test_a_run_of_cheap_tests_is_good(tmp_path: Path) -> None:
    code, told = ran(tmp_path, "-n", "0", "-k", "sleeps or mark", "--slowest-cpu", "1")
    assert code == pytest.ExitCode.OK, told
    assert "too much" not in told
    [line] = [line for line in told.splitlines() if " s  " in line]
    assert line.endswith("::test_with_a_mark")
