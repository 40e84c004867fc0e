"""`birdenv baselines`: commands that packages install with the entry points `birdenv.baselines`."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any, Final

import typer
from typer.core import TyperGroup

GROUP: Final = "birdenv.baselines"


class _Installed(TyperGroup):
    """Commands by their entry points, each imported when it is looked up."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted({entry.name for entry in entry_points(group=GROUP)})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        for entry in entry_points(group=GROUP):
            if entry.name == cmd_name:
                made = typer.Typer(rich_markup_mode=None)
                made.command(cmd_name)(entry.load())
                return typer.main.get_command(made)
        return None


app = typer.Typer(cls=_Installed, no_args_is_help=True, help="Baselines of the candidate setting.")


@app.callback()
def baselines() -> None:
    """Baselines of the candidate setting."""
