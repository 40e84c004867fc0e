"""The rooms of birdenv: who may import whom, and that the rest does without the rooms that stand apart."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "birdenv"
APART = ("cocoa", "studies")
"""Rooms that only entry points lead to."""

LOW = {"checks", "errors", "files", "plugins", "version", "sql", "processes", "statistics"}
"""What every room may import."""
MAY_IMPORT = {
    "checks": {"errors"},
    "errors": set(),
    "version": set(),
    "files": {"errors"},
    "plugins": {"errors"},
    "processes": {"errors"},
    "sql": set(),
    "statistics": set(),
    "demo": LOW,
    "run_settings": LOW | {"dialogue", "llm"},
    "databases": LOW,
    "dialogue": LOW,
    "llm": LOW,
    "grading": LOW | {"databases"},
    "users": LOW | {"dialogue", "llm"},
    "tasks": LOW | {"databases", "demo", "dialogue", "grading", "users"},
    "testing": LOW | {"dialogue", "users"},
    "envs": LOW | {"dialogue", "grading", "tasks", "users"},
    "runs": LOW | {"databases", "dialogue", "grading", "llm", "run_settings", "tasks", "users"},
    "engines": LOW | {"runs"},
    "report": LOW | {"dialogue", "runs"},
    "benchmarks": LOW | {"databases", "demo", "dialogue", "envs", "grading", "tasks", "users"},
    "cli": LOW
    | {"benchmarks", "databases", "demo", "dialogue", "envs", "grading", "llm", "report", "run_settings"}
    | {"runs", "tasks", "users"},
    "adapters": LOW | {"dialogue", "llm"},
    "cocoa": LOW | {"cli", "dialogue", "envs", "report", "runs"},
    "studies": LOW | {"cli", "cocoa", "dialogue", "report", "runs"},
}
"""The arrows of docs/architecture.md."""


def imported(path: Path, base: Path) -> Iterator[str]:
    """Yield the modules that a file imports, anywhere in it."""
    package = path.relative_to(base).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            name = ".".join((*above, *filter(None, [node.module])))
            yield name
            yield from (f"{name}.{alias.name}" for alias in node.names)


def room_of(module: str) -> str | None:
    """The room of a module; None for other packages and for the package's own door."""
    parts = module.split(".")
    if parts[0] != "birdenv" or len(parts) < 2:
        return None
    is_module = (PACKAGE / parts[1]).is_dir() or (PACKAGE / f"{parts[1]}.py").is_file()
    return parts[1] if is_module else None


def arrows(room: str) -> dict[str, str]:
    """The rooms that a room imports, each with a file that does."""
    place = PACKAGE / room
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    found = {}
    for file in files:
        for module in imported(file, ROOT):
            other = room_of(module)
            if other is not None and other != room:
                found[other] = file.relative_to(ROOT).as_posix()
    return found


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_is_below_it(room: str) -> None:
    wrong = {other: file for other, file in arrows(room).items() if other not in MAY_IMPORT[room]}
    assert not wrong


def test_every_room_has_its_arrows() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    files = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__", "registration"}
    assert rooms | files == set(MAY_IMPORT)


def test_the_arrows_go_one_way() -> None:
    left = {room: set(others) for room, others in MAY_IMPORT.items()}
    while free := [room for room, others in left.items() if not others & left.keys()]:
        for room in free:
            del left[room]
    assert not left


@pytest.mark.parametrize("room", APART)
def test_the_door_of_a_room_that_stands_apart_imports_nothing(room: str) -> None:
    program = f"import sys, birdenv.{room}.commands; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"pydantic", "numpy", "fastapi", "birdenv.dialogue", "birdenv.runs"}.isdisjoint(
        loaded.stdout.split()
    )


GAME_TESTS = (
    "tests/tasks/bird/test_bird_rules.py",
    "tests/tasks/c_interact/test_c_interact_rules.py",
    "tests/tasks/a_interact/test_a_interact_rules.py",
)


@pytest.fixture(scope="module")
def without_apart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree without the rooms that stand apart; the entry points are those of the whole."""
    copy = tmp_path_factory.mktemp("without")
    for name in ("birdenv", "agents", "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", *APART))
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


def python(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, (tree, tree / "agents")))
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "300"},
    )


@pytest.mark.slow
def test_the_rest_plays_the_demo_without_the_rooms_that_stand_apart(without_apart: Path) -> None:
    where = python(without_apart, "-c", "import birdenv; print(birdenv.__file__)").stdout
    assert where.startswith(str(without_apart))
    played = python(without_apart, "-m", "birdenv", "demo")
    assert played.returncode == 0, played.stderr
    assert "oracle" in played.stdout and "asks-first" in played.stdout


@pytest.mark.slow
@pytest.mark.parametrize("file", GAME_TESTS)
def test_the_tests_of_an_sql_game_pass_without_the_rooms_that_stand_apart(
    without_apart: Path, file: str
) -> None:
    done = python(without_apart, "-m", "pytest", "-q", "-p", "no:cacheprovider", file)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "module"),
    [
        (["web", "c-interact"], "birdenv.studies"),
        (["analyze", "x"], "birdenv.cocoa"),
        (["play", "bargain"], "birdenv.cocoa"),
        (["export", "run", "--format", "cocoa"], "birdenv.cocoa"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_is_missing_is_one_clear_line(without_apart: Path, command: list[str], module: str) -> None:
    done = python(without_apart, "-m", "birdenv", *command)
    assert done.returncode == 2 and not done.stdout
    [line] = done.stderr.splitlines()
    assert line.startswith("Error: ") and line.endswith(f"cannot be imported: No module named '{module}'")


@pytest.mark.slow
def test_the_list_of_commands_says_what_is_missing(without_apart: Path) -> None:
    listed = python(without_apart, "-m", "birdenv", "--help")
    assert listed.returncode == 0 and not listed.stderr
    missing = [line for line in listed.stdout.splitlines() if "No module named" in line]
    assert [line.split()[0] for line in missing] == [
        *("analyze", "ratings", "scenarios", "test-player", "train-player", "web")
    ]
    assert all("Not available: " in line for line in missing)
