"""The package as a newcomer meets it: light to import, and its README runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def loaded_by(program: str) -> set[str]:
    """The top-level modules that a program has imported at its end."""
    program += "\nimport sys; print('loaded', *{name.partition('.')[0] for name in sys.modules})"
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    return set(printed.splitlines()[-1].split()[1:])


def test_windows_is_told_about_wsl() -> None:
    program = "import sys; sys.platform = 'win32'; import birdenv"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 1
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("ImportError: birdenv does not run on Windows, ") and "WSL" in last


HEAVY = {
    *("gymnasium", "numpy", "pettingzoo", "sqlglot", "pydantic", "rich", "typer", "sqlite3", "psycopg"),
    *("torch", "openai"),
}


def test_import_brings_in_nothing_heavy() -> None:
    loaded = loaded_by("import birdenv")
    assert "birdenv" in loaded
    assert HEAVY.isdisjoint(loaded)


@pytest.mark.parametrize("first, second", [("birdenv", "gymnasium"), ("gymnasium", "birdenv")])
def test_the_environments_are_registered_whichever_is_imported_first(first: str, second: str) -> None:
    program = f"import {first}, {second}; print(*gymnasium.registry)"
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    ids = {"birdenv/CInteract-v0", "birdenv/AInteract-v0", "birdenv/BirdSql-v0"}
    assert ids <= set(printed.split())


@pytest.mark.parametrize("asked", ["--version", "play --help"])
def test_the_command_line_imports_no_more_than_it_is_asked_for(asked: str) -> None:
    """What is left is `typer`, which reads options and draws errors, and what it brings in."""
    program = f"""
import sys
from birdenv.cli import main
sys.argv = ["birdenv", *{asked.split()}]
try:
    main()
except SystemExit as end:
    assert not end.code
"""
    assert HEAVY & loaded_by(program) <= {"typer", "rich", "pydantic"}


def test_playing_an_episode_does_not_load_the_command_line() -> None:
    code = "import birdenv, gymnasium, sys; gymnasium.make('birdenv/BirdSql-v0').reset(); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"pettingzoo", "typer", "rich"}.isdisjoint(loaded)


def blocks(language: str) -> list[str]:
    return re.findall(
        rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )


def test_the_readmes_programs_run(capsys: pytest.CaptureFixture[str]) -> None:
    first, agent, episode = blocks("python")
    exec(first, namespace := {})
    assert capsys.readouterr().out in (ROOT / "README.md").read_text(encoding="utf-8")
    assert len([line for line in first.splitlines() if line]) == 5
    exec(agent, namespace)
    assert namespace["agent"](None).action == "submit_sql"
    exec(episode, namespace)
    assert namespace["step"].text + "\n" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_readmes_demo_table_is_what_the_demo_prints() -> None:
    code = "from birdenv.cli import main; import sys; sys.argv = ['birdenv', 'demo']; main()"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    table = (ROOT / "README.md").read_text(encoding="utf-8")
    for agent in ("oracle", "asks-first", "never-asks"):
        [line] = [line for line in printed.splitlines() if line.startswith(f"  {agent} ")]
        assert line.rstrip() in table


def test_the_map_names_every_room() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [path.parent.name for path in (ROOT / "birdenv").glob("*/__init__.py")]
    assert not [room for room in rooms if f"`birdenv/{room}/" not in page]


def test_nothing_is_exported_that_does_not_exist() -> None:
    import birdenv

    assert all(hasattr(birdenv, name) for name in birdenv.__all__)
    with pytest.raises(AttributeError):
        _ = birdenv.nonsense
