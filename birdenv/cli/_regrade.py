"""`birdenv regrade`: regrade the submissions of a stored run without replaying it."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from birdenv.cli.command import visible
from birdenv.cli.options._run_options import DataFile, DataFolder, FailDoubtful, Run
from birdenv.errors import InputError
from birdenv.runs import RunDirectory, run_folder
from birdenv.runs.regrade import (
    bird_regrade_record,
    bird_regrade_text,
    regrade_bird,
    regrade_interact,
    regrade_record,
    regrade_text,
)
from birdenv.tasks import a_interact, c_interact

_PROFILES: Final = {"c-interact": c_interact.PROFILES, "a-interact": a_interact.PROFILES}


def regrade(
    run: Run,
    profile: Annotated[
        list[str] | None,
        typer.Option(
            "--profile",
            help="BIRD-Interact: strict, shell (not for a-Interact) or adk; may be repeated. Default: all.",
        ),
    ] = None,
    clean: Annotated[
        bool, typer.Option("--clean", help="BIRD: strip code fences and the like for EX.")
    ] = False,
    data_dir: DataFolder = None,
    data: DataFile = None,
    allow_changed: Annotated[
        bool,
        typer.Option(
            "--allow-changed",
            help="Continue even if the task file or the databases have changed since the run.",
        ),
    ] = False,
    fail_doubtful: FailDoubtful = False,
    reasons: Annotated[
        bool, typer.Option("--reasons", help="Print why verdicts differ. This quotes the gold.")
    ] = False,
    parallel: Annotated[
        int, typer.Option("--parallel", "-p", min=1, help="Number of episodes to grade at the same time.")
    ] = 1,
) -> None:
    """Regrade the submissions of a stored run.

    For c-Interact and a-Interact, grades under the rules of several profiles side by side, and lists the
    submissions on which the profiles differ. For BIRD, grades by EX (execution accuracy), and by EX with the
    official set rule.

    Nothing is played; only the recorded submissions are graded. If a verdict changes, the agent might have
    acted differently afterwards. The output says where that matters.

    The results are written to regraded.json.

    Example: birdenv regrade results/asks-first+rule-c-interact/latest --profile strict --profile shell
    """
    directory = RunDirectory.existing(run_folder(run))
    game = str(directory.read_config(hint="").get("game"))
    if game in _PROFILES:
        profiles = _PROFILES[game]
        if clean:
            raise InputError(f"--clean applies only to runs of bird, but this is a run of {game}")
        unknown = [name for name in profile or () if name not in profiles]
        if unknown:
            raise InputError(f"--profile {unknown[0]!r} is unknown; {game} has {', '.join(profiles)}")
        judged = regrade_interact(
            directory,
            [profiles[name] for name in dict.fromkeys(profile or profiles)],
            folder=data_dir,
            task_file=data,
            allow_changed=allow_changed,
            fail_doubtful=fail_doubtful,
            parallel=parallel,
        )
        directory.write_json("regraded.json", regrade_record(judged))
        print(visible(regrade_text(judged, reasons=reasons)), end="")
    elif game == "bird":
        if profile:
            raise InputError(
                "--profile applies only to runs of c-Interact and a-Interact, but this is a run of bird"
            )
        found = regrade_bird(
            directory,
            clean=clean,
            data_file=data,
            db_dir=data_dir,
            allow_changed=allow_changed,
            fail_doubtful=fail_doubtful,
            parallel=parallel,
        )
        directory.write_json("regraded.json", bird_regrade_record(found))
        print(visible(bird_regrade_text(found, reasons=reasons)), end="")
    else:
        raise InputError(
            f"{run}: runs of {game!r} cannot be regraded; only runs of bird, {', '.join(_PROFILES)} can"
        )
