"""What open episodes add to the memory of their process, each measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial

from birdenv_baselines.bench._databases import Size
from birdenv_baselines.bench._measure import Bar, Figure, Line, Skip
from birdenv_baselines.bench._memory_probe import CEILING_MB, SMAPS
from birdenv_baselines.bench._setting import Setting

__all__ = ["lines"]


def lines(setting: Setting) -> list[Line]:
    size = setting.sizes[-1]
    return [
        Line(
            f"32 open episodes that wrote, {size.label}",
            "none open (private dirty pages)",
            partial(_memory, setting, size, "writing", 32),
            Bar("at most", 64.0),
            (size.db_id,),
        ),
        Line(
            f"64 open episodes that read, {size.label}",
            "none open (private dirty pages)",
            partial(_memory, setting, size, "reading", 64),
            Bar("at most", 16.0),
            (size.db_id,),
        ),
    ]


def _memory(setting: Setting, size: Size, kind: str, episodes: int) -> Figure:
    if not SMAPS.is_file():
        raise Skip(f"there is no {SMAPS} on this system")
    command = [sys.executable, "-m", "birdenv_baselines.bench._memory_probe"]
    command += [kind, str(setting.folder), size.db_id, str(size.orders), str(episodes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    found = json.loads(done.stdout)
    note = f"RssAnon {found['rss_anon_mb']:+.1f} MB, all resident pages (files too) {found['rss_mb']:+.1f} MB"
    if found["opened"] < episodes:
        note += f"; stopped at {found['opened']} of {episodes} episodes, above {CEILING_MB} MB"
    return Figure(found["private_dirty_mb"], "MB", note=note)
