"""`birdenv data`: fetch, merge, verify and count public benchmark data, and generate a benchmark."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from birdenv.benchmarks import (
    OracleTasks,
    PreparationReport,
    describe_fetched,
    fetch_archive,
    fetch_hub,
    merge_files,
    published,
    unpack,
    verify_records,
)
from birdenv.benchmarks.generator import NEW_FORMS_FILE, read_concepts
from birdenv.benchmarks.generator import generate as make
from birdenv.cli.command import progress, visible
from birdenv.cli.options._run_options import DefectsFile, Dialect, Dsn, Today, databases_in, save_defects
from birdenv.databases.sqlite import is_database_name
from birdenv.demo import demo_folder
from birdenv.dialogue.games import find_game
from birdenv.errors import InputError
from birdenv.files import check_writable, is_directory, read_records, write_records, write_text
from birdenv.statistics import counted
from birdenv.tasks import SqlSettings
from birdenv.tasks.c_interact import find_task_file


def generate(
    out: Annotated[Path, typer.Argument(help="The folder to write; it must not exist yet.")],
    tasks: Annotated[
        int, typer.Option("--tasks", "-n", min=1, help="Generate at least this many tasks.")
    ] = 2500,
    seed: Annotated[int, typer.Option("--seed", help="The same seed generates the same files.")] = 0,
    concepts: Annotated[
        list[Path] | None,
        typer.Option(
            "--concepts", help="File that describes a database; may be repeated. Default: the demo's."
        ),
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="Folder of the <db>/ folders; default: the demo's.")
    ] = None,
) -> None:
    """Generate a c-Interact benchmark of families: one request, with a task for each of its meanings.

    Each task is played to check it: the gold must earn 1.0, each wrong candidate must fail, and the
    rule-based user must answer a question about each ambiguous term. OUT is written when all tasks are ready.
    OUT contains the task file, the same families in other sentence forms, the databases, and splits by
    database and by family.
    """
    described = None if not concepts else tuple(map(read_concepts, concepts))
    with progress("generating", tasks) as move:
        made = make(
            out,
            tasks=tasks,
            seed=seed,
            folder=directory,
            concepts=described,
            progress=lambda done: move(completed=min(done, tasks)),
        )
    print(f"Written: {out} ({len(made.records)} tasks in {len(made.families)} families)")
    for why, count in sorted(made.dropped.items()):
        print(f"  left out: {count} families: {why}")
    print(f"Next: birdenv c-interact {out}")
    print(f"The same tasks in other sentence forms: birdenv c-interact {out} --data {out / NEW_FORMS_FILE}")


_FROM_EASY_TO_HARD: Final = ("easy", "simple", "medium", "moderate", "hard", "challenging")


def count(
    data: Annotated[
        Path | None, typer.Argument(help="Benchmark folder or task file; default: the demo.")
    ] = None,
) -> None:
    """Count the tasks of a data set by database and difficulty.

    Reads task files of BIRD and BIRD-Interact. No databases are needed.

    Example: birdenv data count mini_dev_sqlite.json
    """
    path = demo_folder() if data is None else data
    file = find_task_file(path) if is_directory(path) else path
    tasks = [_place(record, f"{file}: record {n}") for n, record in enumerate(read_records(file), 1)]
    print(visible("\n".join(_table(tasks))))


def _place(record: Mapping[str, Any], where: str) -> tuple[str, str]:
    """Return the database and the difficulty of a task."""
    database = record.get("db_id", record.get("selected_database"))
    difficulty = record.get("difficulty", record.get("difficulty_tier")) or "unknown"
    if not isinstance(database, str):
        raise InputError(f"{where}: not a task, because neither `db_id` nor `selected_database` is text")
    return database, str(difficulty)


def _table(tasks: Sequence[tuple[str, str]]) -> list[str]:
    both, databases, difficulties = Counter(tasks), Counter(d for d, _ in tasks), Counter(d for _, d in tasks)
    known = {name: place for place, name in enumerate(_FROM_EASY_TO_HARD)}
    columns = sorted(difficulties, key=lambda each: (known.get(each.lower(), len(known)), each))
    rows: list[list[Any]] = [["database", *columns, "total"]]
    for name, total in sorted(databases.items()):
        rows.append([name, *(both[name, column] or "-" for column in columns), total])
    rows.append(["total", *(difficulties[column] for column in columns), len(tasks)])
    first, *others = (max(len(str(row[place])) for row in rows) for place in range(len(columns) + 2))
    return [
        f"{row[0]:<{first}}" + "".join(f"  {cell:>{w}}" for cell, w in zip(row[1:], others, strict=True))
        for row in rows
    ]


app = typer.Typer(no_args_is_help=True, help="Fetch, merge, check, count and generate benchmark data.")


app.command()(generate)
app.command()(count)


Partial = Annotated[bool, typer.Option("--partial", help="Allow tasks without ground truth.")]
NoOracle = Annotated[
    bool,
    typer.Option(
        "--no-oracle", help="Check only the records. The gold SQL is not run, so no databases are needed."
    ),
]
JsonReport = Annotated[Path | None, typer.Option("--report", help="Also write the report to this JSON file.")]
Databases = Annotated[
    Path | None, typer.Option("--dir", help="Folder of the <db>/ folders; default: the task file's folder.")
]


@app.command()
def fetch(
    name: Annotated[
        str, typer.Argument(help="mini-dev, mini-interact, bird-interact-lite or bird-interact-full.")
    ],
    folder: Annotated[
        Path | None, typer.Argument(help="The folder to fetch it into; default: a new folder NAME.")
    ] = None,
    source: Annotated[
        str,
        typer.Option("--from", help="Source, if the benchmark is published in two places: archive or hub."),
    ] = "",
    archive: Annotated[
        Path | None,
        typer.Option("--archive", help="Unpack this zip file, which you have downloaded yourself."),
    ] = None,
) -> None:
    """Fetch a public benchmark from its authors' site, and print what to do next.

    Requires the `fetch` extra. Data sets on the Hugging Face Hub are fetched with the Hub's own library,
    which resumes an interrupted download; HF_ENDPOINT names a mirror. --archive unpacks a previously
    downloaded file into FOLDER, or into FOLDER/postgre_table_dumps for BIRD-Interact's PostgreSQL dumps.
    """
    benchmark = published().get(name)
    if benchmark is None:
        raise InputError(f"unknown benchmark {name!r}; choose from {', '.join(published())}")
    folder = folder or Path(name)
    places = [place for place in benchmark.places if source in ("", place.kind)]
    if not places:
        kinds = " or ".join(place.kind for place in benchmark.places)
        raise InputError(f"--from {source} is not available for {name}: fetch it from {kinds}")
    print(f"{benchmark.title}\nLicence: {benchmark.licence}\nPublished at {benchmark.home}")
    if archive is not None:
        target = folder / "postgre_table_dumps" if benchmark.dumps else folder
        print(f"From {archive}")
        unpack(archive, target)
    else:
        print(f"From {places[0]}", flush=True)
        if places[0].kind == "hub":
            fetch_hub(places[0], folder)
        else:
            fetch_archive(places[0], folder, _download_bar())
    print(visible(f"Fetched into {folder}.\n" + "\n".join(describe_fetched(benchmark, folder))))


def _download_bar() -> Any:
    if not sys.stderr.isatty():
        return None
    from tqdm import tqdm  # comes with the extra `fetch`

    return tqdm(unit="B", unit_scale=True, unit_divisor=1000)


@app.command()
def merge(
    public: Annotated[Path, typer.Argument(help="The public task file (JSONL).")],
    ground_truth: Annotated[Path, typer.Argument(help="The file that the benchmark's authors send.")],
    out: Annotated[Path, typer.Argument(help="The merged task file to write.")],
    partial: Partial = False,
    directory: Databases = None,
    no_oracle: NoOracle = False,
    dialect: Dialect = "sqlite",
    dsn: Dsn = None,
    report: JsonReport = None,
) -> None:
    """Merge ground truth into a public task file, then verify the result.

    OUT is written only if every check passes; otherwise the exit code is 1. Databases are optional: an oracle
    runs the gold on the databases beside PUBLIC or in --dir, and the report says how many tasks were skipped
    because their database was not found. `birdenv data verify` checks all tasks.
    """
    _own_file("OUT", out, public, ground_truth)
    _own_file("--report", report, public, ground_truth, out)
    merged = merge_files(public, ground_truth, partial=partial)
    folder = directory or _folder_of(public, merged.records)
    verdict = _verify(merged.records, folder, partial, dialect, dsn, "none" if no_oracle else "present")
    verdict = PreparationReport(
        (*merged.problems, *verdict.problems),
        verdict.warnings,
        {"ground truth merged": merged.matched, **verdict.figures},
    )
    _show(verdict, report)
    if not verdict.passed:
        hint = ", or use --partial." if verdict.partial_would_pass else "."
        print(f"Not written: {out}. Fix the problems above{hint}")
        raise typer.Exit(1)
    write_records(out, merged.records)
    print(f"Written: {out} ({len(merged.records)} tasks)")
    if folder is None:
        print(f"The databases are not beside {public.name}, so knowledge ids and the gold were NOT checked.")
    if folder is None or no_oracle or verdict.figures.get("not tried: no database"):
        print(f"Next, once you have the databases: birdenv data verify {out} --dir {folder or 'FOLDER'}")


@app.command()
def verify(
    data: Annotated[
        Path | None, typer.Argument(help="Benchmark folder or task file; default: the demo.")
    ] = None,
    partial: Partial = False,
    directory: Databases = None,
    no_oracle: NoOracle = False,
    dialect: Dialect = "sqlite",
    dsn: Dsn = None,
    report: JsonReport = None,
    defects: DefectsFile = None,
    today: Today = None,
) -> None:
    """Check a c-Interact benchmark: fields, knowledge ids, test cases, and the gold, which an oracle submits.

    A task is defective if its gold reads the clock or random numbers, does not run, or fails its own test
    cases. --defects writes a list of these tasks, which commands that play accept as --leave-out.

    The exit code is 0 if all checks pass, 1 if there are problems, and 2 if the data cannot be read.
    """
    path = demo_folder() if data is None else data
    file = find_task_file(path) if is_directory(path) else path
    _own_file("--report", report, file)
    _own_file("--defects", defects, file, *([] if report is None else [report]))
    oracle: OracleTasks = "none" if no_oracle else "all"
    verdict = _verify(read_records(file), directory or file.parent, partial, dialect, dsn, oracle, today)
    _show(verdict, report)
    if defects is not None:
        save_defects(defects, verdict.defects)
    print(f"{file}: {'all checks passed' if verdict.passed else counted(len(verdict.problems), 'problem')}")
    if not verdict.passed:
        if verdict.partial_would_pass:
            print("The only problem is missing ground truth, which --partial allows.")
        raise typer.Exit(1)


def _folder_of(task_file: Path, records: list[dict[str, Any]]) -> Path | None:
    """Return the folder of the task file if it contains the database of any task, and otherwise None."""
    names = {str(record.get("selected_database")) for record in records}
    there = any(is_directory(task_file.parent / name) for name in filter(is_database_name, names))
    return task_file.parent if there else None


def _verify(
    records: list[dict[str, Any]],
    folder: Path | None,
    partial: bool,
    dialect: str,
    dsn: str | None,
    oracle: OracleTasks,
    today: str | None = None,
) -> PreparationReport:
    if folder is not None and not is_directory(folder):
        raise InputError(f"{folder}: no such directory; specify the database folder with --dir")
    source = None
    if folder is not None and oracle != "none":
        source = databases_in(folder, dialect, dsn)
    with (
        closing(source) if source is not None else nullcontext(),
        progress("verifying", len(records)) as move,
    ):
        return verify_records(
            records,
            folder,
            source=source,
            dialect=dialect,
            oracle=oracle,
            partial=partial,
            today=SqlSettings(today=today).today,
            progress=lambda _: move(advance=1),
        )


def _show(verdict: PreparationReport, path: Path | None) -> None:
    print(visible("\n".join(verdict.lines())))
    if path is not None:
        write_text(path, json.dumps(verdict.to_json(), indent=2, ensure_ascii=False) + "\n")


def _own_file(name: str, path: Path | None, *others: Path) -> None:
    """Raise an error, before the long work begins, if a file cannot be written or is also an input."""
    if path is None:
        return
    if os.path.realpath(path) in map(os.path.realpath, others):
        raise InputError(f"{name} must be a separate file: this command already uses {path}")
    check_writable(path)


@app.command("schema")
def schema(game: Annotated[str, typer.Argument(help="A registered game, such as c-interact.")]) -> None:
    """Print the JSON Schema of one task in a game's data file.

    Example: birdenv data schema c-interact
    """
    model = find_game(game).record_model
    if model is None:
        raise InputError(f"the data file of {game} has no documented schema")
    print(json.dumps(model.model_json_schema(), indent=2, ensure_ascii=False))
