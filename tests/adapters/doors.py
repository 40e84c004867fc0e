"""Test each adapter in an environment of its own, as frameworks pin against each other, and print a table.

    python tests/adapters/doors.py [NAME ...] [--environments FOLDER]

The versions stand in `requirements-doors.txt`. An environment that is there is used again.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import sys
import time
import tokenize
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYOUT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
COLUMNS = "{:<10} {:<22} {:>5} {:>15} {:>6} {:>6} {:>8}"


def pinned() -> dict[str, list[str]]:
    """Return what each environment gets, by the name of its extra."""
    lines = (ROOT / "requirements-doors.txt").read_text().splitlines()
    found = (line.partition(":") for line in lines if line and not line.startswith("#"))
    return {name: packages.split() for name, _, packages in found}


def lines_of_code(path: Path) -> int:
    """Return the number of lines without blank ones, comments and docstrings."""
    source = path.read_text(encoding="utf-8")
    told: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            told.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    used: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            used.update(range(token.start[0], token.end[0] + 1))
    return len(used - told)


def environment(name: str, packages: list[str], folder: Path) -> Path:
    """Make the environment of an extra, unless it is there, and return its Python."""
    python = folder / name / "bin" / "python"
    installed = folder / name / "installed"
    if not installed.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "pytest", *packages, "--editable", f"{ROOT}[{name}]"], check=True)
        installed.touch()
    return python


def main() -> None:
    """Test, and print a row for each adapter; the exit status is 1 if a test failed or is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=list(pinned()))
    parser.add_argument("--environments", type=Path, default=ROOT / ".venv-doors")
    given = parser.parse_args()
    print(COLUMNS.format("adapter", "version", "lines", "dialogues equal", "tests", "failed", "seconds"))
    bad = False
    for name in given.names:
        packages = pinned()[name]
        python = environment(name, packages, given.environments)
        report = given.environments / f"{name}.xml"
        report.unlink(missing_ok=True)
        started = time.monotonic()
        options = ["-q", "-m", "", "--confcutdir=tests/adapters", f"--junitxml={report}"]
        command = [python, "-m", "pytest", *options, f"tests/adapters/test_{name}.py"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        cases = list(ET.parse(report).iter("testcase")) if report.exists() else []
        failed = [
            case for case in cases if case.find("failure") is not None or case.find("error") is not None
        ]
        same = [case for case in cases if "golden_dialogue" in case.get("name", "")]
        equal = f"{sum(case not in failed for case in same)} of {len(same)}"
        print(
            COLUMNS.format(
                name,
                packages[-1].replace("==", " "),
                lines_of_code(ROOT / "birdenv" / "adapters" / f"{name}.py"),
                equal,
                len(cases),
                len(failed),
                round(time.monotonic() - started),
            ),
            flush=True,
        )
        if done.returncode or not same:
            bad = True
            print(done.stdout[-3000:], done.stderr[-2000:])
    sys.exit(bad)


if __name__ == "__main__":
    main()
