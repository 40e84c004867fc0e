"""Export dialogues from runs and studies as CoCoA's `examples.json` (`birdenv export --format cocoa`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from birdenv.cocoa.files import write_examples
from birdenv.errors import InputError
from birdenv.runs.export import whole_dialogues


def write_dialogues(output: Path, folders: Sequence[Path], min_reward: float | None) -> str:
    """Write the dialogues from runs and studies to one file, and return a message for the user.

    Args:
        output: the file to write.
        folders: the run and study folders.
        min_reward: the minimum reward of every seat; dialogues with a lower reward are left out. None to keep
            all dialogues.

    Raises:
        InputError: there are no dialogues to write.
    """
    found = [example for folder in folders for example in whole_dialogues(folder, "cocoa", min_reward)]
    if not found:
        raise InputError(
            "there is nothing to export: no dialogue has finished, or no dialogue earned --min-reward"
        )
    write_examples(output, found)
    count = len({str(example["uuid"]) for example in found})
    return f"{count} dialogue{'s' * (count != 1)}: {output}"
