"""A child process: what it sees, what talking with it gives, and that nothing of it is ever left behind."""

from __future__ import annotations

import gc
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birdenv.errors import InputError
from birdenv.processes._child import set_limit
from birdenv.processes._process import Process, Sees, WorkerCrashError

Ends = Callable[[int], bool]
SOON = 20.0


def ask(process: Process, order: str, value: Any = None, seconds: float = SOON) -> Any:
    deadline = time.monotonic() + seconds
    process.send_json([order, value], deadline)
    return process.receive_json(1000_000, deadline)


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_it_answers(process: Process) -> None:
    assert ask(process, "echo", {"a": [1, None, (b"x", "é")]}) == {"a": [1, None, (b"x", "é")]}


@pytest.mark.parametrize("sees", ["modules", "nothing", "everything"])
def test_what_it_sees(monkeypatch: pytest.MonkeyPatch, sees: Sees, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.chdir(tmp_path)
    module = "birdenv.grading.sandbox._child" if sees == "nothing" else "obeying_child"
    process = Process(module, sees=sees)
    environ = Path(f"/proc/{process.pid}/environ")
    while not environ.read_bytes():
        time.sleep(0.01)  # it is being started
    assert (b"sk-secret" in environ.read_bytes()) == (sees == "everything")
    assert (b"LC_ALL" in environ.read_bytes()) == (sees != "nothing")
    if sees != "nothing":
        seen = ask(process, "look")
        assert seen["folder"] == ("/" if sees == "modules" else str(tmp_path))
        assert seen["is_package_run"] == (sees == "everything")
    process.close()


def test_it_has_a_session_of_its_own_and_ignores_ctrl_c(process: Process) -> None:
    assert ask(process, "signals") == (True, True)


DEATHS = {
    "an exit code": (("exit", 3), "it ended with exit code 3", False, 3),
    "leaving quietly": (("exit", 0), "it ended with exit code 0", False, 0),
    "an exception": (("echo", None, "too many"), "it ended with exit code 1", False, 1),
    "a signal": (("die", signal.SIGSEGV), "it was ended by SIGSEGV", False, -signal.SIGSEGV),
    "its processor time": (("die", signal.SIGPROF), "it was ended by SIGPROF", True, -signal.SIGPROF),
    "an alarm": (("die", signal.SIGALRM), "it was ended by SIGALRM", True, -signal.SIGALRM),
    "hanging up": (("hang up", None), "it was ended by SIGKILL", False, -signal.SIGKILL),
    "nonsense": (("say", "03" + "00" * 7 + "ffffff"), "its answer made no sense: not a mess", False, None),
    "too much": (("say", "ff" * 8), "its answer made no sense: a message of 18446744", False, None),
    "half a message": (("say", "03" + "00" * 7 + "ff"), "it did not answer", True, None),
    "silence": (("sleep", 60), "it did not answer", True, None),
}


@pytest.mark.every(3)
@pytest.mark.parametrize(("order", "reason", "was_late", "code"), DEATHS.values(), ids=DEATHS)
def test_how_it_died(
    process: Process, ends: Ends, order: Any, reason: str, was_late: bool, code: int | None
) -> None:
    seconds = 1.0 if reason == "it did not answer" else SOON
    with pytest.raises(WorkerCrashError) as crash:
        process.send_json(order)
        process.receive_json(1000_000, time.monotonic() + seconds)
    assert str(crash.value).startswith(reason)
    assert (crash.value.was_late, crash.value.exit_code) == (was_late, code)
    assert not process.is_alive
    assert ends(process.pid)
    with pytest.raises(WorkerCrashError, match=r"it (ended|was ended)"):
        ask(process, "echo")


def test_who_takes_nothing_is_not_waited_for(process: Process) -> None:
    process.send_json(["sleep", 60])
    with pytest.raises(WorkerCrashError, match="it did not answer"):
        process.send(b"x" * 10_000_000, time.monotonic() + 0.3)


def test_ctrl_c_while_it_is_waited_for_kills_it(process: Process, ends: Ends) -> None:
    process.send_json(["sleep", 60])

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            process.receive()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ends(process.pid)


def test_what_it_has_started_is_killed_with_it(process: Process, ends: Ends) -> None:
    another = ask(process, "start another")
    process.kill()
    assert ends(another)


def test_it_does_not_outlive_what_knows_of_it(ends: Ends) -> None:
    process = Process("obeying_child")
    process.send_json(["compute", None])
    pid = process.pid
    del process
    gc.collect()
    assert ends(pid)


def test_it_lives_on_when_the_thread_that_started_it_ends(ends: Ends) -> None:
    started: list[Process] = []
    thread = threading.Thread(target=lambda: started.append(Process("obeying_child")))
    thread.start()
    thread.join()
    assert ask(started[0], "echo", 1) == 1
    time.sleep(0.2)
    assert ask(started[0], "echo", 2) == 2
    started[0].close()


def test_a_forked_child_leaves_it_alone(process: Process) -> None:
    child = os.fork()
    if not child:  # no pytest in here: it would report twice
        try:
            ask(process, "echo")
        except WorkerCrashError as crash:
            os._exit(0 if "forked" in str(crash) and not process.is_alive else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert ask(process, "echo", 1) == 1


OWNER = """
import os, signal, sys, threading
sys.path.insert(0, sys.argv[1])
from birdenv.processes._process import Process
started = []
def start():
    started.append(Process("obeying_child"))
    started[0].send_json(["echo", 1]); started[0].receive_json()
    started[0].send_json(["compute", None])
if sys.argv[2] == "main": start()
else:
    thread = threading.Thread(target=start); thread.start(); thread.join()
print(started[0].pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a busy process with its owner")
@pytest.mark.parametrize("thread", ["main", "another"])
def test_it_ends_with_its_owner_while_it_is_busy(ends: Ends, thread: str) -> None:
    owner = subprocess.run(
        [sys.executable, "-c", OWNER, str(Path(__file__).parent), thread],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ends(int(owner.stdout))


def test_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    before = descriptors()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(InputError, match="no child process can be started"):
        Process("obeying_child")
    assert descriptors() == before


def test_nothing_is_left_of_many() -> None:
    before = descriptors()
    for _ in range(5):
        process = Process("obeying_child")
        process.close()
        process.close()
    assert descriptors() == before


def test_a_limit_is_never_raised_above_what_there_is() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        set_limit(resource.RLIMIT_NOFILE, 10**9)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
        set_limit(resource.RLIMIT_NOFILE, 100)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (100, before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
