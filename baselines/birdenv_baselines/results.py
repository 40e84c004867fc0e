"""Write the results page: published systems, published verdicts, agents, and the simulated user.

    python -m birdenv_baselines.results [--out docs/results.md]

The benchmark files are in the folder that `--data` or `BIRDENV_SHARED_DATA` names.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from birdenv.databases import Limits, SqliteSource
from birdenv.files import file_digest, read_json, read_records
from birdenv.grading import Pair, score_pairs
from birdenv.statistics import Interval, bootstrap_test, mcnemar, paired_difference, wilson
from birdenv.version import __version__
from birdenv_baselines.bench._mini_dev import SEPARATOR, shared_data
from birdenv_baselines.bench._table import processor

ROOT: Final = Path(__file__).resolve().parents[2]
UNUSABLE: Final = {116, 129, 145, 159}
"""Questions about `financial` whose gold reads the table `trans`, which is empty in the rebuilt database."""

LIMITS: Final = Limits(seconds=30.0)
AGENTS: Final = ("never-asks", "asks-first", "oracle")


@dataclass(frozen=True, slots=True)
class System:
    """A published system, and which questions it answers correctly by the strict and by BIRD's comparison."""

    name: str
    strict: tuple[bool, ...]
    bird: tuple[bool, ...]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a Markdown table, followed by a blank line."""
    lines = [head, ["---"] * len(head), *rows]
    return [*(f"| {' | '.join(map(str, line))} |" for line in lines), ""]


def paragraph(text: str) -> list[str]:
    """Return the wrapped lines of a paragraph, followed by a blank line."""
    return [*textwrap.wrap(text, 116, break_long_words=False, break_on_hyphens=False), ""]


def rate(passed: int, total: int) -> str:
    """Return a share in percent with its confidence interval, such as `62.5 (58.1 to 66.7)`."""
    return f"{100 * passed / total:.1f} {percent(wilson(passed, total))}"


def percent(interval: Interval | None, sign: str = "") -> str:
    """Return a confidence interval in percent, such as `(58.1 to 66.7)`, or an empty string for None."""
    return "" if interval is None else f"({100 * interval.low:{sign}.1f} to {100 * interval.high:{sign}.1f})"


def compare(first: Sequence[bool], second: Sequence[bool]) -> tuple[str, str]:
    """Return the difference between two rates on the same tasks with its interval, and McNemar's p-value."""
    pairs = list(zip(first, second, strict=True))
    both, neither = pairs.count((True, True)), pairs.count((False, False))
    only_first, only_second = pairs.count((True, False)), pairs.count((False, True))
    interval = paired_difference(both, only_first, only_second, neither)
    difference = 100 * (only_second - only_first) / len(pairs)
    return f"{difference:+.1f} {percent(interval, '+')}", p_value(mcnemar(only_first, only_second))


def p_value(value: float) -> str:
    """Return a p-value with two significant digits, or `< 0.0001`."""
    return "< 0.0001" if value < 0.0001 else f"{value:.{max(2, 1 - math.floor(math.log10(value)))}f}"


def read_systems(folder: Path, workers: int) -> tuple[list[System], int]:
    """Grade published systems, and return them from best to worst, with the number of usable questions."""
    questions = read_json(folder / "mini_dev_sqlite_2024.json")  # the predictions are in this edition's order
    databases = folder / "dev_databases"
    asked = [
        place
        for place, each in enumerate(questions)
        if (databases / each["db_id"] / f"{each['db_id']}.sqlite").exists()
        and each["question_id"] not in UNUSABLE
    ]
    files = sorted((folder / "predictions").glob("*.json"))
    pairs = []
    for file in files:
        answers = read_json(file)
        for place in asked:
            sql = answers[str(place)].split(SEPARATOR)[0]
            pairs.append(Pair(questions[place]["db_id"], (questions[place]["SQL"],), sql))
    verdicts = score_pairs(pairs, SqliteSource(databases), limits=LIMITS, workers=workers)
    systems = []
    for number, file in enumerate(files):
        own = verdicts[number * len(asked) : (number + 1) * len(asked)]
        name = file.stem.removeprefix("predict_mini_dev_").removesuffix("_sqlite").removesuffix("_SQLite")
        systems.append(System(name, tuple(one.ex for one in own), tuple(one.ex_bird for one in own)))
    return sorted(systems, key=lambda one: (-sum(one.strict), one.name)), len(asked)


