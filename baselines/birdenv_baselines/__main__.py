"""Train policies that learn when to ask, evaluate them on a held-out database, and write a report.

Run `train` first, then `evaluate`, which also writes the report. `evaluate --policy my.zip` measures a model
of your own. The commands need the extra `rl` with a CPU build of torch (see docs/learning.md), because PyPI's
default build includes several GB of CUDA.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track

from birdenv.errors import BirdenvError, InputError
from birdenv_baselines.training import Played, Policy, Split, benchmark_folder, play, summary, tuned_rule
from birdenv_baselines.training._benchmark import ENVIRONMENT, HELD_OUT

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help=__doc__,
)

_Output = Annotated[Path, typer.Option("--output", "-o", help="Folder for all trained policies.")]
_DEFAULT = Path("results/baselines")


@app.command()
def train(
    algo: Annotated[str, typer.Option("--algo", help="maskable-ppo, ppo or dqn.")] = "maskable-ppo",
    env: Annotated[str, typer.Option("--env", help="Id of the environment.")] = ENVIRONMENT,
    held_out: Annotated[str, typer.Option("--held-out", help="The database to test on later.")] = "coop",
    seed: Annotated[int, typer.Option("--seed", help="Seed for network, episodes and decisions.")] = 0,
    steps: Annotated[
        int, typer.Option("--steps", min=1, help="Number of steps in all environments together.")
    ] = 400_000,
    refusals: Annotated[
        float,
        typer.Option("--refusals", min=0.0, max=1.0, help="Share of points that the user does not know."),
    ] = 0.0,
    train_tasks: Annotated[
        int | None, typer.Option("--train-tasks", min=1, help="Train on this many tasks only (default: all).")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Folder from `birdenv data generate` (default: generated once)."),
    ] = None,
    output: _Output = _DEFAULT,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the last checkpoint.")] = False,
) -> None:
    """Train a policy on all databases but one, and write checkpoints and a learning curve to a folder."""
    if env != ENVIRONMENT:
        raise InputError(f"--env {env!r}: these policies only play {ENVIRONMENT}")
    learners = _learners()
    place = str(benchmark_folder(data).absolute())
    training = learners.Training(algo, place, held_out, seed, steps, refusals, train_tasks)
    folder = training.folder(output)
    print(f"Training {folder.name} for {steps:,} steps, after compiling new tasks.", flush=True)
    learners.train(training, folder, resume=resume)
    more = f" -o {output}" if output != _DEFAULT else ""
    print(f"Trained: {folder}\nNext: python -m birdenv_baselines evaluate{more}")


@app.command()
def evaluate(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Folders of trained policies (default: all in --output).")
    ] = None,
    output: _Output = _DEFAULT,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            help="Evaluate this model saved by Stable-Baselines3 instead. Loading it runs its code.",
        ),
    ] = None,
    algo: Annotated[
        str, typer.Option("--algo", help="Algorithm of --policy: maskable-ppo, ppo or dqn.")
    ] = "maskable-ppo",
    held_out: Annotated[
        str, typer.Option("--held-out", help="With --policy: the database on which it was not trained.")
    ] = "coop",
    refusals: Annotated[
        float,
        typer.Option(
            "--refusals", min=0.0, max=1.0, help="With --policy: share of points that the user does not know."
        ),
    ] = 0.0,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", help="With --policy: folder from `birdenv data generate` (default: generated once)."
        ),
    ] = None,
) -> None:
    """Play trained policies on the held-out database, also with new wordings and on the demo.

    Then write the report on all evaluated policies, as `report` does. With --policy, print the returns of
    that policy and of the fixed policies on the same episodes, and write nothing.
    """
    learners = _learners()
    if policy is not None:
        if folders:
            raise InputError("use either --policy or folders of trainings, not both")
        found = learners.Trained(policy, algo)
        _compare_policy(found, policy.stem, Split(benchmark_folder(data), held_out, refusals=refusals))
        return
    from birdenv_baselines.training._compare import TEST_ENVS
    from birdenv_baselines.training._training_report import episodes_file, write_episodes

    for folder in _trainings(folders, output):
        split, trained = learners.read_training(folder).split(), learners.trained(folder)
        for test in split.tests:
            played = play(split.test_envs(TEST_ENVS, test), trained)
            write_episodes(played, episodes_file(folder, test))
            earned = summary(played)
            print(
                f"{folder.name}, {test}: return {earned['return']:.3f} ({earned['low']:.3f} to "
                f"{earned['high']:.3f}), {earned['questions']:.1f} questions",
                flush=True,
            )
    report(output)


def _compare_policy(policy: Policy, name: str, split: Split) -> None:
    """Print a policy's return on each test, beside the returns of the fixed policies."""
    from birdenv_baselines.training._compare import TEST_ENVS, compare
    from birdenv_baselines.training._training_report import table

    played = {}
    for test in split.tests:
        print(f"Playing {name} on {split.held_out}, {test}, after compiling new tasks.", flush=True)
        played[test] = play(split.test_envs(TEST_ENVS, test), policy)
    print("Tuning value-of-information on the training tasks, after compiling new tasks.", flush=True)
    _, value_rule = tuned_rule(split.train_envs(TEST_ENVS))
    for test, episodes in played.items():
        print(f"Playing the other policies on {split.held_out}, {test}.", flush=True)
        print(table(f"{split.held_out}, {test}", compare(split, test, {name: [episodes]}, value_rule)))


