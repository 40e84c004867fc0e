"""An agent's module that notes which process imports it."""

from __future__ import annotations

import os
from pathlib import Path

from foreign_agents import First

__all__ = ["First"]

with Path(os.environ["IMPORT_LOG"]).open("a") as log:
    log.write(f"{os.getpid()}\n")
