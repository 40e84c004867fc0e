"""`birdenv baselines`: commands that packages install with the entry points `birdenv.baselines`."""

from __future__ import annotations

from typing import Any, Final

import typer
from typer.core import TyperGroup

from birdenv.plugins import load_plugin, plugins

GROUP: Final = "birdenv.baselines"


class _Installed(TyperGroup):
    """Commands by their entry points, each imported when it is looked up."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(plugins(GROUP))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        entry = plugins(GROUP).get(cmd_name)
        if entry is None:
            return None
        made = typer.Typer(rich_markup_mode=None)
        made.command(cmd_name)(load_plugin(entry))
        return typer.main.get_command(made)


app = typer.Typer(cls=_Installed, no_args_is_help=True, help="Baselines of the candidate setting.")


@app.callback()
def baselines() -> None:
    """Baselines of the candidate setting."""