@app.command()
def report(output: _Output = _DEFAULT) -> None:
    """Write report.md, curves.csv and curves.png about all evaluated trainings, and print a summary."""
    from birdenv_baselines.training._compare import TEST_ENVS, Compared, compare
    from birdenv_baselines.training._learning_curves import Curves, draw_curves, write_curves
    from birdenv_baselines.training._probe import Found, probe
    from birdenv_baselines.training._training_report import (
        episodes_file,
        leaks,
        overview,
        read_episodes,
        table,
    )

    learners = _learners()
    folders = _trainings(None, output)
    groups: dict[tuple[float, int | None, str, str], list[Path]] = {}
    for folder in folders:
        of = learners.read_training(folder)
        if episodes_file(folder, HELD_OUT).exists():
            groups.setdefault((of.refusals, of.train_tasks, of.data, of.held_out), []).append(folder)
    if not groups:
        raise InputError(f"no evaluated training below {output}: call evaluate first")
    tables: list[str] = []
    probed: dict[str, list[Found]] = {}
    curves: dict[str, Curves] = {}
    compared: dict[tuple[str, str, str], Compared] = {}
    order = sorted(groups, key=lambda key: (key[0], key[1] is not None, str(key)))  # the plain ones first
    for members in track([groups[key] for key in order], "Playing", transient=True):
        of = learners.read_training(members[0])
        split = of.split()
        seen, unseen = split.train_envs(TEST_ENVS), split.test_envs(TEST_ENVS)
        _, value_rule = tuned_rule(seen)
        for test in split.tests:
            trained: dict[str, list[Played]] = {}
            for folder in members:
                if (path := episodes_file(folder, test)).exists():
                    trained.setdefault(learners.read_training(folder).algo, []).append(read_episodes(path))
            found = compare(split, test, trained, value_rule)
            compared[of.special, test, of.held_out] = found
            tables.append(table(f"{of.held_out} held out, trained with {of.special}, on: {test}", found))
        if not of.refusals and of.train_tasks is None:
            ways = ({}, {"shuffled": True}, {"answered": True})
            probed[of.held_out] = [probe(seen, unseen, **way) for way in ways]
            by_algorithm = [(learners.read_training(folder).algo, folder) for folder in members]
            curves[of.held_out] = Curves(by_algorithm, compared[of.special, HELD_OUT, of.held_out])
    parts = [overview(compared), *([leaks(probed)] if probed else [])]
    (output / "report.md").write_text("\n".join([*parts, *tables]), encoding="utf-8")
    print("\n".join(parts))
    write_curves(folders, output)
    drawn = draw_curves(curves, output)
    if not drawn:
        print(
            "No picture was drawn: it needs curves on held-out tasks, and birdenv[report].", file=sys.stderr
        )
    picture = ", curves.png (learning curves)" if drawn else ""
    print(f"Written: {output}: report.md (every policy), curves.csv{picture}")


def _trainings(folders: Sequence[Path] | None, output: Path) -> list[Path]:
    found = list(folders or sorted(path.parent for path in output.glob("*/config.json")))
    if not found:
        raise InputError(f"no training below {output}: call train first")
    return found


def _learners():  # type: ignore[no-untyped-def]
    try:
        from birdenv_baselines.training import _learners
    except ModuleNotFoundError as error:
        raise InputError(
            f"{error.name} is missing: in a clone, run `make rl`; otherwise run "
            "pip install torch --index-url https://download.pytorch.org/whl/cpu, "
            "then pip install 'birdenv[rl]'"
        ) from None
    return _learners


def main() -> None:
    """Run the command line, and exit with code 2 if the input cannot be used."""
    try:
        app()
    except BirdenvError as error:
        print("Error:", error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
