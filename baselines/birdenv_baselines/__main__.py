"""Train policies that learn when to ask, evaluate them on a database that they have not seen, and report.

Three commands: `train`, `evaluate`, `report`. Training needs `pip install 'birdenv[rl]'`; install a CPU build
of torch first (docs/learning.md), because PyPI's default brings several GB of CUDA.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from birdenv.errors import BirdenvError, InputError
from birdenv_baselines.training import benchmark_folder, play, summary
from birdenv_baselines.training._benchmark import ENVIRONMENT

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help=__doc__,
)

_Output = Annotated[Path, typer.Option("--output", "-o", help="Folder of all trainings.")]
_DEFAULT = Path("results/baselines")


@app.command()
def train(
    algo: Annotated[str, typer.Option("--algo", help="maskable-ppo, ppo or dqn.")] = "maskable-ppo",
    env: Annotated[str, typer.Option("--env", help="The environment.")] = ENVIRONMENT,
    held_out: Annotated[str, typer.Option("--held-out", help="The database to test on later.")] = "coop",
    seed: Annotated[int, typer.Option("--seed", help="Seeds network, episodes and decisions.")] = 0,
    steps: Annotated[
        int, typer.Option("--steps", min=1, help="Steps in all environments together.")
    ] = 400_000,
    refusals: Annotated[
        float, typer.Option("--refusals", min=0.0, max=1.0, help="Share of points that the user cannot tell.")
    ] = 0.0,
    train_tasks: Annotated[
        int | None, typer.Option("--train-tasks", min=1, help="Train on so many tasks only; default: all.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder of `birdenv data generate`; default: made once.")
    ] = None,
    output: _Output = _DEFAULT,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint.")] = False,
) -> None:
    """Train a policy on all databases but one; checkpoints and learning curve go to a folder of its own."""
    if env != ENVIRONMENT:
        raise InputError(f"--env {env!r}: these policies play {ENVIRONMENT}")
    learners = _learners()
    place = str(benchmark_folder(data).absolute())
    training = learners.Training(algo, place, held_out, seed, steps, refusals, train_tasks)
    folder = learners.train(training, training.folder(output), resume=resume)
    print(f"Trained: {folder}")


@app.command()
def evaluate(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Folders of trainings; default: all below --output.")
    ] = None,
    output: _Output = _DEFAULT,
) -> None:
    """Play trained policies on the database that they have not seen."""
    from birdenv_baselines.training._report import EPISODES, TEST_ENVS, write_episodes

    learners = _learners()
    for folder in _trainings(folders, output):
        split = learners.read_training(folder).split()
        played = play(split.test_envs(TEST_ENVS), learners.Trained(folder))
        write_episodes(played, folder / EPISODES)
        found = summary(played)
        print(
            f"{folder.name}: return {found['return']:.3f} ({found['low']:.3f} to {found['high']:.3f}), "
            f"{found['questions']:.1f} questions"
        )


@app.command()
def report(output: _Output = _DEFAULT) -> None:
    """Write report.md, curves.csv and curves.png on all evaluated trainings below a folder."""
    from birdenv_baselines.training._report import EPISODES, lines, read_episodes, table, write_curves

    learners = _learners()
    groups: dict[tuple[str, str, float, int | None], dict[str, list[Path]]] = {}
    folders = _trainings(None, output)
    for folder in folders:
        if (folder / EPISODES).exists():
            of = learners.read_training(folder)
            group = groups.setdefault((of.data, of.held_out, of.refusals, of.train_tasks), {})
            group.setdefault(of.algo, []).append(folder)
    if not groups:
        raise InputError(f"no evaluated training below {output}: call evaluate first")
    tables = []
    for (_, held_out, refusals, tasks), by_algo in groups.items():
        split = learners.read_training(next(iter(by_algo.values()))[0]).split()
        trained = {
            algo: [read_episodes(each / EPISODES) for each in found] for algo, found in by_algo.items()
        }
        title = f"{held_out} held out" + (f", {refusals:.0%} refused" if refusals else "")
        title += f", {tasks} training tasks" if tasks else ""
        tables.append(table(title, lines(split, trained)))
        print(tables[-1], flush=True)
    (output / "report.md").write_text("\n".join(tables), encoding="utf-8")
    drawn = write_curves(folders, output)
    if not drawn:
        print("No picture: pip install 'birdenv[report]'.", file=sys.stderr)
    print(f"Written: {output}")


def _trainings(folders: Sequence[Path] | None, output: Path) -> list[Path]:
    found = list(folders or sorted(path.parent for path in output.glob("*/config.json")))
    if not found:
        raise InputError(f"no training below {output}: call train first")
    return found


def _learners():  # type: ignore[no-untyped-def]
    """The module that needs torch."""
    try:
        from birdenv_baselines.training import _learners
    except ModuleNotFoundError as error:
        raise InputError(
            f"{error.name} is missing: pip install torch --index-url https://download.pytorch.org/whl/cpu, "
            "then pip install 'birdenv[rl]'"
        ) from None
    return _learners


def main() -> None:
    """Run the commands; exit code 2 for what cannot be used."""
    try:
        app()
    except BirdenvError as error:
        print("Error:", error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