def published_systems(folder: Path, workers: int) -> list[str]:
    """Return the section about the published systems on mini-dev."""
    systems, count = read_systems(folder, workers)
    rows, better = [], None
    for system in systems:
        strict, bird = system.strict, system.bird
        rules = compare(bird, strict)
        last = ("", "") if better is None else compare(better.strict, strict)
        rows.append(
            (
                system.name,
                rate(sum(strict), count),
                rate(sum(bird), count),
                f"{sum(strict) - sum(bird):+d} ({rules[1]})",
                *last,
            )
        )
        better = system
    return [
        "## Published systems on BIRD mini-dev",
        "",
        *paragraph(
            f"The answers of {len(systems)} systems, graded again on the {count} questions whose "
            "databases are available (without four questions about financial, which need a table that "
            "is missing). Execution accuracy (EX) in percent, with 95 % score intervals over tasks. "
            "`strict` compares multisets of rows, and `BIRD` is the official set rule. The fourth column "
            "has the difference between both rules as a number of answers, with the p-value of McNemar's "
            "exact test. The last two columns compare each system with the one above it: the difference "
            "under `strict`, and its p-value."
        ),
        *table(
            ("system", "EX strict", "EX BIRD", "strict - BIRD, answers (p)", "to the row above", "p"),
            rows,
        ),
        "The p-values are of single comparisons and are not corrected for their number.",
        "",
    ]


def published_verdicts(folder: Path, workers: int) -> list[str]:
    """Return the section that compares birdenv's verdicts with verdicts that others have published."""
    rows = []
    for file in sorted((folder / "verdicts").glob("*.jsonl")):
        lines = read_records(file)
        pairs = [Pair(line["db_id"], (line["gold_sql"],), line["predicted_sql"]) for line in lines]
        verdicts = score_pairs(pairs, SqliteSource(folder / "dev_databases"), limits=LIMITS, workers=workers)
        others = [
            str(line["question_id"])
            for line, verdict in zip(lines, verdicts, strict=True)
            if verdict.ex_bird != bool(line["published_ex"])
        ]
        systems = len({line["system"] for line in lines})
        met = f"{len(lines) - len(others)} of {len(lines)}"
        rows.append((file.stem, systems, met, ", ".join(sorted(others, key=int)) or "none"))
    return [
        "## Published verdicts",
        "",
        *paragraph(
            "Published verdicts of execution accuracy, one for each system and question, compared with "
            "birdenv's verdicts under BIRD's rule:"
        ),
        *table(("database", "systems", "equal verdicts", "questions with different verdicts"), rows),
        *paragraph(
            "The causes are known. In the copy of financial, which was rebuilt from public sources, the "
            "table `trans` is empty; 89, 120 and one answer to 173 read it. One published verdict on 173 "
            "contradicts the publisher's own rule."
        ),
    ]


def run(*arguments: str | Path, cwd: Path) -> str:
    """Run a birdenv command, and return its output."""
    command = [sys.executable, "-c", "from birdenv.cli import main; main()", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"birdenv {' '.join(map(str, arguments))} failed: {done.stderr}")
    return done.stdout


def agents(folder: Path) -> list[str]:
    """Return the section about untrained agents on the demo benchmark."""
    rewards: dict[str, dict[str, float]] = {}
    rows = []
    for agent in AGENTS:
        run("c-interact", "--agent", agent, "-o", agent, cwd=folder)
        played = folder / agent / "latest"
        figures = read_json(played / "overall.json")["figures"]
        rewards[agent] = {one["instance_id"]: one["reward"] for one in read_records(played / "runs.jsonl")}
        reward, interval = f"{figures['reward']['value']:.3f}", figures["reward"]["interval_over_tasks"]
        reward += " ({:.3f} to {:.3f})".format(*interval) if interval else ""
        solved = [rate(figures[name]["passed"], figures[name]["total"]) for name in ("phase_1", "phase_2")]
        rows.append((agent, reward, *solved))
    names = sorted(rewards["oracle"])
    gains = [rewards["asks-first"][name] - rewards["never-asks"][name] for name in names]
    test = bootstrap_test(gains, names)
    assert test is not None
    return [
        "## Agents on the demo benchmark",
        "",
        *paragraph(
            f"c-Interact with the user `rule`, {len(names)} tasks; mean reward, and tasks solved in "
            "percent, with 95 % intervals over tasks:"
        ),
        *table(("agent", "reward", "request solved", "follow-up solved"), rows),
        *paragraph(
            f"The gain of asking first over never asking is {sum(gains) / len(gains):+.3f} "
            f"({test.interval.low:+.3f} to {test.interval.high:+.3f}; paired bootstrap, p {p_value(test.p)})."
        ),
    ]


