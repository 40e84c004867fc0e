"""Test cases gone wrong: each ends in time, says why, blames the test, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sandbox_databases import INTERPRETER, LIMITS, called, case, run, shop

import birdenv
from birdenv.databases import SqliteSource
from birdenv.databases.sqlite._process_database import workers
from birdenv.grading.sandbox._runner import SandboxLimits

WAIT_SECONDS = 30.0  # seconds: much more than anything here takes
CHILD = "birdenv.grading.sandbox._child"
ENDLESS_SQL = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
EVERY_DESCRIPTOR = INTERPRETER + "for number in range(3, 4096):\n    try: {}\n    except OSError: pass\n"

HOSTILE = {
    "an endless loop": ("while True: pass", "limit", "uses more than 1 s of CPU time"),
    "an endless call": ("sum(range(10**18))", "limit", "uses more than 1 s of CPU time"),
    "a catastrophic regex": (
        "re.match('(a+)+$', 'a' * 60 + 'b')",
        "limit",
        "uses more than 1 s of CPU time",
    ),
    "an allocation of 1 GB": ("bytearray(2**30)", "limit", "runs out of memory"),
    "memory piece by piece": (
        "pieces = []\nwhile True: pieces.append(bytearray(2**26))",
        "limit",
        "runs out of memory",
    ),
    "printing a gigabyte": (
        "for _ in range(2**20): print('x' * 1024)",
        "limit",
        "prints more than 65536 characters",
    ),
    "printing a gigabyte as errors": (
        "import re as r\nout = re.enum.sys.stderr\nwhile True: out.write('x' * 1024)",
        "limit",
        "prints more than 65536 characters",
    ),
    "an infinite recursion": ("def f(): f()\nf()", "limit", "recurses too deeply"),
    "deep JSON": ("json.loads('[' * 10**6)", "limit", "recurses too deeply"),
    "endless queries": (
        "while True: execute_queries('SELECT 1', db_name, conn)",
        "limit",
        "runs more than 1000 queries",
    ),
    "SystemExit": ("raise SystemExit(0)", "process", "ends its process (SystemExit)"),
    "KeyboardInterrupt": ("raise KeyboardInterrupt", "process", "raises KeyboardInterrupt"),
    "sys.exit": ("import sys\nsys.exit()", "harness", "imports sys, which is not available to tests"),
    "os": ("import os", "harness", "imports os, which is not available to tests"),
    "socket": ("import socket", "harness", "imports socket, which is not available to tests"),
    "subprocess": ("import subprocess", "harness", "imports subprocess, which is not available to tests"),
    "ctypes": ("__import__('ctypes')", "harness", "imports ctypes, which is not available to tests"),
    "psycopg2": ("import psycopg2", "harness", "imports psycopg2, which is not available to tests"),
    "an import behind the guard": (
        "re.enum.sys.modules['importlib'].import_module('sqlite3')",
        "harness",
        "raises ModuleNotFoundError: No module named 'sqlite3'",
    ),
    "a fork bomb": (
        INTERPRETER + "while True: os.fork()",
        "harness",
        "uses os.fork, which is not available to tests",
    ),
    "a file": ("open('/etc/passwd')", "harness", "uses open, which is not available to tests"),
    "the connection as a file": ("open(3, 'wb')", "harness", "uses open, which is not available to tests"),
    "closing the connection": (
        EVERY_DESCRIPTOR.format("os.close(number)"),
        "process",
        "ends its process or its connection, or is killed",
    ),
    "closing the connection and going on": (
        EVERY_DESCRIPTOR.format("os.close(number)") + "while True: pass",
        "process",
        "ends its process or its connection, or is killed",
    ),
    "nonsense on the connection": (
        EVERY_DESCRIPTOR.format("os.write(number, b'nonsense' * 9)"),
        "process",
        "sends its parent a message that is not a request",
    ),
    "JSON of another shape": (
        EVERY_DESCRIPTOR.format("os.write(number, bytes([9] + 7 * [0]) + b'[\"query\"]')"),
        "process",
        "sends its parent a message that is not a request",
    ),
    "a deep message": (
        EVERY_DESCRIPTOR.format("os.write(number, (90000).to_bytes(8, 'little') + b'[' * 90000)"),
        "process",
        "sends its parent a message that is not a request",
    ),
    "a message without its end": (
        EVERY_DESCRIPTOR.format("os.write(number, bytes([9] + 7 * [0]))") + "os._exit(5)",
        "process",
        "ends its process or its connection, or is killed",
    ),
    "leaving quietly": (
        INTERPRETER + "os._exit(0)",
        "process",
        "ends its process or its connection, or is killed",
    ),
    "a crash": (INTERPRETER + "os.abort()", "process", "is killed by SIGABRT"),
    "deleting the harness": (
        "global execute_queries\ndel execute_queries\nexecute_queries('SELECT 1')",
        "harness",
        "raises NameError: name 'execute_queries' is not defined",
    ),
    "a name that is nowhere": ("no_such", "harness", "raises NameError: name 'no_such' is not defined"),
    "an attribute of a module": (
        "json.nope",
        "harness",
        "raises AttributeError: module 'json' has no attribute 'nope'",
    ),
    "a cursor": (
        "conn.cursor()",
        "harness",
        "uses conn.cursor, which is not available to tests; use execute_queries",
    ),
    "code that does not compile": (
        "eval('1 +')",
        "harness",
        "raises SyntaxError: invalid syntax (<string>, line 1)",
    ),
}


@pytest.fixture
def source(tmp_path: Path) -> SqliteSource:
    return shop(tmp_path)


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    workers.release(workers.lease())  # type: ignore[arg-type]  # which stays, with its socket
    before = sockets()
    yield
    assert not [path for path in temporary.iterdir() if "child" in path.name]
    assert sockets() == before
    assert not [pid for pid in processes(CHILD) if parent_of(pid) == os.getpid()]


_A_SECOND_EACH = ("an endless call", "a catastrophic regex")  # of processor time, as the endless loop


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("body", "cause", "reason"),
    [
        pytest.param(*case, id=name, marks=pytest.mark.slow if name in _A_SECOND_EACH else ())
        for name, case in HOSTILE.items()
    ],
)
def test_hostile(source: SqliteSource, body: str, cause: str, reason: str) -> None:
    report = run(source, case(body))
    assert (report.status, report.reason) == ("test_error", f"test case 1, test_case: {reason}")
    assert (report.outcomes[-1].cause, called(report)) == (cause, 1)


def test_what_a_source_does_while_it_is_loaded_is_confined_too(source: SqliteSource) -> None:
    for line, reason in (
        ("import os", "imports os, which is not available to tests"),
        ("open('/etc/passwd')", "uses open, which is not available to tests"),
    ):
        report = run(source, f"{line}\n{case('pass')}")
        assert (report.status, report.reason) == ("test_error", f"test case 1: {reason}")
        assert called(report) == 0
    gone = run(source, f"{case('pass')}\ntest_case = None")
    assert gone.reason == "test case 1, test_case: is no longer a function after its source has run"


@pytest.mark.slow
def test_the_wall_clock(source: SqliteSource) -> None:
    short = SandboxLimits(seconds=1, cpu_seconds=20)
    asleep = run(source, case("import time\ntime.sleep(999)"), limits=short)
    assert (asleep.status, asleep.outcomes[-1].cause) == ("test_error", "clock")
    assert asleep.reason == "test case 1, test_case: is not finished after 1 s"
    slow = run(source, case(f"while True: execute_queries({ENDLESS_SQL!r}, db_name, conn)"), limits=short)
    assert (slow.status, slow.outcomes[-1].cause) == ("test_error", "limit")
    assert slow.reason == "test case 1, test_case: is not finished after 1 s, most of which the database took"


def test_the_process_has_nothing(source: SqliteSource) -> None:
    body = INTERPRETER + "\n".join(
        (
            "assert not sys.modules['os'].environ, 'an environment'",
            "try: os.mkdir('x')",
            "except OSError as error: pass",
            "else: assert False, 'it can make files'",
            "for number in range(4096):",
            "    try: status = os.fstat(number)",
            "    except OSError: continue",
            "    assert number < 3 or status.st_mode >> 12 == 0o14, 'a descriptor that is no socket'",
            "    sockets = globals().setdefault('sockets', [])",
            "    sockets += [number] * (number > 2)",
            "assert len(sockets) == 1, sockets",
            "assert not {'sqlite3', 'subprocess', 'birdenv.databases'} & sys.modules.keys(), 'modules'",
        )
    )
    assert run(source, case(body)).reason == ""


def test_the_kernel_refuses_processes_and_files_where_no_hook_does(tmp_path: Path) -> None:
    program = (
        "import importlib, os, sys, types\n"
        "for name, folder in (('birdenv', sys.argv[1]), ('birdenv.grading', sys.argv[1] + '/grading')):\n"
        "    sys.modules[name] = types.ModuleType(name)\n"
        "    sys.modules[name].__path__ = [folder]\n"
        "importlib.import_module('birdenv.grading.sandbox._confinement').limit(20, 5, 2**29)\n"
        "try: os.fork()\n"
        "except BlockingIOError: print('no process')\n"
        "try: open(sys.argv[2], 'w').write('x' * 9)\n"
        "except OSError: print('no file')\n"
        "print(os.getuid() or 'root')\n"
    )
    target = tmp_path / "written"
    found = subprocess.run(
        [sys.executable, "-S", "-c", program, str(Path(birdenv.__file__).parent), str(target)],
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
    )
    lines = found.stdout.split("\n")
    assert lines[:2] == ["no process", "no file"], found
    assert lines[2] != "root"
    assert not target.exists() or not target.read_bytes()


@pytest.mark.slow
def test_what_forks_nevertheless_is_killed_with_its_group(
    source: SqliteSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"mark{os.getpid()}"
    monkeypatch.setattr(
        "birdenv.processes.starting._PROGRAM",
        f"import os, time  # {mark}\nfor _ in range(5): os.fork()\ntime.sleep(600)  # 32 processes",
    )
    report = run(source, case("pass"), limits=SandboxLimits(seconds=2))
    assert report.reason == "test case 1: is not finished after 2 s"
    assert wait_until(lambda: not processes(mark))


OWNER = """
import sys
from pathlib import Path
import sandbox_databases as h
def loop():
    h.run(h.SqliteSource(Path(sys.argv[1])), h.case("while True: pass"), limits=h.SandboxLimits(600, 600))
