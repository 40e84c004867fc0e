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

from birdenv.errors import BirdenvError, InfrastructureError, InputError
from birdenv.processes.child import OUT_OF_MEMORY, set_limit
from birdenv.processes.messages import MessageError
from birdenv.processes.process import Channel, ChildProcess, Death
from birdenv.processes.starting import Sees

Ends = Callable[[int], bool]
SOON = 20.0


def ask(process: Channel, order: str, value: Any = None, seconds: float = SOON, **how: Any) -> Any:
    return process.call((order, value), seconds=seconds, most_bytes=1000_000, **how)


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_it_answers(process: ChildProcess) -> None:
    assert ask(process, "echo", {"a": [1, None, (b"x", "é")]}) == {"a": [1, None, (b"x", "é")]}


@pytest.mark.parametrize("sees", ["modules", "nothing", "everything"])
def test_what_it_sees(monkeypatch: pytest.MonkeyPatch, sees: Sees, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.chdir(tmp_path)
    module = "birdenv.grading.sandbox._child" if sees == "nothing" else "obeying_child"
    process = ChildProcess(module, sees=sees)
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


def test_it_has_a_session_of_its_own_and_ignores_ctrl_c(process: ChildProcess) -> None:
    assert ask(process, "signals") == (True, True)


DEATHS = {
    "an exit code": (("exit", 3), "it ended with exit code 3", False, 3),
    "leaving quietly": (("exit", 0), "it ended with exit code 0", False, 0),
    "no memory": (("memory", None), "it ran out of memory", False, OUT_OF_MEMORY),
    "a signal": (("die", signal.SIGSEGV), "it was ended by SIGSEGV", False, -signal.SIGSEGV),
    "its processor time": (("die", signal.SIGPROF), "it was ended by SIGPROF", True, -signal.SIGPROF),
    "an alarm": (("die", signal.SIGALRM), "it was ended by SIGALRM", True, -signal.SIGALRM),
    "hanging up": (("hang up", None), "it was ended by SIGKILL", False, -signal.SIGKILL),
    "nonsense": (("say", "04" + "00" * 7 + "00ffffff"), "its answer was invalid: not plain", False, None),
    "another kind": (("say", "01" + "00" * 7 + "09"), "its answer was invalid: the kind", False, None),
    "a question": (("ask", 1), "its answer was invalid: the kind of message is unknown", False, None),
    "too much": (("say", "ff" * 8), "its answer was invalid: a message of 18446744", False, None),
    "two at once": (("say", "01" + "00" * 9 + "00"), "its answer was invalid: more than one", False, None),
    "half a message": (("say", "03" + "00" * 7 + "ff"), "it did not answer", True, None),
    "silence": (("sleep", 60), "it did not answer", True, None),
}


@pytest.mark.every(3)
@pytest.mark.parametrize(("order", "reason", "was_late", "code"), DEATHS.values(), ids=DEATHS)
def test_how_it_died(
    process: ChildProcess, ends: Ends, order: Any, reason: str, was_late: bool, code: int | None
) -> None:
    death = ask(process, *order, seconds=1.0 if reason == "it did not answer" else SOON)
    assert isinstance(death, Death)
    assert death.reason.startswith(reason)
    assert (death.was_late, death.exit_code) == (was_late, code)
    assert not process.is_alive
    assert ends(process.pid)
    again = ask(process, "echo")
    assert isinstance(again, Death) and again.reason.startswith(("it ended", "it was ended", "it ran out"))


def test_who_takes_nothing_is_not_waited_for(process: ChildProcess) -> None:
    os.kill(process.pid, signal.SIGSTOP)
    death = ask(process, "echo", b"x" * 10_000_000, seconds=0.3)
    assert death == Death("it did not answer", was_late=True)


def test_an_answer_that_cannot_be_read_ends_it(process: ChildProcess) -> None:
    def read(value: Any) -> Any:
        raise ValueError("not this")

    assert ask(process, "echo", 1, read=read) == Death("its answer was invalid: not this")


def test_faults_are_told_and_it_lives_on(process: ChildProcess) -> None:
    with pytest.raises(InputError, match="no such file"):
        ask(process, "refuse", "no such file")
    with pytest.raises(BirdenvError, match=r"(?s)a worker process failed.*RuntimeError: ours"):
        ask(process, "fail", "ours")
    assert ask(process, "echo", 1) == 1


def test_it_asks_before_it_answers(process: ChildProcess) -> None:
    assert ask(process, "ask", 3, answer=lambda number: number * 10) == [0, 10, 20]

    def in_parts(number: int) -> str:
        return f"{number} and {process.put('a part')}" if number == 0 else "rest"

    assert ask(process, "ask", 3, answer=in_parts) == ["a part", "0 and 1", "rest"]


@pytest.mark.parametrize("error", [KeyError("ours"), MessageError("no question")])
def test_an_answer_that_fails_ends_it(process: ChildProcess, ends: Ends, error: Exception) -> None:
    def answer(number: int) -> None:
        raise error

    if isinstance(error, MessageError):
        assert ask(process, "ask", 1, answer=answer) == Death("its answer was invalid: no question")
    else:
        with pytest.raises(KeyError, match="ours"):
            ask(process, "ask", 1, answer=answer)
    assert ends(process.pid)


def test_channels_are_served_at_the_same_time(ends: Ends) -> None:
    process = ChildProcess("accepting_child")
    first, second = process.open_channel(), process.open_channel()
    waiting = threading.Thread(target=ask, args=(first, "sleep", 0.5))
    waiting.start()
    assert ask(second, "echo", 1) == 1
    waiting.join()
    assert ask(first, "sleep", 60, seconds=0.2) == Death("it did not answer", was_late=True)
    assert isinstance(ask(second, "echo", 1), Death), "the end of the process is that of all"
    assert ends(process.pid)


def test_ctrl_c_while_it_is_waited_for_kills_it(process: ChildProcess, ends: Ends) -> None:
    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            ask(process, "sleep", 60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ends(process.pid)


def test_what_it_has_started_is_killed_with_it(process: ChildProcess, ends: Ends) -> None:
    another = ask(process, "start another")
    process.kill()
    assert ends(another)


@pytest.mark.slow
def test_it_does_not_outlive_what_knows_of_it(ends: Ends) -> None:
    process = ChildProcess("obeying_child")
    assert ask(process, "echo", 1) == 1
    pid = process.pid
    del process
    gc.collect()
    assert ends(pid)


def test_it_lives_on_when_the_thread_that_started_it_ends(ends: Ends) -> None:
    started: list[ChildProcess] = []
    thread = threading.Thread(target=lambda: started.append(ChildProcess("obeying_child")))
    thread.start()
    thread.join()
    assert ask(started[0], "echo", 1) == 1
    time.sleep(0.2)
    assert ask(started[0], "echo", 2) == 2
    started[0].close()


def test_a_forked_child_leaves_it_alone(process: ChildProcess) -> None:
    child = os.fork()
    if not child:  # no pytest in here: it would report twice
        death = ask(process, "echo")
        os._exit(0 if "forked" in death.reason and not process.is_alive else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert ask(process, "echo", 1) == 1


OWNER = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
from birdenv.processes.process import ChildProcess
started = []
def start():
    started.append(ChildProcess("obeying_child"))
    started[0].call(("echo", 1))
def compute():
    started[0].call(("compute", None))
if sys.argv[2] == "main": start()
else:
    thread = threading.Thread(target=start); thread.start(); thread.join()
threading.Thread(target=compute, daemon=True).start()
time.sleep(0.2)
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
    with pytest.raises(InfrastructureError, match="cannot start a child process"):
        ChildProcess("obeying_child")
    assert descriptors() == before


def test_nothing_is_left_of_many() -> None:
    before = descriptors()
    for _ in range(5):
        process = ChildProcess("obeying_child")
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