def trained_policies(report: Path) -> list[str]:
    """Return the section about trained policies: their report, or a note that there is none."""
    if report.exists():
        text = report.read_text(encoding="utf-8")
        return ["## Trained policies", "", *text.replace("\n#", "\n##").splitlines()[1:], ""]
    return [
        "## Trained policies",
        "",
        *paragraph(
            "`make baselines` (about two hours) has not been run with the simulated user of this "
            "commit. [Learning](learning.md) has the figures of trained policies with an older user."
        ),
    ]


def fidelity(shared: Path, folder: Path) -> list[str]:
    """Return the section about how often the simulated user understands a question."""
    rows = []
    questions = shared / "user_questions" / "dev.jsonl"
    sets: Mapping[str, tuple[str | Path, ...]] = {
        "demo, 130 questions that come with birdenv": (),
        "Mini-Interact, questions of other authors": (shared / "mini_interact", "--questions", questions),
    }
    for title, arguments in sets.items():
        if arguments and not questions.exists():
            continue
        run("users", "eval", *arguments, "--json", "figures.json", cwd=folder)
        for kind, counts in json.loads((folder / "figures.json").read_text(encoding="utf-8")).items():
            total = counts["questions"]
            rows.append((title, kind, total, rate(counts["right"], total), counts["half"], counts["wrong"]))
    return [
        "## The simulated user",
        "",
        *paragraph(
            "The answers of the user `rule` to questions with known right answers (`birdenv users eval`): "
            "questions about annotated ambiguities (`labelled`), about other parts of the request "
            "(`unlabelled`), and questions that a user must refuse (`refusals`). Right answers are in "
            "percent with 95 % score intervals. To questions that are in none of the last three columns, "
            "the user replied with a question, or that it does not know. The authors of the user have "
            "seen the questions to the demo, and may have tuned it to those to Mini-Interact as well."
        ),
        *table(("questions", "kind", "number", "right", "half right", "wrong"), rows),
    ]


def origin(shared: Path, command: str) -> list[str]:
    """Return the section about how the results were produced: commit, machine, and input files."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, text=True, capture_output=True).stdout.strip()

    changed = " (with uncommitted changes)" if git("status", "--porcelain", "-uno") else ""
    mini_dev = shared / "mini_dev"
    inputs: list[Path] = [
        mini_dev / "mini_dev_sqlite_2024.json",
        *sorted((mini_dev / "dev_databases").glob("*/*.sqlite")),
        *sorted((mini_dev / "predictions").glob("*.json")),
        *sorted((mini_dev / "verdicts").glob("*.jsonl")),
        shared / "mini_interact" / "mini_interact.jsonl",
        shared / "user_questions" / "dev.jsonl",
    ]
    digests = [
        (f"`{path.relative_to(shared)}`", f"`{file_digest(path)}`") for path in inputs if path.exists()
    ]
    return [
        "## Origin of the figures",
        "",
        *table(
            ("", ""),
            [
                ("commit", f"`{git('rev-parse', 'HEAD')}`{changed}, birdenv {__version__}"),
                ("command", f"`{command}`"),
                ("machine", f"{processor()}, {os.cpu_count()} processors, {platform.system()}"),
                ("Python", platform.python_version()),
                ("date", f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"),
            ],
        ),
        *table(("input", "sha256"), digests),
    ]


def page(shared: Path, trained: Path, workers: int, command: str) -> str:
    """Return the text of the whole page."""
    with tempfile.TemporaryDirectory(prefix="birdenv-results-") as name:
        sections = [
            *published_systems(shared / "mini_dev", workers),
            *published_verdicts(shared / "mini_dev", workers),
            *agents(Path(name)),
            *trained_policies(trained),
            *fidelity(shared, Path(name)),
            *origin(shared, command),
        ]
    head = [
        "# Results",
        "",
        "This page is written by `python -m birdenv_baselines.results`. Do not edit it by hand.",
        "",
    ]
    return "\n".join([*head, *sections]).rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page to the file named in the arguments, or to standard output."""
    parser = argparse.ArgumentParser(
        prog="python -m birdenv_baselines.results",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, default=shared_data(), help="folder with public benchmarks")
    parser.add_argument("--trained", type=Path, default=ROOT / "results" / "baselines" / "report.md")
    parser.add_argument("--workers", type=int, default=2, help="number of predictions graded at once")
    parser.add_argument("--out", type=Path, help="file to write (default: print the page)")
    given = parser.parse_args(arguments)
    if not (given.data / "mini_dev" / "predictions").is_dir():
        parser.error(
            f"{given.data} has no folder mini_dev/predictions: name the folder of the data with --data"
        )
    text = page(given.data.resolve(), given.trained, given.workers, "python -m birdenv_baselines.results")
    if given.out is None:
        print(text, end="")
    else:
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