try: loop()
except KeyboardInterrupt: loop()
"""


@pytest.mark.slow
def test_the_process_ends_with_its_owner(source: SqliteSource, tmp_path: Path) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(source.root)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent), "TMPDIR": str(tmp_path / "temporary")},
        process_group=0,
    )
    gone: set[int] = set()

    def looping() -> list[int]:
        ours = (pid for pid in processes(CHILD) if pid not in gone and parent_of(pid) == owner.pid)
        return [pid for pid in ours if processor_seconds(pid) > 0.5]

    try:
        for ending in (signal.SIGINT, signal.SIGKILL):
            assert wait_until(lambda: bool(looping()))
            (child,) = looping()
            owner.send_signal(ending)
            assert wait_until(lambda child=child: child not in processes(CHILD))
            gone.add(child)
        assert owner.wait(WAIT_SECONDS) == -signal.SIGKILL
    finally:
        owner.kill()
        owner.wait()


WAITED = "\nimport time\ntime.sleep(0.2)\nassert False"
"""Two claims at once are nonsense: the first has to be heard before the test fails."""


def test_nothing_is_asked_of_a_sandbox_that_is_not_one(source: SqliteSource) -> None:
    """Known and said in the docstring: a test that wants to can claim to have passed."""
    claim = 'm = b\'\\x01["outcome", "passed", ""]\'\nm = len(m).to_bytes(8, "little") + m\n'
    report = run(source, case(claim + EVERY_DESCRIPTOR.format("os.write(number, m)") + WAITED))
    assert report.status == "passed"


def sockets() -> int:
    """How many sockets this process has open."""
    links = Path("/proc/self/fd").iterdir()
    return sum(link.is_socket() for link in links)


def processes(text: str) -> list[int]:
    """The live processes whose command line has the text."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and text in (folder / "cmdline").read_text(errors="replace"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def parent_of(pid: int) -> int:
    return int(_status(pid)[1])


def processor_seconds(pid: int) -> float:
    return sum(map(int, _status(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


def _status(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["0"] * 50


def wait_until(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


assert LIMITS.cpu_seconds == 1, "the reasons above say so"
